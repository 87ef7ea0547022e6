import Database
import Media
import Network
import Platform

/// Carries out what the schedule and the rounds of validation decide: threads, timers, messages.
///
/// Thread: control, except where a declaration says otherwise.
/// `@unchecked Sendable` is safe because control alone uses what changes.
final class OfflineConductor: @unchecked Sendable {
    /// In nanoseconds.
    private static let spaceInterval: Int64 = 60_000_000_000
    private static let stateInterval: Int64 = 60_000_000_000
    private static let roundInterval: Int64 = 6 * 3_600_000_000_000
    /// While nobody knows what time it is.
    private static let unprovedInterval: Int64 = 60_000_000_000
    private static let playbackInterval: Int64 = 1_000_000_000
    private static let dueAtOnce = 8

    let bus: Bus<OfflineMessage>
    let store: OfflineStore
    let space: OfflineSpace
    let clock: TrustedClock
    private let loop: EventLoop
    private let service: OfflineService
    private let damage: DamageReports
    private let configuration: OfflineEngineConfig
    private let turn = NetworkTurn()
    private let recordInterval: Int64
    private var schedule: OfflineSchedule
    private var round = RevalidationRound()
    private var link = Link.offline
    private var isOfflineMode = false
    private var isTakenByPlayback = false
    /// When the round of validation has begun, in seconds since 1970.
    private var roundTime: Int64?
    /// Whether that was proved: otherwise more may be due.
    private var isRoundTimeProved = false
    private var spaceTimer: TimerToken?
    /// Whether it was told that downloads wait for room, or for a state that can be written.
    private var toldWait: OfflineWait?
    /// Called when that has changed; see `OfflineEngine.observeSpace`.
    var spaceChanged: (@Sendable () -> Void)?
    /// The runs, and what is known of their transfers.
    private var threads: [(product: ServiceAddress, thread: OfflineThread, stream: StreamProgress)] = []
    private var validation: OfflineThread?
    private let verifications: OfflineVerifications
    /// How many products were lost with the device's key, and may be missing still.
    private var lostCount = 0
    /// Set by `start`.
    private var folder: KeptFolderWatch?
    private var isShutDown = false

    init(_ offlining: Offlining, loop: EventLoop, _ configuration: OfflineEngineConfig) {
        self.loop = loop
        self.configuration = configuration
        bus = Bus(loop: loop)
        store = offlining.store
        service = offlining.service
        space = offlining.space
        clock = offlining.clock
        verifications = OfflineVerifications(store, loop: loop, clock: clock)
        recordInterval = offlining.settings.recordInterval
        schedule = OfflineSchedule(limit: offlining.settings.parallelDownloads)
        damage = offlining.damage
        damage.receive { [self] product, content, what in
            loop.post { [self] in found(damaged: product, content, what) }
        }
        space.observeEvictions { [self] reference in
            loop.post { [self] in bus.send(.deleted(referenceId: reference)) }
        }
    }

    /// - Parameter isOfflineMode: whether the player begins in offline mode.
    func start(isOfflineMode: Bool = false) {
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
        let folder = KeptFolderWatch(store, space, loop: loop) { [self] in folderChanged(isProblem: $0) }
        self.folder = folder
        folder.look()
        gateChanged()
        perform(schedule.handle(.jobsChanged))
        perform(round.handle(.due))
    }

    private func folderChanged(isProblem: Bool) {
        gateChanged()
        if isProblem { spaceChanged?() }
        guard folder?.isOurs ?? false else { return }
        ContentSweep(store) { [self] missing in
            loop.post { [self] in
                for (product, content) in missing { found(damaged: product, content, "its file is missing") }
            }
        }.start()
    }

    /// Why the folder of what is kept is not that of the rows, for a person.
    var folderProblem: String? { folder?.problem }

    /// Downloads wait while a product that plays waits for bytes.
    func giveWay(to bus: Bus<PlaybackMessage>, _ playback: PublishedPlayback) {
        bus.subscribe { [self] message in
            guard case .playbackStateChanged(.stalled) = message else { return }
            playbackStalled { playback.isWaitingForMedium }
        }
    }

    /// Ends all threads; what they have fetched is recorded. Blocks.
    func shutDown() {
        loop.assertOnLoop()
        isShutDown = true
        folder?.shutDown()
        folder = nil
        damage.receive(nil)
        space.observeEvictions(nil)
        let all = threads.map { $0.thread } + [validation].compactMap { $0 }
        for thread in all { thread.cancel() }
        for thread in all { thread.join() }
        threads = []
        validation = nil
        verifications.shutDown()
    }

    // MARK: What has changed outside

    /// Another link, or the same after a change of the routes.
    func linkChanged(to link: Link) {
        loop.assertOnLoop()
        self.link = link
        handle(.routesChanged)
        gateChanged()
    }

    func offlineModeChanged(to isOn: Bool) {
        loop.assertOnLoop()
        isOfflineMode = isOn
        gateChanged()
    }

    /// - Parameter isWaiting: asked now and each second while it is true, whether playback waits for bytes.
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

