import Database
import Fetching
import Media
import Network
import Platform
import Playback

/// Carries out the effects of the schedule of downloads: threads, timers, messages.
///
/// Thread: control, except where a declaration says otherwise.
/// `@unchecked Sendable` is safe because only control uses its mutable state.
package final class OfflineConductor: @unchecked Sendable {
    /// Times in nanoseconds.
    private static let minute: Int64 = 60_000_000_000
    private static let playbackInterval: Int64 = 1_000_000_000

    let bus: Bus<OfflineMessage>
    package let store: OfflineStore
    let space: OfflineSpace
    let clock: TrustedClock
    private let loop: EventLoop
    private let service: OfflineService
    private let damage: DamageReports
    private let configuration: OfflineEngineConfig
    private let turn = NetworkTurn()
    private let recordInterval: Int64
    private var schedule: OfflineSchedule
    private var link = Link.offline
    private var isOfflineMode = false
    private var isTakenByPlayback = false
    private var spaceTimer: TimerToken?
    private let restTimers: RestTimers
    private var warnings = OfflineWarnings()
    /// Called when downloads begin or cease to wait for room, the state or the medium; see
    /// `OfflineEngine.observeSpace`.
    var spaceChanged: (@Sendable () -> Void)?
    /// The running downloads, and the progress of their transfers.
    private var threads: [(product: ServiceAddress, thread: CancellableThread, stream: StreamProgress)] = []
    private let verifications: OfflineVerifications
    /// The number of products that were lost with the device's key, and may still be missing.
    private var lostCount = 0
    /// Set by `start`.
    private var folder: KeptFolderWatch?
    private var failed: FailedDownloads?
    /// nil after `shutDown`.
    private(set) var repairs: OfflineRepairs?
    private var validations: OfflineValidations?
    private var isShutDown = false
    /// Records downloads. Set before `start`.
    package var events: DownloadEvents?
    /// Tests replace it.
    var startThread: (String, @escaping @Sendable (Cancellation) -> Void) throws(SystemError) -> CancellableThread = {
        (name, body) throws(SystemError) in try CancellableThread(name, body)
    }

    package init(_ offlining: Offlining, loop: EventLoop, _ configuration: OfflineEngineConfig) {
        self.loop = loop
        self.configuration = configuration
        bus = Bus(loop: loop)
        store = offlining.store
        service = offlining.service
        space = offlining.space
        clock = offlining.clock
        verifications = OfflineVerifications(store, loop: loop, clock: clock)
        restTimers = RestTimers(loop: loop, clock: service.clock)
        recordInterval = offlining.settings.recordInterval
        schedule = OfflineSchedule(limit: offlining.settings.parallelDownloads)
        damage = offlining.damage
        repairs = OfflineRepairs(
            store, space, bus, loop: loop, configuration, folderLost: { [self] in folder?.lost() },
            jobsChanged: { [self] in jobsChanged() })
        validations = OfflineValidations(
            store, service, clock, loop: loop, differs: { [self] in askedAgain($0) },
            startThread: { [self] (body) throws(SystemError) in try startThread("validation", body) })
        damage.receive { [self] product, content, what in
            loop.post { [self] in repairs?.found(damaged: product, content, what) }
        }
        space.observeEvictions { [self] reference in
            loop.post { [self] in bus.send(.deleted(referenceId: reference)) }
        }
    }

    /// - Parameter isOfflineMode: whether the player begins in offline mode.
    package func start(isOfflineMode: Bool = false) {
        loop.assertOnLoop()
        self.isOfflineMode = isOfflineMode
        store.checkKey { [self] lost, isNew in
            guard lost > 0 else { return }
            Log.error(
                "the key of this device is another one than before: \(lost) kept products cannot be read, and are "
                    + "downloaded again")
            loop.post { [self] in
                lostCount = lost
                guard isNew else { return }
                bus.send(.keyLost(count: lost))
                jobsChanged()
            }
        }
        // A download whose entry in an index was damaged was never found before the repair.
        store.storage.observeRepairs { [self] in loop.post { [self] in jobsChanged() } }
        let folder = KeptFolderWatch(store, space, loop: loop) { [self] in folderChanged(isProblem: $0) }
        self.folder = folder
        folder.look()
        gateChanged()
        perform(schedule.handle(.jobsChanged))
        validations?.begin()
        failed = FailedDownloads(store, loop: loop, clock: clock) { [self] in jobsChanged() }
    }

    private func folderChanged(isProblem: Bool) {
        gateChanged()
        if isProblem { spaceChanged?() }
        guard folder?.isOurs ?? false else { return }
        ContentSweep(store) { [self] finding in
            loop.post { [self] in swept(finding) }
        }.start()
    }

    private func swept(_ finding: ContentSweep.Finding) {
        guard !isShutDown else { return }
        switch finding {
        case .damaged(let product, let content):
            repairs?.found(damaged: product, content, "its file is missing, or is not as large as its record says")
        case .unreadable(let product): repairs?.found(unreadable: product)
        case .unreadableJobs: repairs?.failUnreadableJobs()
        case .partsForgotten: spaceFreed()
        }
    }

    /// The user-facing reason why the storage folder does not match the database.
    var folderProblem: String? { folder?.problem }

    /// Makes downloads wait while the playing product waits for bytes.
    package func giveWay(to bus: Bus<PlaybackMessage>, _ playback: PublishedPlayback) {
        bus.subscribe { [self] message in
            guard case .playbackStateChanged(.stalled) = message else { return }
            playbackStalled { playback.isWaitingForMedium }
        }
    }

    /// Ends all threads; their progress is recorded. Blocks.
    package func shutDown() {
        loop.assertOnLoop()
        isShutDown = true
        folder?.shutDown()
        folder = nil
        failed?.stop()
        failed = nil
        damage.receive(nil)
        space.observeEvictions(nil)
        repairs = nil
        let all = threads.map { $0.thread }
        for thread in all { thread.cancel() }
        validations?.shutDown()
        validations = nil
        for thread in all { thread.join() }
        threads = []
        verifications.shutDown()
    }

    // MARK: Changes from outside

    /// Handles another link, or changed routes on the same link.
    package func linkChanged(to link: Link) {
        loop.assertOnLoop()
        let isOther = link != self.link
        self.link = link
        handle(.routesChanged)
        gateChanged()
        if isOther { hurry(nil) }
    }

    /// Ends the rest of the downloads of a product, or of all.
    private func hurry(_ product: ServiceAddress?) { handle(.hurried(product)) }

    package func offlineModeChanged(to isOn: Bool) {
        loop.assertOnLoop()
        isOfflineMode = isOn
        gateChanged()
    }

    /// - Parameter isWaiting: whether playback waits for bytes. Called now, and each second while it returns true.
    func playbackStalled(_ isWaiting: @escaping () -> Bool) {
        loop.assertOnLoop()
        let isTaken = isWaiting()
        if isTaken != isTakenByPlayback {
            isTakenByPlayback = isTaken
            turn.setTaken(isTaken)
            gateChanged()
        }
        guard isTaken, !isShutDown else { return }
        loop.schedule(after: Self.playbackInterval) { [self] in playbackStalled(isWaiting) }
    }

    package func gateChanged() {
        loop.assertOnLoop()
        guard !isShutDown else { return }
        let gate = OfflineGate(
            link: link.kind, hasUnmeteredRoute: link.hasUnmeteredRoute,
            allowsCellular: configuration.offlineOverCellular, isOfflineMode: isOfflineMode,
            isFolderOurs: folder?.isOurs ?? false, isFolderUnknown: folder?.isOfState ?? false,
            isTakenByPlayback: isTakenByPlayback)
        service.permission.isGiven = gate.allowsCellular
        perform(schedule.handle(.gateChanged(gate)))
        validations?.gateChanged(isOpen: gate.networkWait == nil)
    }

    func jobsChanged() { handle(.jobsChanged) }

    /// Retries the download of a product that was requested again, also if its content had no room or its service was
    /// away.
    /// - Parameter product: nil for all.
    func askedAgain(_ product: ServiceAddress?) {
        hurry(product)
        if space.refusals.forget(product) { spaceFreed() } else { jobsChanged() }
    }

    func withdrawn(_ product: ServiceAddress) { handle(.withdrawn(product)) }

    func allWithdrawn() { handle(.allWithdrawn) }

    private func handle(_ event: OfflineSchedule.Event) {
        loop.assertOnLoop()
        perform(schedule.handle(event))
    }

    /// Handles freed room: downloads that found none are retried.
    func spaceFreed() {
        loop.assertOnLoop()
        guard !isShutDown else { return }
        if let spaceTimer { loop.cancel(spaceTimer) }
        spaceTimer = nil
        // Without any product, any folder can be claimed.
        if let folder, !folder.isOurs { folder.look() }
        perform(schedule.handle(.spaceFreed))
    }

    /// Reads whole offline copies, one after the other on a thread of their own.
    func verify(
        _ product: ServiceAddress, _ check: OfflineCheck, _ answer: @escaping @Sendable (OfflineVerification) -> Void
    ) {
        verifications.verify(product, check, answer) { [self] found in
            switch found {
            case .damaged(let content):
                repairs?.found(damaged: product, content, "a part of what was kept cannot be read")
            case .unreadable: repairs?.found(unreadable: product.text)
            case .repaired(let reference):
                withdrawn(product)
                if let reference { bus.send(.done(referenceId: reference)) }
            }
        }
    }

    func cancel(_ check: OfflineCheck) { verifications.cancel(check) }

    /// The number of checks that have not ended.
    var checkCount: Int { verifications.count }

    /// - Parameter answer: gets the number of products that were lost with the device's key and are still missing.
    func countLost(_ answer: @escaping @Sendable (Int) -> Void) {
        loop.assertOnLoop()
        // Counting reads all rows.
        guard lostCount > 0 else { return answer(0) }
        store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.damagedCount()
        } _: { [self] count in
            lostCount = min(lostCount, count ?? lostCount)
            answer(lostCount)
        }
    }

    /// The reason why downloads wait.
    var wait: OfflineWait? {
        schedule.waitOfAll(threads.map { $0.stream.wait }, rests: restTimers.all)
    }

    /// The reason why downloads wait for the service, for the user; nil when none does.
    var serviceProblem: String? { schedule.reasonOfRest }

    /// Returns the status of a download.
    func status(of job: OfflineJob) -> OfflineEntry.Status {
        switch job.state {
        case .paused: .paused
        case .failed: .failed(reason: job.failure ?? "")
        case .queued:
            schedule.status(
                of: job,
                restTimers.wait(of: job.number) ?? threads.first { $0.product == job.product }?.stream.wait)
        }
    }

    // MARK: Effects

    private func perform(_ effects: [OfflineSchedule.Effect]) {
        for effect in effects where !isShutDown {
            switch effect {
            case .find(let limit):
                store.read(answerOn: loop) { (rows) throws(DatabaseError) -> (jobs: [OfflineJob], isWhole: Bool) in
                    var isWhole = true
                    let jobs = try rows.nextJobs(limit: limit) { isWhole = false }
                    return (jobs, isWhole)
                } _: { [self] found in
                    guard let found else {
                        loop.schedule(after: Self.minute) { [self] in jobsChanged() }
                        return handle(.notFound)
                    }
                    if !found.isWhole { repairs?.failUnreadableJobs() }
                    handle(.found(found.jobs))
                }
            case .start(let job): start(job)
            case .stop(let product): threads.first { $0.product == product }?.thread.cancel()
            case .send(let message): bus.send(message)
            case .waitForSpace:
                if let spaceTimer { loop.cancel(spaceTimer) }
                spaceTimer = loop.schedule(after: Self.minute) { [self] in
                    spaceTimer = nil
                    handle(.spaceWaited)
                }
            case .waitForWay: loop.schedule(after: Self.minute) { [self] in handle(.wayWaited) }
            case .rest(let number, let nanoseconds):
                restTimers.begin(number, nanoseconds) { [self] in handle(.rested(number)) }
            case .pace(let nanoseconds): loop.schedule(after: nanoseconds) { [self] in handle(.paced) }
            case .waitForState: loop.schedule(after: Self.minute) { [self] in writeState() }
            }
        }
        restTimers.end { !schedule.rests($0) }
        if !isShutDown, warnings.look(at: schedule, folder: store.folder.path) { spaceChanged?() }
    }

    /// Retries until the state can be written. The downloads continue then, and those that failed meanwhile begin
    /// again.
    private func writeState() {
        guard !isShutDown else { return }
        let numbers = Array(schedule.unstored.keys)
        store.write(answerOn: loop) { [store] (rows) throws(DatabaseError) in
            try store.checkState()
            try rows.touch()
            try rows.tellAgain(numbers)
        } _: { [self] result in
            if case .success = result {
                perform(schedule.handle(.stateWritten))
            } else {
                perform([OfflineSchedule.Effect.waitForState])
            }
        }
    }

    private func start(_ job: OfflineJob) {
        let (loop, clock, events) = (loop, clock, events)
        let medium = MediumAccess(clock: service.clock) {
            loop.post { [self] in retryChanged(job.product) }
        }
        begin(named: "offline") { [self] cancellation in
            let download = OfflineDownload(
                job: job, service: service, store: store, space: space, cancellation: cancellation, turn: turn,
                medium: medium, recordInterval: recordInterval,
                progress: { percent in
                    loop.post { [self] in perform(schedule.handle(.progress(job.product, percent: percent))) }
                },
                now: { clock.seconds }, events: events)
            // Without its medium the folder is a mount point: nothing is freed or written there.
            var outcome = store.isFolderOurs() == false ? .stopped : Self.outcome(of: download, job)
            let isLost = outcome != .kept && store.isFolderOurs() == false
            if isLost { outcome = .stopped }
            loop.post { [self, outcome] in
                if isLost { folder?.lost() }
                ended(job, outcome)
            }
        } then: { [self] thread in
            threads.append((job.product, thread, medium.stream))
        } failed: { [self] error in
            ended(job, .away(PlayerError(error)))
        }
    }

    /// Notes that a download began or ceased to wait for a retry.
    private func retryChanged(_ product: ServiceAddress) {
        guard let stream = threads.first(where: { $0.product == product })?.stream else { return }
        perform(schedule.handle(.retryChanged(product, isWaiting: stream.wait != nil)))
    }

    /// Runs a download. Thread: the download's.
    private static func outcome(of download: OfflineDownload, _ job: OfflineJob) -> OfflineSchedule.Outcome {
        do throws(OfflineFailure) {
            try download.run()
            return .kept
        } catch {
            if error == .noSpace { return .noSpace }
            if let problem = error.problemOfState {
                Log.warning("\(job.product.text) waits for the state: \(problem)")
                return .noState
            }
            if error.isOfMeteredLink { return .metered }
            let product = MediaProduct(
                productType: job.product.productType, productId: job.product.text, referenceId: job.referenceId)
            guard let error = error.error(product) else { return .stopped }
            return error.reach == .product ? .failed(error) : .away(error)
        }
    }

    private func ended(_ job: OfflineJob, _ outcome: OfflineSchedule.Outcome) {
        if let index = threads.firstIndex(where: { $0.product == job.product }) {
            threads.remove(at: index).thread.join()
        }
        switch outcome {
        case .kept: kept(job)
        case .failed where job.isAutomatic, .noSpace where job.isAutomatic: dropAutomatic(job, outcome)
        case .failed(let error): fail(job, error)
        case .stopped, .noSpace, .noState, .metered, .away, .notStored: perform(schedule.handle(.ended(job, outcome)))
        }
    }

    /// Checks whether the copy is still there: after a deletion the last message must be `.deleted`.
    private func kept(_ job: OfflineJob) {
        store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.item(job.product) != nil
        } _: { [self] isThere in
            perform(schedule.handle(.ended(job, isThere == false ? .stopped : .kept)))
        }
    }

    private func fail(_ job: OfflineJob, _ error: PlayerError) {
        let time = clock.seconds
        store.write(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.fail(job, error.message, at: time)
        } _: { [self] result in
            switch result {
            case .success(true): perform(schedule.handle(.ended(job, .failed(error))))
            // It was deleted meanwhile: the last message must be `.deleted`.
            case .success(false): perform(schedule.handle(.ended(job, .stopped)))
            // A failure that cannot be stored must not cause a restart at once.
            case .failure: perform(schedule.handle(.ended(job, .notStored(error))))
            }
        }
    }

    /// Drops a download that the appliance chose: it neither waits for room nor stays as a failure.
    private func dropAutomatic(_ job: OfflineJob, _ outcome: OfflineSchedule.Outcome) {
        store.write(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.dropAutomatic(job)
        } _: { [self] result in
            guard case .success(let dropped?) = result else {
                // The user has requested it meanwhile.
                if case .failed(let error) = outcome { return fail(job, error) }
                return perform(schedule.handle(.ended(job, outcome)))
            }
            store.storage.perform { [store] in store.removeFiles(dropped.contents) }
            guard outcome == .noSpace else { return perform(schedule.handle(.ended(job, outcome))) }
            if !dropped.isKept { bus.send(.deleted(referenceId: job.referenceId)) }
            perform(schedule.handle(.ended(job, .stopped)))
        }
    }

    /// Whether a product is being validated.
    var isValidating: Bool { validations?.isValidating ?? false }

    private func begin(
        named name: String, _ body: @escaping @Sendable (Cancellation) -> Void, then: (CancellableThread) -> Void,
        failed: (SystemError) -> Void
    ) {
        do throws(SystemError) { then(try startThread(name, body)) } catch { failed(error) }
    }
}

extension TrustedClock {
    /// The earliest possible present time, in seconds since 1970; nil when it was never proved.
    var seconds: Int64? { read().milliseconds.map { $0 / 1000 } }
}
