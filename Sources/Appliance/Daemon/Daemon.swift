import Board
import Database
import Network
import Platform
import Player
import Queue

/// The appliance: plays its queue, stores it, and carries out the commands of buttons and clients. This type creates
/// the parts and connects them. Each part does its own work, and clients use the parts directly.
///
///     daemon.attach(board, lines: lines)
///     daemon.openLibrary()
///     daemon.start()
///     daemon.loop.run()
///     daemon.shutDown()
///
/// Thread: everything runs on the thread of `loop`.
/// `@unchecked Sendable` is safe because other threads only post to `loop`, and only `loop` uses the properties.
public final class Daemon: @unchecked Sendable {
    public let loop: EventLoop
    public let player: Player
    /// The queue and its playback.
    package let queue: QueueConductor
    public let volume: VolumeControl
    /// The configuration in force, and the values of clients that override it.
    public let settings: DaemonSettings
    /// Which program may use the sound device.
    public let focus: DeviceFocus
    /// Carries out commands of buttons and clients that need no arguments.
    public let commands: CommandDispatcher
    /// All current problems.
    public let problems: DaemonProblems
    /// Reports changes.
    public let observers = DaemonObservers()
    let spareMemory: SpareMemory
    let storage: StorageThread
    let clock: any MonotonicClock
    let random: any RandomSource

    private let system: SystemCommands
    private let keeper: QueueKeeper
    private let position: PositionKeeper
    private let resumeGuard: ResumeGuard
    private let entryProblems: EntryProblems
    private let deviceAbsence: () -> String?
    private let kept: (position: Double, wasPlaying: Bool)
    private var panel: BoardPanel?
    /// The index of the music folders, and the kept playlists; nil when the system lacks its threads.
    private(set) var library: LibraryConductor?
    /// Looks at the sound cards for all clients.
    let devices: DeviceSurvey
    private var lastClient: UInt64 = 0
    /// nil without a content service.
    private(set) var serviceLogin: ServiceLogin?
    /// nil where no system takes requests about Wi-Fi.
    let wifi: WiFiExchange?
    /// nil where no system takes requests for updates.
    let updates: UpdateExchange?
    private let plays: PlayCounter
    private var link: Link?
    /// The entry that this start skipped, while it is published as a problem.
    private var passedOver: EntryID?
    private var automaticKeeping = AutomaticKeeping()
    private var keptLook = RepeatedLook()