    func gateChanged() {
        loop.assertOnLoop()
        guard !isShutDown else { return }
        let gate = OfflineGate(
            link: link.kind, hasUnmeteredRoute: link.hasUnmeteredRoute,
            allowsCellular: configuration.offlineOverCellular, isOfflineMode: isOfflineMode,
            isFolderOurs: folder?.isOurs ?? false, isTakenByPlayback: isTakenByPlayback)
        service.permission.isGiven = gate.allowsCellular
        perform(schedule.handle(.gateChanged(gate)))
        perform(round.handle(.gateChanged(isOpen: gate.networkWait == nil)))
    }

    func jobsChanged() { handle(.jobsChanged) }

    func withdrawn(_ product: ServiceAddress) { handle(.withdrawn(product)) }

    func allWithdrawn() { handle(.allWithdrawn) }

    private func handle(_ event: OfflineSchedule.Event) {
        loop.assertOnLoop()
        perform(schedule.handle(event))
    }

    /// Something was removed: there may be room again.
    func spaceFreed() {
        loop.assertOnLoop()
        guard !isShutDown else { return }
        if let spaceTimer { loop.cancel(spaceTimer) }
        spaceTimer = nil
        // Without products any folder will do.
        if let folder, !folder.isOurs { folder.look() }
        perform(schedule.handle(.spaceFreed))
    }

    /// A part of a kept product cannot be read: it is downloaded again.
    /// - Parameter content: of the file that was read. The product may have another one by now.
    func found(damaged product: ServiceAddress, _ content: [UInt8], _ what: String) {
        store.write(answerOn: loop) { [store] (rows) throws(DatabaseError) -> (isOurs: Bool, item: OfflineItem?) in
            // A medium that is missing takes no product with it.
            guard try store.folder.isOurs(rows) else { return (false, nil) }
            guard let item = try rows.item(product), item.content == content, try rows.markDamaged(item) else {
                return (true, nil)
            }
            _ = try rows.add(
                product, item.referenceId, item.request, priority: 0, isAutomatic: item.isAutomatic, isRepair: true)
            return (true, item)
        } _: { [self] result in
            guard case .success((let isOurs, let item)) = result else { return }
            if !isOurs { folder?.lost() }
            guard let item else { return }
            Log.warning("\(product.text): \(what). It is downloaded again")
            let error = PlayerError(
                .unexpected, .media(.source(.integrity(reason: what))), message: "\(product.text): \(what).",
                mediaProduct: nil)
            bus.send(.failed(referenceId: item.referenceId, error))
            jobsChanged()
        }
    }

    /// Reads all of a kept product, one after the other on a thread of their own.
    func verify(_ product: ServiceAddress, _ answer: @escaping @Sendable (OfflineVerification) -> Void) {
        verifications.verify(product, answer) { [self] found in
            switch found {
            case .damaged(let content):
                self.found(damaged: product, content, "a part of what was kept cannot be read")
            case .repaired(let reference):
                withdrawn(product)
                if let reference { bus.send(.done(referenceId: reference)) }
            }
        }
    }

    /// - Parameter answer: how many products that were lost with the device's key are missing still.
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

    /// What downloads wait for.
    var wait: OfflineWait? { schedule.waitOfAll(threads.map { $0.stream.wait }) }

    /// Where a download stands.
    func status(of job: OfflineJob) -> OfflineEntry.Status {
        switch job.state {
        case .paused: .paused
        case .failed: .failed(reason: job.failure ?? "")
        case .queued: schedule.status(of: job, threads.first { $0.product == job.product }?.stream.wait)
        }
    }

    // MARK: Effects

    private func perform(_ effects: [OfflineSchedule.Effect]) {
        for effect in effects where !isShutDown {
            switch effect {
            case .find(let limit):
                store.read(answerOn: loop) { (rows) throws(DatabaseError) in
                    try rows.nextJobs(limit: limit)
                } _: { [self] jobs in
                    perform(schedule.handle(.found(jobs ?? [])))
                }
            case .start(let job): start(job)
            case .stop(let product): threads.first { $0.product == product }?.thread.cancel()
            case .send(let message): bus.send(message)
            case .waitForSpace:
                if let spaceTimer { loop.cancel(spaceTimer) }
                spaceTimer = loop.schedule(after: Self.spaceInterval) { [self] in spaceFreed() }
            case .waitForState: loop.schedule(after: Self.stateInterval) { [self] in writeState() }
            }
        }
        tellSpace()
    }

    private func tellSpace() {
        let wait = schedule.wait
        let untold = wait == .space || wait == .storage ? wait : nil
        guard untold != toldWait, !isShutDown else { return }
        toldWait = untold
        if untold == .space { Log.warning("there is no room for more in \(store.folder.path): downloads wait") }
        if untold == .storage { Log.warning("the state cannot be written: downloads wait") }
        spaceChanged?()
    }

