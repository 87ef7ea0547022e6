import Fetching
import Platform
import Playback

/// Decides which downloads run. A state machine: events in, effects out, no I/O.
///
/// Thread: control.
struct OfflineSchedule {
    private struct Run: Equatable {
        let download: QueuedDownload
        var isStopping = false
        /// Whether it waits for a retry, so that another download may run in its stead.
        var isWaiting = false
        /// Whether it rests after its end, because another download needs its thread.
        var restsThen = false
        /// Whether bytes have arrived.
        var hasProgressed = false
        /// Whether room was freed since it began.
        var hasMoreRoom = false
        /// Whether a route has changed since it began: its finding may be outdated.
        var hasOtherRoutes = false
    }

    /// From `crowd` downloads that cannot continue, the others begin one after the other, at most one per `pace`
    /// nanoseconds: each of them asks the service first.
    private static let crowd = 8
    private static let pace: Int64 = 1_000_000_000
    /// The most runs at once. Each has a thread, even while it waits for a retry.
    private static let mostRuns = 8

    /// The number of downloads that try a metered route before all wait. The products of a service usually share a
    /// route, but another service may use another one.
    private static let mostMetered = 8

    private let limit: Int
    private(set) var gate = OfflineGate()
    private var runs: [Run] = []
    private var search = DownloadSearch()
    /// The downloads whose start was published, with the highest percentage sent; -1 for none.
    private var told: [Int64: Int] = [:]
    private var withoutRoom = DownloadsWithoutRoom()
    private var resting = RestingDownloads()
    private var isPaced = false
    /// The numbers of the downloads whose route was metered, since the last change of a route.
    private var metered: Set<Int64> = []
    /// Whether `wayWaited` is still to come for them. One timer is enough, however often the routes change.
    private var isWaitingForWay = false
    /// The downloads whose failure cannot be stored, and their reasons. No download begins while there are any, because
    /// its progress could not be recorded. Even without any, none begins while the state cannot be written.
    private(set) var unstored: [Int64: String] = [:]

    /// - Parameter limit: the number of downloads at once.
    init(limit: Int) { self.limit = max(1, limit) }

    /// Returns the status of a download that is neither paused nor failed.
    /// - Parameter retry: the wait of a transfer of its run.
    func status(of download: QueuedDownload, _ retry: WaitReason? = nil) -> OfflineEntry.Status {
        if let retry, resting.contains(download.number) { return .waiting(.retry(retry)) }
        if runs.contains(where: { $0.download.number == download.number }) {
            if let retry { return .waiting(.retry(retry)) }
            return .running(percent: max(0, told[download.number] ?? 0))
        }
        if let reason = unstored[download.number] { return .failed(reason: reason) }
        let own: OfflineWait? =
            metered.contains(download.number)
            ? .unmeteredNetwork : withoutRoom.waiting.contains(download.number) ? .space : nil
        return (gate.wait ?? own).map { .waiting($0) } ?? .queued
    }

    /// The reason why some downloads, or all, wait; nil when they run.
    var wait: OfflineWait? {
        if let wait = gate.wait { return wait }
        if !metered.isEmpty { return .unmeteredNetwork }
        return withoutRoom.isEmpty ? nil : .space
    }

    /// Returns whether the download of this number was given up and is not retried yet.
    func rests(_ number: Int64) -> Bool { resting.contains(number) }

    /// The reason why downloads wait for the service, for the user; nil when none does.
    var reasonOfRest: String? { gate.networkWait == nil ? resting.reason : nil }

    /// Returns the reason why all downloads wait, retries included. They wait for the earliest retry when no transfer
    /// is running.
    /// - Parameters:
    ///   - retries: for each run, the wait of its transfer; nil when the transfer is running.
    ///   - rests: the wait of each resting download.
    func waitOfAll(_ retries: [WaitReason?], rests: [WaitReason] = []) -> OfflineWait? {
        if let wait { return wait }
        let waits = retries.compactMap { $0 }
        guard waits.count == retries.count else { return nil }
        return (waits + rests).min { ($0.seconds ?? 0) < ($1.seconds ?? 0) }.map { .retry($0) }
    }