    /// - Parameters:
    ///   - loop: the loop of this thread.
    ///   - configuration: the configuration of the file.
    ///   - state: the stored state, and its storage.
    ///   - deviceAbsence: returns why the sound card is missing, for the user, or nil; called while none is open.
    ///   - clock: the clock of the loop.
    public init(
        loop: EventLoop, player: Player, configuration: Configuration, state: consuming ApplianceState,
        deviceAbsence: @escaping () -> String? = { nil },
        clock: any MonotonicClock = SystemMonotonicClock(), random: any RandomSource = SystemRandomSource()
    ) {
        let observers = observers
        let problems = DaemonProblems { observers.tell(.problems) }
        let volume = VolumeControl(player.playbackEngineConfig, loop: loop) { observers.tell(.volume) }
        let queue = QueueConductor(
            engine: player.playbackEngine, loop: loop, queue: state.contents.queue, clock: clock, random: random)
        let keeper = QueueKeeper(state.storage, state.contents.image, loop: loop) {
            (queue.contents, queue.wantsToPlay)
        } report: { error in
            problems.set(DaemonProblem.storage, error.map { "the queue could not be saved: \($0)" })
        }
        for problem in state.problems { problems.set(problem.subject, problem.message) }
        let clientValues = state.clientValues(above: configuration, engine: player.playbackEngineConfig)
        for (name, text) in clientValues where state.settings[name] == nil { keeper.keep(name, text) }
        let settings = DaemonSettings(
            file: configuration, clientValues: clientValues, engine: player.playbackEngineConfig,
            offline: player.offlineEngineConfig, setOfflineMode: { player.isOfflineMode = $0 }, volume: volume,
            problems: problems,
            keep: { keeper.keep($0, $1) }, changed: { observers.tell(.configuration) })
        let system = SystemCommands(loop: loop) { settings.configuration.commandLine(of: $0) }

        self.loop = loop
        self.player = player
        storage = state.storage
        self.clock = clock
        self.random = random
        self.deviceAbsence = deviceAbsence
        self.problems = problems
        self.volume = volume
        self.queue = queue
        self.keeper = keeper
        self.settings = settings
        self.system = system
        focus = DeviceFocus(queue) { observers.tell(.state) }
        commands = CommandDispatcher(queue: queue, volume: volume) { system.run($0) }
        position = PositionKeeper(queue, loop: loop, clock: clock) { keeper.keep(position: $0, of: $1) }
        spareMemory = SpareMemory(loop: loop)
        devices = DeviceSurvey(loop: loop)
        wifi = configuration.wifiFolder.map {
            WiFiExchange(WiFiFolder(path: $0), storage: state.storage, loop: loop)
        }
        updates = configuration.updateFolder.map {
            UpdateExchange(
                SystemFolder(path: $0), standard: configuration.updateAddress, storage: state.storage, loop: loop
            ) { system.run(.update) }
        }
        plays = PlayCounter(loop: loop, clock: clock)
        resumeGuard = ResumeGuard(folder: state.path, storage: state.storage, loop: loop) {
            let engine = player.playbackEngine
            return engine.playbackState != .playing && engine.decoderBeat != nil
        }
        entryProblems = EntryProblems(loop: loop) { problems.set($0, $1) }
        kept = (state.contents.position, state.contents.isPlaying)
        queue.observe = { [self] in receive($0) }
        keeper.found = { [self] finding in
            problems.set(DaemonProblem.damage, finding.description)
            // So the next start is not louder, even if a maximum was among the lost rows.
            self.settings.keepAll()
        }
        state.storage.checkIndexes()
        player.observeStorage { [self] problem in
            loop.post { self.problems.set(DaemonProblem.settings, problem) }
        }
        if let problem = player.offlineProblem { problems.set(DaemonProblem.offline, problem) }
        player.offlineEngine?.bus.subscribe { [self] message in loop.post { [self] in receive(message) } }
        player.offlineEngine?.observeSpace { [self] in loop.post { [self] in lookAtKeptProducts() } }
        // Read the status for problems that were published before the subscription.
        lookAtKeptProducts()
    }

    /// Notifies the observers, and checks for problems when some may have changed.
    private func receive(_ message: OfflineMessage) {
        observers.tell(.offline(message))
        if case .progress = message { return }
        lookAtKeptProducts()
    }

    /// Checks the offline engine for problems. One request may change thousands of products, and each status counts all
    /// of them.
    private func lookAtKeptProducts() {
        guard let engine = player.offlineEngine, keptLook.begin() else { return }
        engine.status { [self] status in
            let problem: String? =
                if let status { status.problem } else { "the list of kept products cannot be read; see the log" }
            loop.post { [self] in
                problems.set(DaemonProblem.offline, problem)
                if keptLook.end() { lookAtKeptProducts() }
            }
        }
    }

    // MARK: Start and stop

    /// Connects the board's buttons, lights and amplifier to the daemon. Call it before `start`.
    public func attach(_ board: BoardProfile, lines: any LineProvider) {
        loop.assertOnLoop()
        let panel = BoardPanel(
            board, lines: lines, loop: loop, clock: clock, output: queue.output,
            perform: { [commands] in commands.perform($0) }, report: { [problems] in problems.set($0, $1) })
        self.panel = panel
        panel.start()
        observers.add { [self] event in
            if event == .state || event == .problems { panel.show(status) }
        }
    }

    /// Opens the library of the configured folders, and the kept playlists. Call it before clients connect.
    public func openLibrary() {
        loop.assertOnLoop()
        let configuration = settings.configuration
        do throws(SystemError) {
            let library = try LibraryConductor(
                configuration.libraryFolders, index: "\(configuration.stateFolder)/library.db",
                playlists: configuration.playlistFolder, loop: loop, storage: storage,
                changed: { [observers] in observers.tell(.library($0)) },
                report: { [problems] in problems.set(DaemonProblem.library, $0) })
            self.library = library
            plays.count = { library.count($0) }
        } catch {
            problems.set(DaemonProblem.library, "the library cannot be used: \(error.description)")
        }
    }

