import Platform

/// Which downloads run: a state machine. Events in, effects out; it does nothing itself.
///
/// Thread: control.
struct OfflineSchedule {
    enum Event {
        /// Downloads were added or resumed, or the engine begins.
        case jobsChanged
        /// The answer to `find`: those whose turn it is.
        case found([OfflineJob])
        case progress(ServiceAddress, percent: Int)
        case ended(OfflineJob, Outcome)
        case gateChanged(OfflineGate)
        /// It was deleted or paused: it must not run.
        case withdrawn(ServiceAddress)
        case allWithdrawn
    }

    /// How a run of a download has ended.
    enum Outcome: Equatable {
        case kept
        case failed(PlayerError)
        /// It was told to, and goes on another time.
        case stopped
        case noSpace
    }

    enum Effect: Equatable {
        /// Asks the database for so many.
        case find(limit: Int)
        case start(OfflineJob)
        /// `ended` follows.
        case stop(ServiceAddress)
        case send(OfflineMessage)
        /// The gate has no space for some time.
        case waitForSpace
    }

    private struct Run: Equatable {
        let job: OfflineJob
        var percent: Int?
        var isStopping = false
    }

    private let limit: Int
    private(set) var gate = OfflineGate()
    private var runs: [Run] = []
    /// Whether the answer to `find` is on its way.
    private var isFinding = false
    /// Something has changed since.
    private var mustFindAgain = false
    /// The downloads whose beginning was told.
    private var told: Set<Int64> = []

    /// - Parameter limit: downloads at once.
    init(limit: Int) { self.limit = max(1, limit) }

    /// Percents of those that run.
    var percents: [(product: ServiceAddress, percent: Int)] { runs.map { ($0.job.product, $0.percent ?? 0) } }

    var isRunning: Bool { !runs.isEmpty }

    mutating func handle(_ event: Event) -> [Effect] {
        switch event {
        case .jobsChanged: return find()
        case .found(let jobs): return start(jobs)
        case .progress(let product, let percent): return progress(product, percent)
        case .ended(let job, let outcome): return ended(job, outcome)
        case .gateChanged(let gate): return change(to: gate)
        case .withdrawn(let product):
            return stop { $0.job.product == product }
        case .allWithdrawn: return stop { _ in true }
        }
    }

    private mutating func find() -> [Effect] {
        guard gate.wait == nil, runs.count < limit else { return [] }
        guard !isFinding else {
            mustFindAgain = true
            return []
        }
        isFinding = true
        return [.find(limit: limit + runs.count)]
    }

    private mutating func start(_ jobs: [OfflineJob]) -> [Effect] {
        isFinding = false
        if mustFindAgain {
            mustFindAgain = false
            return find()
        }
        guard gate.wait == nil else { return [] }
        var effects: [Effect] = []
        for job in jobs where runs.count < limit && !runs.contains(where: { $0.job.product == job.product }) {
            let percent = job.progress.map { Int($0.percent) }
            runs.append(Run(job: job, percent: percent))
            // What a restart continues was told before.
            if told.insert(job.number).inserted, percent == nil {
                effects.append(.send(.started(referenceId: job.referenceId)))
            }
            effects.append(.start(job))
        }
        return effects
    }

    private mutating func progress(_ product: ServiceAddress, _ percent: Int) -> [Effect] {
        guard let index = runs.firstIndex(where: { $0.job.product == product }), !runs[index].isStopping,
            percent > runs[index].percent ?? -1
        else { return [] }
        runs[index].percent = percent
        return [.send(.progress(referenceId: runs[index].job.referenceId, percent: percent))]
    }

    private mutating func ended(_ job: OfflineJob, _ outcome: Outcome) -> [Effect] {
        let run = runs.first { $0.job.number == job.number }
        runs.removeAll { $0.job.number == job.number }
        var effects: [Effect] = []
        switch outcome {
        case .kept:
            told.remove(job.number)
            if run?.percent != 100 { effects.append(.send(.progress(referenceId: job.referenceId, percent: 100))) }
            effects.append(.send(.done(referenceId: job.referenceId)))
        case .failed(let error):
            told.remove(job.number)
            effects.append(.send(.failed(referenceId: job.referenceId, error)))
        case .stopped: break
        case .noSpace:
            gate.hasSpace = false
            effects.append(.waitForSpace)
        }
        return effects + find()
    }

    private mutating func change(to new: OfflineGate) -> [Effect] {
        gate = new
        if gate.networkWait != nil { return stop { _ in true } }
        return find()
    }

    private mutating func stop(_ isMeant: (Run) -> Bool) -> [Effect] {
        var effects: [Effect] = []
        for index in runs.indices where !runs[index].isStopping && isMeant(runs[index]) {
            runs[index].isStopping = true
            effects.append(.stop(runs[index].job.product))
        }
        return effects
    }
}
