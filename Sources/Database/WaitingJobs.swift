import Platform

/// Work for the storage thread, and the receiver of its result.
struct StorageJob {
    let work: StorageThread.Work
    /// The loop for `answer`; nil for the storage thread.
    let loop: EventLoop?
    let answer: StorageThread.Answer
}

/// The work that waits for the next transaction.
struct WaitingJobs {
    private var jobs: [StorageJob] = []
    /// Whether one of them cannot wait for the write budget.
    var isUrgent = false
    /// Whether all jobs wait for another job.
    private(set) var waitsForNext = false

    var isEmpty: Bool { jobs.isEmpty }

    mutating func add(_ job: StorageJob, _ urgency: StorageThread.Urgency) {
        waitsForNext = urgency == .withNext && jobs.isEmpty
        jobs.append(job)
        if urgency == .now { isUrgent = true }
    }

    /// Makes work that waits for other work wait only for the write budget.
    /// - Returns: whether there is such work.
    mutating func endWaitForNext() -> Bool {
        defer { waitsForNext = false }
        return waitsForNext
    }

    /// Returns all of them, and forgets them.
    mutating func take() -> [StorageJob] {
        defer { self = WaitingJobs() }
        return jobs
    }
}

/// The users of the storage. It ends with its last user.
struct StorageUsers {
    var count = 0
    /// Whether the last user has left.
    private(set) var isClosed = false
    /// Called when damaged indexes were repaired.
    var repairObservers: [@Sendable () -> Void] = []

    /// Ends a use.
    /// - Returns: whether it was the last one.
    mutating func leave() -> Bool {
        count -= 1
        guard count == 0 else { return false }
        isClosed = true
        repairObservers = []
        return true
    }
}
