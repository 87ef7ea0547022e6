import Database
import Platform
import Playback

/// Carries out the effects of `OfflineSchedule`: searches, threads, timers and messages of downloads.
///
/// Thread: control.
/// `@unchecked Sendable` is safe because only control uses its mutable state.
final class OfflineDownloads: @unchecked Sendable {
    /// In nanoseconds.
    private static let minute: Int64 = 60_000_000_000

    private let offlining: Offlining
    private let bus: Bus<OfflineMessage>
    private let loop: EventLoop
    private let integrity: OfflineIntegrity
    private let threads: DownloadThreads
    private let results: DownloadResults
    private let timers: DownloadTimers
    private var schedule: OfflineSchedule
    var warnings: OfflineWarnings
    private var isShutDown = false

    init(
        _ offlining: Offlining, _ bus: Bus<OfflineMessage>, loop: EventLoop, _ integrity: OfflineIntegrity,
        _ threads: DownloadThreads
    ) {
        self.offlining = offlining
        self.bus = bus
        self.loop = loop
        self.integrity = integrity
        self.threads = threads
        results = DownloadResults(offlining, bus, loop: loop)
        timers = DownloadTimers(loop: loop, clock: offlining.service.clock)
        schedule = OfflineSchedule(limit: offlining.settings.parallelDownloads)
        warnings = OfflineWarnings(folder: offlining.store.folder.path)
    }

    /// Begins no download from now on, and ends the running ones soon. Their progress is recorded.
    func stop() {
        isShutDown = true
        threads.cancelAll()
    }

    /// Waits until all downloads have ended.
    func join() { threads.joinAll() }

    // MARK: Changes from outside

    func downloadsChanged() { handle(.downloadsChanged) }

    func gateChanged(to gate: OfflineGate) { handle(.gateChanged(gate)) }

    /// Handles changed routes. `gateChanged` follows.
    func routesChanged() { handle(.routesChanged) }

    /// Ends the rest of the downloads of a product, or of all.
    func hurry(_ product: ServiceAddress?) { handle(.hurried(product)) }

    /// Retries the download of a product that was requested again, also if its content had no room or its service was
    /// away.
    /// - Parameter product: nil for all.
    func askedAgain(_ product: ServiceAddress?) {
        hurry(product)
        if offlining.space.refusals.forget(product) { spaceFreed() } else { downloadsChanged() }
    }

    func withdrawn(_ product: ServiceAddress) { handle(.withdrawn(product)) }

    func allWithdrawn() { handle(.allWithdrawn) }

    /// Handles freed room: downloads that found none are retried.
    func spaceFreed() {
        loop.assertOnLoop()
        guard !isShutDown else { return }
        timers.space.cancel()
        integrity.claimFolder()
        handle(.spaceFreed)
    }

    // MARK: For lists

    /// The reason why downloads wait.
    var wait: OfflineWait? { schedule.waitOfAll(threads.waits, rests: timers.rests.all) }

    /// The reason why downloads wait for the service, for the user; nil when none does.
    var serviceProblem: String? { schedule.reasonOfRest }

    /// Returns the status of a download.
    func status(of download: QueuedDownload) -> OfflineEntry.Status {
        switch download.state {
        case .paused: .paused
        case .failed: .failed(reason: download.failure ?? "")
        case .queued:
            schedule.status(of: download, timers.rests.wait(of: download.number) ?? threads.wait(of: download.product))
        }
    }

    // MARK: Effects

    private func handle(_ event: OfflineSchedule.Event) {
        loop.assertOnLoop()
        for effect in schedule.handle(event) where !isShutDown { carryOut(effect) }
        timers.rests.end { !schedule.rests($0) }
        if !isShutDown, warnings.look(at: schedule) { warnings.changed?() }
    }

    private func carryOut(_ effect: OfflineSchedule.Effect) {
        switch effect {
        case .find(let limit): find(limit)
        case .start(let download): start(download)
        case .stop(let product): threads.stop(product)
        case .send(let message): bus.send(message)
        case .waitForSpace: timers.space.start(after: Self.minute) { [self] in handle(.spaceWaited) }
        case .waitForWay: loop.schedule(after: Self.minute) { [self] in handle(.wayWaited) }
        case .rest(let number, let nanoseconds):
            timers.rests.begin(number, nanoseconds) { [self] in handle(.rested(number)) }
        case .pace(let nanoseconds): loop.schedule(after: nanoseconds) { [self] in handle(.paced) }
        case .waitForState: loop.schedule(after: Self.minute) { [self] in writeState() }
        }
    }

    private func find(_ limit: Int) {
        offlining.store.read(answerOn: loop) {
            (rows) throws(DatabaseError) -> (downloads: [QueuedDownload], isWhole: Bool) in
            var isWhole = true
            let downloads = try rows.nextDownloads(limit: limit) { isWhole = false }
            return (downloads, isWhole)
        } _: { [self] found in
            guard let found else {
                loop.schedule(after: Self.minute) { [self] in downloadsChanged() }
                return handle(.notFound)
            }
            if !found.isWhole { integrity.failUnreadableDownloads() }
            handle(.found(found.downloads))
        }
    }

    private func start(_ download: QueuedDownload) {
        do throws(SystemError) {
            try threads.start(download) { [self] report in
                switch report {
                case .progress(let percent): handle(.progress(download.product, percent: percent))
                case .retryChanged(let isWaiting): handle(.retryChanged(download.product, isWaiting: isWaiting))
                case .folderLost: integrity.folderLost()
                case .ended(let outcome): ended(download, outcome)
                }
            }
        } catch {
            ended(download, .away(PlayerError(error)))
        }
    }

    private func ended(_ download: QueuedDownload, _ outcome: OfflineSchedule.Outcome) {
        results.store(outcome, of: download) { [self] outcome in handle(.ended(download, outcome)) }
    }

    /// Retries until the state can be written. The downloads continue then, and those that failed meanwhile begin
    /// again.
    private func writeState() {
        guard !isShutDown else { return }
        let (store, numbers) = (offlining.store, Array(schedule.unstored.keys))
        store.write(answerOn: loop) { (rows) throws(DatabaseError) in
            try store.checkState()
            try rows.touch()
            try rows.notifyAgain(numbers)
        } _: { [self] result in
            if case .success = result { handle(.stateWritten) } else { carryOut(.waitForState) }
        }
    }
}