    mutating func handle(_ event: Event) -> [Effect] {
        switch event {
        case .downloadsChanged: return find()
        case .found(let downloads): return start(downloads)
        case .notFound:
            _ = search.end()
            return []
        case .progress(let product, let percent): return progress(product, percent)
        case .retryChanged(let product, let isWaiting): return retryChanged(product, isWaiting)
        case .ended(let download, let outcome): return ended(download, outcome)
        case .gateChanged(let gate): return change(to: gate)
        case .withdrawn(let product):
            resting.forget(product)
            forgetMetered()
            return stop { $0.download.product == product }
        case .allWithdrawn:
            resting.forget(nil)
            forgetMetered()
            return stop { _ in true }
        case .spaceFreed:
            freeSpace()
            return find()
        case .spaceWaited:
            withoutRoom.freeSome()
            gate.hasSpace = !withoutRoom.isFull
            // The other downloads continue to wait.
            return (withoutRoom.waiting.isEmpty ? [] : [.waitForSpace]) + find()
        case .rested(let number):
            resting.wake(number)
            return find()
        case .paced:
            isPaced = false
            return find()
        case .hurried(let product):
            resting.forget(product)
            forgetMetered()
            return find()
        case .stateWritten:
            unstored = [:]
            gate.hasState = true
            return find()
        case .wayWaited:
            isWaitingForWay = false
            forgetMetered()
            return find()
        case .routesChanged:
            forgetMetered()
            for index in runs.indices { runs[index].hasOtherRoutes = true }
            return []
        }
    }

    /// Retries the downloads that found no room.
    private mutating func freeSpace() {
        withoutRoom.freeAll()
        gate.hasSpace = true
        for index in runs.indices { runs[index].hasMoreRoom = true }
    }

    /// Retries the downloads whose route was metered.
    private mutating func forgetMetered() {
        metered = []
        gate.hasWay = true
    }

    private var isCrowded: Bool { resting.count + withoutRoom.count >= Self.crowd }

    /// Whether another download may run; runs that wait for a retry do not count.
    private var hasPlace: Bool { runs.count { !$0.isWaiting } < limit }

    private var hasThread: Bool { runs.count < max(limit, Self.mostRuns) }

    private mutating func find() -> [Effect] {
        guard gate.wait == nil, !isPaced, !resting.isFull, hasPlace,
            hasThread || !runs.contains(where: { $0.restsThen })
        else { return [] }
        guard search.begin() else { return [] }
        return [.find(limit: limit + runs.count + withoutRoom.count + resting.count + metered.count)]
    }

    private mutating func start(_ downloads: [QueuedDownload]) -> [Effect] {
        if search.end() { return find() }
        guard gate.wait == nil else { return [] }
        metered = metered.filter { number in downloads.contains { $0.number == number } }
        // The others were deleted or paused, or are not next.
        withoutRoom.keepTriedAgain { [runs] number in
            downloads.contains { $0.number == number } || runs.contains { $0.download.number == number }
        }
        var effects: [Effect] = []
        for download in downloads where hasPlace && !isPaced && mayStart(download) {
            guard hasThread else {
                effects += makeRoomForThread()
                break
            }
            runs.append(Run(download: download))
            if told[download.number] == nil {
                // A restart that continues earlier progress was published before.
                if download.isToBeReported || download.progress == nil {
                    effects.append(.send(.started(referenceId: download.referenceId)))
                }
                told[download.number] = download.progress.map { Int($0.percent) } ?? -1
            }
            effects.append(.start(download))
            if isCrowded {
                isPaced = true
                effects.append(.pace(nanoseconds: Self.pace))
            }
        }
        return effects
    }

    private func mayStart(_ download: QueuedDownload) -> Bool {
        guard !withoutRoom.waiting.contains(download.number), !resting.contains(download.number),
            !metered.contains(download.number),
            !runs.contains(where: { $0.download.product == download.product })
        else { return false }
        // One after the other: the first may need the room of a part that belongs to a later download that does not
        // run.
        return !withoutRoom.triedAgain.contains(download.number)
            || !runs.contains { withoutRoom.triedAgain.contains($0.download.number) }
    }

    /// When all threads wait for retries, ends the run that is last in order, for another download.
    private mutating func makeRoomForThread() -> [Effect] {
        let waiting = runs.filter { $0.isWaiting && !$0.isStopping }
        guard let last = Self.lastTurn(of: waiting) else { return [] }
        for index in runs.indices where runs[index].download.number == last.number { runs[index].restsThen = true }
        return stop { $0.download.number == last.number }
    }

    private static func lastTurn(of runs: [Run]) -> QueuedDownload? {
        runs.map { $0.download }.max { ($1.priority, $0.number) < ($0.priority, $1.number) }
    }

    private mutating func retryChanged(_ product: ServiceAddress, _ isWaiting: Bool) -> [Effect] {
        guard let index = runs.firstIndex(where: { $0.download.product == product }) else { return [] }
        runs[index].isWaiting = isWaiting
        if isWaiting { return find() }
        // Another download took its slot meanwhile. The last of the active runs waits for the next free slot.
        let active = runs.filter { !$0.isWaiting && !$0.isStopping }
        guard active.count > limit else { return [] }
        let last = Self.lastTurn(of: active)
        return stop { $0.download.number == last?.number }
    }