    /// Returns the number of a new client. The focus that a client holds belongs to its number, so that no two clients
    /// of any server have the same.
    func nextClientNumber() -> UInt64 {
        loop.assertOnLoop()
        lastClient += 1
        return lastClient
    }

    /// Lets clients log the daemon in to the content service. Call it before clients connect.
    /// - Parameter account: makes the account, on another thread.
    public func openServiceLogin(
        _ settings: StreamingSettings,
        account: @escaping @Sendable () throws(ServiceLogin.NetworkProblem) -> ServiceAccount
    ) {
        let file = settings.loginFile
        serviceLogin = ServiceLogin(
            settings.service.baseURL, loop: loop, storage: storage,
            isStored: { file.flatMap { FileKind(at: $0) } == .file }, account: account)
    }

    /// Takes the device, and resumes by the configuration.
    public func start() {
        loop.assertOnLoop()
        focus.begin()
        switch ResumeDecision.atStart(
            settings.configuration.resume, hasCurrent: queue.contents.current != nil, position: kept.position,
            wasPlaying: kept.wasPlaying)
        {
        case .startEmpty:
            resumeGuard.openNothing()
            queue.clear()
        case .wait: resumeGuard.openNothing()
        case .resume(let position, let playing): resume(at: position, playing: playing)
        }
        observers.tell(.state)
        lookAtKeptProducts()
        // After resuming: meanwhile the engine opens the file and the device.
        panel?.listen()
        library?.start()
        // Starting takes the most memory: for files, the database and the authorities' certificates.
        spareMemory.giveBack()
    }

    private func resume(at position: Double, playing: Bool) {
        guard let entry = queue.contents.current, let product = queue.contents.product(entry) else { return }
        if resumeGuard.mayOpen(entry) { return queue.resume(at: position, playing: playing) }
        passedOver = entry
        problems.set(
            DaemonProblem.queue,
            "\(product.productId) was skipped: the player ended twice while it was open. Play it to try again, or "
                + "remove it from the queue.")
        queue.pass(over: entry)
        // The guard has not checked the next entry yet.
        guard let next = queue.contents.current, resumeGuard.mayOpen(next) else { return }
        queue.resume(at: 0, playing: playing)
    }

    /// Stops playing for clients and buttons, and writes the remaining changes. Clients may still ask for the status
    /// afterwards and get the last one; their commands do nothing. The caller still owns the player. Idempotent.
    public func shutDown() {
        loop.assertOnLoop()
        // Before the last write, which a slow medium may not finish in time: a stop must not count as a crash.
        resumeGuard.end()
        position.handle(.rested)
        position.stop()
        plays.stop()
        library?.stop()
        serviceLogin?.stop()
        entryProblems.stop()
        spareMemory.stop()
        system.stop()
        player.observeStorage(nil)
        player.offlineEngine?.observeSpace(nil)
        // In this order: the parts below notify the observers, and the panel is one of them.
        observers.removeAll()
        queue.shutDown()
        panel?.stop()
        panel = nil
        keeper.shutDown()
    }

    // MARK: Status

    /// The present status, as it is shown to clients.
    public var status: DaemonStatus {
        var status = DaemonStatus()
        let (engine, contents) = (player.playbackEngine, queue.contents)
        status.playback = queue.playback
        if let current = contents.current, let product = contents.product(current) {
            status.entry = QueueEntry(id: current, product: product)
            status.index = contents.index(of: current)
            status.position = queue.position
            status.context = queue.isAnnounced ? engine.playbackContext : nil
            status.buffered = engine.bufferedSeconds
            status.wait = wait
        }
        status.count = contents.count
        status.device = engine.deviceConfiguration
        status.path = engine.signalPath
        status.volumePercent = volume.percent
        status.maximumVolumePercent = volume.maximumPercent
        status.isMuted = volume.isMuted
        status.isShuffled = contents.isShuffled
        status.repeatMode = contents.repeatMode
        status.focus = focus.level
        status.power = focus.power
        status.link = link
        status.problems = problems.all
        // The engine looks for a card only when it has to play.
        if status.device == nil, engine.deviceProblem == nil, let absence = deviceAbsence() {
            status.problems.append(DaemonProblem(subject: DaemonProblem.device, message: absence))
        }
        return status
    }

