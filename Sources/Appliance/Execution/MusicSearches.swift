import Platform

/// The searches for music of all clients: two run at once, the others wait.
///
/// Thread: everything runs on the loop's thread. `@unchecked Sendable` is safe because the thread of a search only
/// posts to the loop.
package final class MusicSearches: @unchecked Sendable {
    /// The most searches at once. More would only make the disk seek.
    static let limit = 2
    /// The delay until a search without a thread is retried, in nanoseconds.
    private static let retryInterval: Int64 = 1_000_000_000

    private struct Waiting {
        let search: MusicSearch
        let found: (Result<FoundMusic, RemoteFailure>) -> Void
    }

    private let loop: EventLoop
    private let run: @Sendable (MusicSearch) -> Result<FoundMusic, RemoteFailure>
    private var waiting: [Waiting] = []
    private(set) var runningCount = 0
    /// The timer while the system has no thread for the next search.
    private var retry: TimerToken?
    /// Tests replace it.
    var startThread: (@escaping @Sendable () -> Void) throws(SystemError) -> Void = {
        (body) throws(SystemError) in
        _ = try NamedThread.start(name: "music search", priority: .background, stackSize: 256 << 10, body)
    }

    /// - Parameter run: the work of a search's thread.
    package init(
        loop: EventLoop,
        run: @escaping @Sendable (MusicSearch) -> Result<FoundMusic, RemoteFailure> = { $0.run() }
    ) {
        self.loop = loop
        self.run = run
    }

    var waitingCount: Int { waiting.count }

    /// Starts a search, or queues it after others.
    /// - Parameter found: called once after this function has returned, even if the search is cancelled.
    package func begin(_ search: MusicSearch, _ found: @escaping (Result<FoundMusic, RemoteFailure>) -> Void) {
        loop.assertOnLoop()
        waiting.append(Waiting(search: search, found: found))
        proceed()
    }

    private func proceed() {
        while runningCount < Self.limit, retry == nil, !waiting.isEmpty { start(waiting.removeFirst()) }
    }

    private func start(_ next: Waiting) {
        runningCount += 1
        // Safe: the search's thread passes it back and does not call it.
        nonisolated(unsafe) let found = next.found
        let search = next.search
        let (loop, run) = (loop, run)
        do throws(SystemError) {
            try startThread {
                let result = run(search)
                loop.post { self.end(found, result) }
            }
        } catch {
            if error.isOfResources, !search.isCancelled { return waitForThread(next) }
            let failure = RemoteFailure(.system, error.description)
            loop.post { self.end(found, .failure(failure)) }
        }
    }

    /// Puts a search that got no thread in front of the waiting ones.
    private func waitForThread(_ search: Waiting) {
        runningCount -= 1
        waiting.insert(search, at: 0)
        retry = loop.schedule(after: Self.retryInterval) { [self] in
            retry = nil
            proceed()
        }
    }

    private func end(
        _ found: (Result<FoundMusic, RemoteFailure>) -> Void, _ result: Result<FoundMusic, RemoteFailure>
    ) {
        runningCount -= 1
        found(result)
        proceed()
    }
}