    private mutating func progress(_ product: ServiceAddress, _ percent: Int) -> [Effect] {
        // Changed content begins again below the percentage that was sent.
        guard let index = runs.firstIndex(where: { $0.download.product == product }), !runs[index].isStopping else {
            return []
        }
        runs[index].hasProgressed = true
        let run = runs[index]
        // Bytes that are fetched again are no progress: a content that never becomes complete rests ever longer.
        if percent > told[run.download.number] ?? -1 { resting.forget(run.download.number) }
        // It has room, so others may have it too, and the next of them is tried.
        var next: [Effect] = []
        if withoutRoom.remove(run.download.number) {
            withoutRoom.freeAll()
            gate.hasSpace = true
            next = find()
        }
        guard percent > told[run.download.number] ?? -1 else { return next }
        told[run.download.number] = percent
        return [.send(.progress(referenceId: run.download.referenceId, percent: percent))] + next
    }

    private mutating func ended(_ download: QueuedDownload, _ outcome: Outcome) -> [Effect] {
        let run = runs.first { $0.download.number == download.number }
        runs.removeAll { $0.download.number == download.number }
        _ = withoutRoom.remove(download.number)
        if givesRoom(run, outcome) { freeSpace() }
        if outcome != .stopped, !outcome.isAway { resting.forget(download.number) }
        var effects: [Effect] = []
        switch outcome {
        case .complete:
            if told.removeValue(forKey: download.number) != 100 {
                effects.append(.send(.progress(referenceId: download.referenceId, percent: 100)))
            }
            effects.append(.send(.done(referenceId: download.referenceId)))
        case .failed(let error):
            told.removeValue(forKey: download.number)
            effects.append(.send(.failed(referenceId: download.referenceId, error)))
        case .notStored(let error):
            told.removeValue(forKey: download.number)
            effects += waitForState()
            unstored[download.number] = error.message
            effects.append(.send(.failed(referenceId: download.referenceId, error)))
        case .noState: effects += waitForState()
        case .away(let error):
            effects.append(.rest(download.number, nanoseconds: resting.add(download, error.message)))
        case .stopped where run?.restsThen ?? false:
            effects.append(.rest(download.number, nanoseconds: resting.add(download, nil)))
        case .stopped: break
        case .metered where run?.hasOtherRoutes ?? false: break
        case .metered:
            if !isWaitingForWay { effects.append(.waitForWay) }
            isWaitingForWay = true
            metered.insert(download.number)
            gate.hasWay = metered.count < Self.mostMetered
        case .noSpace where run?.hasMoreRoom ?? false:
            // It may have been refused before room was freed.
            withoutRoom.tryAgain(download.number)
        case .noSpace:
            if withoutRoom.waiting.isEmpty { effects.append(.waitForSpace) }
            withoutRoom.add(download.number)
            gate.hasSpace = !withoutRoom.isFull
        }
        return effects + find()
    }

    /// Returns whether the end of a run frees its reservation or more for others. A run that failed for space frees
    /// nothing new, and neither does a run that received no byte.
    private func givesRoom(_ run: Run?, _ outcome: Outcome) -> Bool {
        switch outcome {
        case .noSpace: false
        case .away: run?.hasProgressed ?? false
        case .stopped: run.map { !$0.restsThen || $0.hasProgressed } ?? true
        case .metered: run?.hasProgressed ?? false
        case .complete, .failed, .noState, .notStored: true
        }
    }

    private mutating func waitForState() -> [Effect] {
        defer { gate.hasState = false }
        return gate.hasState ? [.waitForState] : []
    }

    private mutating func change(to new: OfflineGate) -> [Effect] {
        let old = gate
        gate = new
        (gate.hasSpace, gate.hasState, gate.hasWay) = (old.hasSpace, old.hasState, old.hasWay)
        if old.allowsCellular != new.allowsCellular { forgetMetered() }
        // Running downloads may use a link that is not allowed any more.
        if gate.networkWait != nil || old.allowsCellular && !new.allowsCellular { return stop { _ in true } }
        return find()
    }

    private mutating func stop(_ isMeant: (Run) -> Bool) -> [Effect] {
        var effects: [Effect] = []
        for index in runs.indices where !runs[index].isStopping && isMeant(runs[index]) {
            runs[index].isStopping = true
            effects.append(.stop(runs[index].download.product))
        }
        return effects
    }
}
