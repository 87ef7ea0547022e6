import Board
import Database
import Platform
import Player

/// The appliance: plays its queue, keeps it, and does what buttons and clients ask for. This type makes the parts and
/// joins them; each part does its own work, and clients use the parts.
///
/// Thread: that of `loop`, everything.
/// `@unchecked Sendable` is safe because other threads only post to `loop`, which alone uses what is in here.
public final class Daemon: @unchecked Sendable {
    public let loop: EventLoop
    public let player: Player
    /// What is played, and in which order.
    public let queue: QueueConductor
    public let volume: VolumeControl
    /// The configuration in force, and what clients set above it.
    public let settings: DaemonSettings
    /// Who may use the sound device.
    public let focus: DeviceFocus
    /// Carries out what buttons and clients ask for in one word.
    public let commands: CommandDispatcher
    /// Everything that is wrong now.
    public let problems: DaemonProblems
    /// Reports what changes.
    public let observers = DaemonObservers()
    let spareMemory: SpareMemory
    let clock: any MonotonicClock

    private let system: SystemCommands
    private let keeper: QueueKeeper
    private let position: PositionKeeper
    private let resumeGuard: ResumeGuard
    private let medium: MediumProblem
    private let deviceAbsence: () -> String?
    private let kept: (position: Double, wasPlaying: Bool)
    private var panel: BoardPanel?
    private var network: NetworkState?
    /// The entry that the start passed over, as long as a problem says so.
    private var passedOver: EntryID?

    /// - Parameters:
    ///   - loop: this thread's.
    ///   - configuration: the file's.
    ///   - state: what was kept, and where to keep what comes.
    ///   - deviceAbsence: why the sound card is missing, for a person, or nil; asked while none is open.
    ///   - clock: the loop's.
    public init(
        loop: EventLoop, player: Player, configuration: Configuration, state: consuming ApplianceState,
        deviceAbsence: @escaping () -> String? = { nil },
        clock: any MonotonicClock = SystemMonotonicClock(), random: any RandomSource = SystemRandomSource()
    ) {
        let observers = observers
        let problems = DaemonProblems { observers.tell(.problems) }
        let volume = VolumeControl(player.playbackEngineConfig) { observers.tell(.volume) }
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
            file: configuration, clientValues: clientValues, engine: player.playbackEngineConfig, volume: volume,
            problems: problems, keep: { keeper.keep($0, $1) }, changed: { observers.tell(.configuration) })
        let system = SystemCommands(loop: loop) { settings.configuration.commandLine(of: $0) }

        self.loop = loop
        self.player = player
        self.clock = clock
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
        resumeGuard = ResumeGuard(folder: state.path, loop: loop)
        medium = MediumProblem(loop: loop) { problems.set(DaemonProblem.music, $0) }
        kept = (state.contents.position, state.contents.isPlaying)
        queue.observe = { [self] in receive($0) }
        player.observeStorage { [self] problem in
            loop.post { self.problems.set(DaemonProblem.settings, problem) }
        }
    }

    // MARK: Start and end

    /// Joins the board's buttons, lights and amplifier to the daemon. Before `start`.
    public func attach(_ board: BoardProfile, lines: any LineProvider) {
        let panel = BoardPanel(
            board, lines: lines, loop: loop, clock: clock, output: queue.output,
            perform: { [commands] in commands.perform($0) }, report: { [problems] in problems.set($0, $1) })
        self.panel = panel
        panel.start()
        observers.add { [self] event in
            if event == .state || event == .problems { panel.show(status) }
        }
    }

    /// Takes the device, and goes on where it was as the configuration says.
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
        // After resuming: the engine opens file and device meanwhile.
        panel?.listen()
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
        // The guard knows nothing against the next one.
        guard let next = queue.contents.current, resumeGuard.mayOpen(next) else { return }
        queue.resume(at: 0, playing: playing)
    }

    /// Stops playing for clients and buttons, and writes what is still to be written. Clients may still ask afterwards
    /// and get what was last true; nothing that they ask for is carried out. The player stays the caller's. Idempotent.
    public func shutDown() {
        loop.assertOnLoop()
        position.handle(.rested)
        position.stop()
        resumeGuard.end()
        medium.stop()
        spareMemory.stop()
        system.stop()
        player.observeStorage(nil)
        // In this order: the parts below report to the observers, and the panel is one of them.
        observers.removeAll()
        queue.shutDown()
        panel?.stop()
        panel = nil
        keeper.shutDown()
    }

    // MARK: What is going on

    /// All that a client is shown, as it is now.
    public var status: DaemonStatus {
        var status = DaemonStatus()
        let (engine, contents) = (player.playbackEngine, queue.contents)
        status.playback = queue.playback
        if let current = contents.current, let product = contents.product(current) {
            status.entry = QueueEntry(id: current, product: product)
            status.index = contents.index(of: current)
            status.position = queue.position
            status.context = queue.isAnnounced ? engine.playbackContext : nil
        }
        status.count = contents.count
        status.device = engine.deviceConfiguration
        status.volumePercent = volume.percent
        status.maximumVolumePercent = volume.maximumPercent
        status.isMuted = volume.isMuted
        status.isShuffled = contents.isShuffled
        status.repeatMode = contents.repeatMode
        status.focus = focus.level
        status.power = focus.power
        status.network = network
        status.problems = problems.all
        // The engine looks for a card only when it is to play.
        if status.device == nil, engine.deviceProblem == nil, let absence = deviceAbsence() {
            status.problems.append(DaemonProblem(subject: DaemonProblem.device, message: absence))
        }
        return status
    }

    /// The network is like this from now on.
    public func networkChanged(_ state: NetworkState) {
        guard state != network else { return }
        network = state
        observers.tell(.state)
    }

    /// Calls `action` once the queue and the settings, as they are now, are on the medium, or could not be written.
    public func afterWriting(_ action: @escaping () -> Void) { keeper.afterWriting(action) }

    private func receive(_ event: QueueMessage) {
        switch event {
        case .queueChanged, .advanced:
            resumeGuard.currentIs(queue.contents.current)
            forgetPassedOver()
            keeper.keepQueue()
            observers.tell(.queue)
            observers.tell(.state)
        case .currentAnnounced:
            observers.tell(.track)
        case .stateChanged:
            medium.waits(queue.entryWithoutData)
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
            medium.isMissing(error.map { "\($0.message). It is retried." })
            observers.tell(.state)
        case .ended:
            Log.info("the queue has ended")
        case .nothingToHear:
            Log.warning("all entries of the queue are too short to be heard, and it repeats; stopped")
        case .revoked(let device):
            Log.notice("\(device ?? "another device") plays with the same subscription; paused")
        }
        position.scheduleTick()
    }

    /// The problem ends when somebody plays the entry again or removes it.
    private func forgetPassedOver() {
        guard let entry = passedOver else { return }
        let contents = queue.contents
        guard contents.current == entry || contents.product(entry) == nil else { return }
        passedOver = nil
        problems.set(DaemonProblem.queue, nil)
    }
}