    private var wait: DaemonStatus.Wait? {
        if let seconds = queue.secondsUntilRetry { return .service(seconds: seconds) }
        switch player.playbackEngine.streamWait {
        case .network where link?.kind == .offline: return .link
        case .network(let seconds): return .network(seconds: seconds)
        case .service(let seconds): return .service(seconds: seconds)
        case nil: return player.playbackEngine.isWaitingForMedium ? .medium : nil
        }
    }

    private var delay: EntryProblems.Delay? {
        if let wait { return .wait(wait) }
        return player.playbackEngine.decoderBeat == nil ? nil : .decoding
    }

    /// Passes on the new link, or changed routes on the same link.
    public func linkChanged(to link: Link) {
        loop.assertOnLoop()
        player.linkChanged(to: link)
        guard link != self.link else { return }
        self.link = link
        queue.linkChanged()
        observers.tell(.state)
    }

    /// Calls `action` once the present queue and settings are on the medium, or could not be written.
    public func afterWriting(_ action: @escaping () -> Void) { keeper.afterWriting(action) }

    private func receive(_ event: QueueMessage) {
        let current = queue.contents.current.flatMap { id in
            queue.contents.product(id).map { QueueEntry(id: id, product: $0) }
        }
        if let ended = automaticKeeping.handle(event, current: current) { keepPlayed(ended) }
        switch event {
        case .queueChanged, .advanced:
            resumeGuard.currentIs(queue.contents.current)
            forgetPassedOver()
            keeper.keepQueue()
            observers.tell(.queue)
            observers.tell(.state)
        case .currentAnnounced:
            observers.tell(.track)
        case .stateChanged(let state):
            if state != .notPlaying { problems.set(DaemonProblem.privileges, nil) }
            entryProblems.waits(queue.entryWithoutData) { [self] in delay }
            problems.set(DaemonProblem.device, player.playbackEngine.deviceProblem)
            observers.tell(.state)
        case .positionJumped:
            position.handle(.jumped)
            observers.tell(.positionJumped)
        case .rested:
            position.handle(.rested)
        case .failed(let entry, let error):
            Log.warning(error.message)
            let product = queue.contents.product(entry) ?? QueuedProduct(.track, error.mediaProduct?.productId ?? "")
            observers.tell(.failed(QueueEntry(id: entry, product: product), error))
        case .mediumMissing(let error):
            entryProblems.mediumIsMissing(error.map { "\($0.message). It is retried." })
            observers.tell(.state)
        case .serviceAway(let error):
            entryProblems.serviceIsAway(error.map { "\($0.message) It is retried, and playback goes on then." })
            observers.tell(.state)
        case .ended:
            Log.info("the queue has ended")
        case .nothingToHear:
            Log.warning("all entries of the queue are too short to be heard, and it repeats; stopped")
        case .revoked(let device):
            problems.set(
                DaemonProblem.privileges,
                "\(device ?? "another device") plays with the same subscription; playback was paused. Play takes it "
                    + "back.")
        }
        position.scheduleTick()
        plays.handle(event) { [self] in moment }
    }

    /// The playback, for play counts.
    private var moment: PlayCounter.Moment {
        let contents = queue.contents
        let entry = contents.current.flatMap { id in contents.product(id).map { QueueEntry(id: id, product: $0) } }
        let engine = player.playbackEngine
        return PlayCounter.Moment(
            entry: entry, isSounding: queue.playback == .playing && engine.playbackState == .playing,
            duration: queue.isAnnounced ? engine.playbackContext?.duration : nil)
    }

    /// Downloads a played product, after all downloads that the user requested.
    private func keepPlayed(_ product: QueuedProduct) {
        guard settings.configuration.keepsPlayed else { return }
        player.offlineEngine?.offline(
            product.mediaProduct(referenceId: product.productId), isAutomatic: true
        ) { _ in }
    }

    /// Ends the problem of a skipped entry when the entry is played again or removed.
    private func forgetPassedOver() {
        guard let entry = passedOver else { return }
        let contents = queue.contents
        guard contents.current == entry || contents.product(entry) == nil else { return }
        passedOver = nil
        problems.set(DaemonProblem.queue, nil)
    }
}
