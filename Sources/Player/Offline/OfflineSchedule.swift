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
        /// Whether a run waits for a retry.
        case retryChanged(ServiceAddress, isWaiting: Bool)
        case ended(OfflineJob, Outcome)
        case gateChanged(OfflineGate)
        /// It was deleted or paused: it must not run.
        case withdrawn(ServiceAddress)
        case allWithdrawn
        /// There may be room again.
        case spaceFreed
        /// The state can be written again.
        case stateWritten
        /// A route has changed: it may lead over another link. `gateChanged` follows.
        case routesChanged
    }

    /// How a run of a download has ended.
    enum Outcome: Equatable {
        case kept
        case failed(PlayerError)
        /// It has failed, and that cannot be stored.
        case notStored(PlayerError)
        /// It was told to, and goes on another time.
        case stopped
        case noSpace
        /// Its route leads over a metered link.
        case metered
    }

    enum Effect: Equatable {
        /// Asks the database for so many.
        case find(limit: Int)
        case start(OfflineJob)
        /// `ended` follows.
        case stop(ServiceAddress)
        case send(OfflineMessage)
        /// A download has no room: `spaceFreed` follows after some time.
        case waitForSpace
        /// The state cannot be written: `stateWritten` follows when it can.
        case waitForState
    }

    private struct Run: Equatable {
        let job: OfflineJob
        var isStopping = false
        /// For a retry: another one has its place.
        var isWaiting = false
        /// Room was given back since it began.
        var hasMoreRoom = false
        /// A route has changed since it began: what it found may not be so any more.
        var hasOtherRoutes = false
    }

    /// A smaller download may have room where a larger one has none; but each of them asks the service first.
    private static let attemptsWithoutRoom = 8
    /// The products of one service are behind one route, usually. Another one may be behind another.
    private static let attemptsOverMeteredLinks = 8
    /// Each run has a thread, also one that waits for a retry.
    private static let mostRuns = 8

    private let limit: Int
    private(set) var gate = OfflineGate()
    private var runs: [Run] = []
    /// Whether the answer to `find` is on its way.
    private var isFinding = false
    /// Something has changed since.
    private var mustFindAgain = false
    /// The downloads whose beginning was told, and the highest percent that was; -1 for none.
    private var told: [Int64: Int] = [:]
    /// The downloads that found no room since some was given back.
    private var withoutRoom: Set<Int64> = []
    /// Those that found none before, and have not got any further.
    private var triedAgain: Set<Int64> = []

    /// The downloads whose route was metered, since a route has changed.
    private var metered: Set<Int64> = []

    /// The downloads whose failure cannot be stored, and their reasons. While there are some, none begins: what it
    /// fetches could not be recorded.
    private(set) var unstored: [Int64: String] = [:]

    /// - Parameter limit: downloads at once.
    init(limit: Int) { self.limit = max(1, limit) }

    /// Where a download stands that is not paused and has not failed.
    /// - Parameter retry: what a transfer of its run waits for.
    func status(of job: OfflineJob, _ retry: StreamWait? = nil) -> OfflineEntry.Status {
        if runs.contains(where: { $0.job.number == job.number }) {
            if let retry { return .waiting(.retry(seconds: retry.seconds)) }
            return .running(percent: max(0, told[job.number] ?? 0))
        }
        if let reason = unstored[job.number] { return .failed(reason: reason) }
        let own: OfflineWait? =
            metered.contains(job.number) ? .unmeteredNetwork : withoutRoom.contains(job.number) ? .space : nil
        return (gate.wait ?? own).map { .waiting($0) } ?? .queued
    }

    /// What downloads wait for, some of them or all; nil when they run.
    var wait: OfflineWait? {
        if let wait = gate.wait { return wait }
        if !metered.isEmpty { return .unmeteredNetwork }
        return withoutRoom.isEmpty && triedAgain.isEmpty ? nil : .space
    }

    /// The same, with the retries of those that run. They wait for the first one when none of them goes on.
    /// - Parameter retries: for each run, what a transfer of it waits for; nil when it goes on.
    func waitOfAll(_ retries: [StreamWait?]) -> OfflineWait? {
        if let wait { return wait }
        let seconds = retries.compactMap { $0?.seconds }
        guard seconds.count == retries.count else { return nil }
        return seconds.min().map { .retry(seconds: $0) }
    }

    mutating func handle(_ event: Event) -> [Effect] {
        switch event {
        case .jobsChanged: return find()
        case .found(let jobs): return start(jobs)
        case .progress(let product, let percent): return progress(product, percent)
        case .retryChanged(let product, let isWaiting): return retryChanged(product, isWaiting)
        case .ended(let job, let outcome): return ended(job, outcome)
        case .gateChanged(let gate): return change(to: gate)
        case .withdrawn(let product):
            return stop { $0.job.product == product }
        case .allWithdrawn: return stop { _ in true }
        case .spaceFreed:
            freeSpace()
            return find()
        case .stateWritten:
            unstored = [:]
            gate.hasState = true
            return find()
        case .routesChanged:
            (metered, gate.hasWay) = ([], true)
            for index in runs.indices { runs[index].hasOtherRoutes = true }
            return []
        }
    }

    /// Those that found no room are tried again.
    private mutating func freeSpace() {
        triedAgain.formUnion(withoutRoom)
        withoutRoom = []
        gate.hasSpace = true
        for index in runs.indices { runs[index].hasMoreRoom = true }
    }

    private var hasPlace: Bool {
        runs.count { !$0.isWaiting } < limit && runs.count < max(limit, Self.mostRuns)
    }

    private mutating func find() -> [Effect] {
        guard gate.wait == nil, hasPlace else { return [] }
        guard !isFinding else {
            mustFindAgain = true
            return []
        }
        isFinding = true
        return [.find(limit: limit + runs.count + withoutRoom.count + triedAgain.count + metered.count)]
    }

    private mutating func start(_ jobs: [OfflineJob]) -> [Effect] {
        isFinding = false
        if mustFindAgain {
            mustFindAgain = false
            return find()
        }
        guard gate.wait == nil else { return [] }
        metered = metered.filter { number in jobs.contains { $0.number == number } }
        // The others were deleted or paused, or it is not their turn.
        triedAgain = triedAgain.filter { number in
            jobs.contains { $0.number == number } || runs.contains { $0.job.number == number }
        }
        var effects: [Effect] = []
        for job in jobs where hasPlace && !withoutRoom.contains(job.number) && !metered.contains(job.number) {
            guard !runs.contains(where: { $0.job.product == job.product }) else { continue }
            // One after the other: the first may need the room of a part that a later one has, and that does not run.
            if triedAgain.contains(job.number), runs.contains(where: { triedAgain.contains($0.job.number) }) {
                continue
            }
            runs.append(Run(job: job))
            if told[job.number] == nil {
                // What a restart continues was told before.
                if job.isToBeTold || job.progress == nil {
                    effects.append(.send(.started(referenceId: job.referenceId)))
                }
                told[job.number] = job.progress.map { Int($0.percent) } ?? -1
            }
            effects.append(.start(job))
        }
        return effects
    }

    private mutating func retryChanged(_ product: ServiceAddress, _ isWaiting: Bool) -> [Effect] {
        guard let index = runs.firstIndex(where: { $0.job.product == product }) else { return [] }
        runs[index].isWaiting = isWaiting
        if isWaiting { return find() }
        // Its place was taken meanwhile. The one whose turn is last of those that run waits for the next place.
        let active = runs.filter { !$0.isWaiting && !$0.isStopping }
        guard active.count > limit else { return [] }
        let last = active.max {
            ($1.job.priority, $0.job.number) < ($0.job.priority, $1.job.number)
        }
        return stop { $0.job.number == last?.job.number }
    }

    private mutating func progress(_ product: ServiceAddress, _ percent: Int) -> [Effect] {
        // Content that has changed begins again below what was told.
        guard let run = runs.first(where: { $0.job.product == product }), !run.isStopping else { return [] }
        // It has room: the next one that found none has its turn.
        let next = triedAgain.remove(run.job.number) == nil ? [] : find()
        guard percent > told[run.job.number] ?? -1 else { return next }
        told[run.job.number] = percent
        return [.send(.progress(referenceId: run.job.referenceId, percent: percent))] + next
    }

    private mutating func ended(_ job: OfflineJob, _ outcome: Outcome) -> [Effect] {
        let run = runs.first { $0.job.number == job.number }
        let hasMoreRoom = run?.hasMoreRoom ?? false
        runs.removeAll { $0.job.number == job.number }
        triedAgain.remove(job.number)
        // What it had reserved, or more, is for others. One without room gives nothing back that they have not seen.
        if outcome != .noSpace { freeSpace() }
        var effects: [Effect] = []
        switch outcome {
        case .kept:
            if told.removeValue(forKey: job.number) != 100 {
                effects.append(.send(.progress(referenceId: job.referenceId, percent: 100)))
            }
            effects.append(.send(.done(referenceId: job.referenceId)))
        case .failed(let error):
            told.removeValue(forKey: job.number)
            effects.append(.send(.failed(referenceId: job.referenceId, error)))
        case .notStored(let error):
            told.removeValue(forKey: job.number)
            if unstored.isEmpty { effects.append(.waitForState) }
            unstored[job.number] = error.message
            gate.hasState = false
            effects.append(.send(.failed(referenceId: job.referenceId, error)))
        case .stopped: break
        case .metered where run?.hasOtherRoutes ?? false: break
        case .metered:
            metered.insert(job.number)
            gate.hasWay = metered.count < Self.attemptsOverMeteredLinks
        case .noSpace where hasMoreRoom:
            // It may have been refused before that.
            triedAgain.insert(job.number)
        case .noSpace:
            if withoutRoom.isEmpty { effects.append(.waitForSpace) }
            withoutRoom.insert(job.number)
            gate.hasSpace = withoutRoom.count < Self.attemptsWithoutRoom
        }
        return effects + find()
    }

    private mutating func change(to new: OfflineGate) -> [Effect] {
        let old = gate
        gate = new
        (gate.hasSpace, gate.hasState, gate.hasWay) = (old.hasSpace, old.hasState, old.hasWay)
        if old.allowsCellular != new.allowsCellular { (metered, gate.hasWay) = ([], true) }
        // Those that run may be on a link that they may not use any more.
        if gate.networkWait != nil || old.allowsCellular && !new.allowsCellular { return stop { _ in true } }
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