    /// Downloads go on when the state can be written. What has failed meanwhile begins again.
    private func writeState() {
        guard !isShutDown else { return }
        let numbers = Array(schedule.unstored.keys)
        store.write(answerOn: loop) { (rows) throws(DatabaseError) in
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
        let (loop, clock) = (loop, clock)
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
                now: { clock.seconds ?? 0 })
            // Where its medium should be mounted there is no room to be made, and nothing to be written.
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
            ended(job, .failed(PlayerError(error)))
        }
    }

    /// A download waits for a retry, or does not any more.
    private func retryChanged(_ product: ServiceAddress) {
        guard let stream = threads.first(where: { $0.product == product })?.stream else { return }
        perform(schedule.handle(.retryChanged(product, isWaiting: stream.wait != nil)))
    }

    /// A download's thread.
    private static func outcome(of download: OfflineDownload, _ job: OfflineJob) -> OfflineSchedule.Outcome {
        do throws(OfflineFailure) {
            try download.run()
            return .kept
        } catch {
            if error == .noSpace { return .noSpace }
            if error.isOfMeteredLink { return .metered }
            let product = MediaProduct(
                productType: job.product.productType, productId: job.product.text, referenceId: job.referenceId)
            return error.error(product).map { .failed($0) } ?? .stopped
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
        case .stopped, .noSpace, .metered, .notStored: perform(schedule.handle(.ended(job, outcome)))
        }
    }

    /// It may have been deleted since it was kept, and that is told last.
    private func kept(_ job: OfflineJob) {
        store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.item(job.product) != nil
        } _: { [self] isThere in
            perform(schedule.handle(.ended(job, isThere == false ? .stopped : .kept)))
        }
    }

    private func fail(_ job: OfflineJob, _ error: PlayerError) {
        store.write(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.fail(job, error.message)
        } _: { [self] result in
            switch result {
            case .success(true): perform(schedule.handle(.ended(job, .failed(error))))
            // It was deleted meanwhile, and that was told last.
            case .success(false): perform(schedule.handle(.ended(job, .stopped)))
            // What cannot be stored must not begin again at once.
            case .failure(let reason):
                perform(schedule.handle(.ended(job, reason.kind == .full ? .noSpace : .notStored(error))))
            }
        }
    }

    /// What nobody has asked for neither waits for room nor stays as a failure.
    private func dropAutomatic(_ job: OfflineJob, _ outcome: OfflineSchedule.Outcome) {
        store.write(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.dropAutomatic(job)
        } _: { [self] result in
            guard case .success(let dropped?) = result else {
                // A person wants it by now.
                if case .failed(let error) = outcome { return fail(job, error) }
                return perform(schedule.handle(.ended(job, outcome)))
            }
            store.storage.perform { [store] in store.removeFiles(dropped.contents) }
            guard outcome == .noSpace else { return perform(schedule.handle(.ended(job, outcome))) }
            if !dropped.isKept { bus.send(.deleted(referenceId: job.referenceId)) }
            perform(schedule.handle(.ended(job, .stopped)))
        }
    }

    private func perform(_ effects: [RevalidationRound.Effect]) {
        for effect in effects where !isShutDown {
            switch effect {
            case .find(let at, let product): findDue(after: (at, product))
            case .validate(let item): validate(item)
            case .stop: validation?.cancel()
            case .rest:
                let interval = isRoundTimeProved ? Self.roundInterval : Self.unprovedInterval
                loop.schedule(after: interval) { [self] in perform(round.handle(.due)) }
            case .jobAdded: jobsChanged()
            }
        }
    }

    /// Whether a product is being validated.
    var isValidating: Bool { validation != nil }

    private func findDue(after last: (at: Int64, product: String)) {
        // One time for a round: what a service has again as due at once waits for the next one.
        if last.at == .min {
            isRoundTimeProved = clock.read().isProved
            roundTime = clock.seconds
        }
        // Nothing is due at a time that nobody knows.
        guard let time = roundTime else { return perform(round.handle(.found([]))) }
        store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.due(time, after: last, limit: Self.dueAtOnce)
        } _: { [self] items in
            perform(round.handle(.found(items ?? [])))
        }
    }

    private func validate(_ item: OfflineItem) {
        let loop = loop
        begin(named: "validation") { [self] cancellation in
            let outcome = OfflineRevalidation(service: service, store: store, cancellation: cancellation).run(item)
            loop.post { [self] in
                validation?.join()
                validation = nil
                perform(round.handle(.ended(outcome)))
            }
        } then: { [self] thread in
            validation = thread
        } failed: { [self] _ in
            perform(round.handle(.ended(.skipped)))
        }
    }

    private func begin(
        named name: String, _ body: @escaping @Sendable (Cancellation) -> Void, then: (OfflineThread) -> Void,
        failed: (SystemError) -> Void
    ) {
        do throws(SystemError) { then(try OfflineThread(name, body)) } catch { failed(error) }
    }
}

extension TrustedClock {
    /// The earliest possible present time, since 1970; nil when it was never proved.
    var seconds: Int64? { read().milliseconds.map { $0 / 1000 } }
}
