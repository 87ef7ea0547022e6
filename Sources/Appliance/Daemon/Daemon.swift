import Board
import CLinux
import Database
import PCM
import Platform
import Player

/// The appliance: plays its queue, remembers it, and does what buttons and clients ask for. Drives the playback engine
/// through its public interface alone.
///
/// Thread: that of `loop`, everything. `shutDown` is its end: until then it is held by what it is made of.
public final class Daemon: @unchecked Sendable {
    public let loop: EventLoop
    public let player: Player
    public private(set) var conductor: QueueConductor!
    /// The file's values, and over them those that clients have set. What cannot change while running is in force from
    /// the next start on.
    public private(set) var configuration: Configuration

    private static let memoryDelay: Int64 = 1_000_000_000

    let clock: any MonotonicClock
    private let deviceAbsence: () -> String?
    /// As it was at the start: what cannot change while running is in force as it is here.
    private let startConfiguration: Configuration
    private var fileConfiguration: Configuration
    private var clientSettings: [SettingName: String]
    private var dispatcher: CommandDispatcher!
    private var keeper: QueueKeeper!
    private var keptPosition: Double
    private var wasPlaying: Bool
    private var panel: BoardPanel?

    private var schedule: PositionSchedule
    private var positionTimer: TimerToken?
    private var memoryTimer: TimerToken?
    private var focusHolders = FocusHolders()
    private var session = FocusSession()
    private var network: NetworkState?
    private var problems = DaemonProblems()
    private var observers: [(number: UInt64, receive: (DaemonEvent) -> Void)] = []
    private var lastObserver: UInt64 = 0

    /// - Parameters:
    ///   - loop: this thread's.
    ///   - configuration: the file's.
    ///   - state: what was kept, and where to keep what comes.
    ///   - deviceAbsence: why the sound card cannot be had, for a person, or nil; asked while none is open.
    ///   - clock: the loop's.
    public init(
        loop: EventLoop, player: Player, configuration: Configuration, state: consuming ApplianceState,
        deviceAbsence: @escaping () -> String? = { nil },
        clock: any MonotonicClock = SystemMonotonicClock(), random: any RandomSource = SystemRandomSource()
    ) {
        self.loop = loop
        self.player = player
        self.clock = clock
        self.deviceAbsence = deviceAbsence
        fileConfiguration = configuration
        clientSettings = state.settings
        startConfiguration = configuration.overruled(by: state.settings)
        self.configuration = startConfiguration
        keptPosition = state.contents.position
        wasPlaying = state.contents.isPlaying
        schedule = PositionSchedule(at: clock.now())
        conductor = QueueConductor(
            engine: player.playbackEngine, loop: loop, queue: state.contents.queue, random: random
        ) { [self] in receive($0) }
        dispatcher = CommandDispatcher(conductor: conductor, configuration: player.playbackEngineConfig) {
            [self] in run($0)
        }
        keeper = QueueKeeper(state.storage, state.contents.image, loop: loop) { [self] in
            (conductor.queue, conductor.wantsToPlay)
        } report: { [self] error in
            setProblem(DaemonProblem.storage, error.map { "the queue could not be saved: \($0)" })
        }
        for problem in state.problems { setProblem(problem.subject, problem.message) }
        if state.isDamaged { keepMaximumVolume() }
        for name in SettingName.allCases { apply(name) }
        player.observeStorage { [self] problem in
            loop.post { self.setProblem(DaemonProblem.settings, problem) }
        }
    }

    /// The setting of a client may be lost while the volume is not. Nothing becomes louder than it could be before.
    private func keepMaximumVolume() {
        let stored = player.playbackEngineConfig.maximumVolume
        guard !configuration.isSet(.maximumVolume), stored < .full else { return }
        let text = "\(stored.percent) %"
        clientSettings[.maximumVolume] = text
        configuration = fileConfiguration.overruled(by: clientSettings)
        keeper.keep(.maximumVolume, text)
    }

    // MARK: Start and end

    /// Joins the board's buttons, lights and amplifier to the daemon. Before `start`.
    public func attach(_ board: BoardProfile, lines: any LineProvider) {
        panel = BoardPanel(
            board, lines: lines, loop: loop, clock: clock, output: conductor.output,
            perform: { [self] in perform($0) }, report: { [self] in setProblem($0, $1) })
        panel?.start()
    }

    /// Takes the device, and goes on where it was as the configuration says.
    public func start() {
        carryOut(session.begin())
        let hasCurrent = conductor.queue.current != nil
        switch ResumeDecision.atStart(
            configuration.resume, hasCurrent: hasCurrent, position: keptPosition, wasPlaying: wasPlaying)
        {
        case .startEmpty: try? conductor.set([], playing: false)
        case .wait: break
        case .resume(let position, let playing): conductor.resume(at: position, playing: playing)
        }
        showState()
        // Behind the resuming: the engine opens file and device meanwhile.
        panel?.listen()
    }

    /// Falls silent and writes what is still to be written. The last use, but for the player, which stays the caller's.
    public func shutDown() {
        keepPosition(.rested)
        for timer in [positionTimer, memoryTimer] { if let timer { loop.cancel(timer) } }
        (positionTimer, memoryTimer) = (nil, nil)
        player.observeStorage(nil)
        conductor.shutDown()
        panel?.stop()
        keeper.shutDown()
        // They hold this.
        observers = []
        (panel, conductor, dispatcher, keeper) = (nil, nil, nil, nil)
    }

    // MARK: What is going on

    /// All that a client is shown, as it is now.
    public var status: DaemonStatus {
        var status = DaemonStatus()
        let (engine, values, queue) = (player.playbackEngine, player.playbackEngineConfig, conductor.queue)
        status.playback = playback
        if let current = queue.current, let product = queue.product(current) {
            status.entry = QueueEntry(id: current, product: product)
            status.index = queue.index(of: current)
            status.position = conductor.position
            status.context = conductor.isAnnounced ? engine.playbackContext : nil
        }
        status.count = queue.count
        status.device = engine.deviceConfiguration
        status.volumePercent = values.volume.percent
        status.maximumVolumePercent = values.maximumVolume.percent
        status.isMuted = values.isMuted
        status.isShuffled = queue.isShuffled
        status.repeatMode = queue.repeatMode
        status.focus = session.focus
        status.power = session.power
        status.network = network
        status.problems = problems.all
        // The engine misses a card only when it wants to play.
        if status.device == nil, engine.deviceProblem == nil, let absence = deviceAbsence() {
            status.problems.append(DaemonProblem(subject: DaemonProblem.device, message: absence))
        }
        return status
    }

    private var playback: DaemonStatus.Playback {
        guard conductor.queue.current != nil else { return .stopped }
        guard conductor.wantsToPlay else { return .paused }
        let isStalled =
            conductor.isReleased || conductor.waitsForMedium || player.playbackEngine.playbackState == .stalled
        return isStalled ? .stalled : .playing
    }

    /// Calls `receive` with each change from now on.
    /// - Returns: what `ignore` takes to end it.
    public func observe(_ receive: @escaping (DaemonEvent) -> Void) -> UInt64 {
        lastObserver += 1
        observers.append((lastObserver, receive))
        return lastObserver
    }

    public func ignore(_ observer: UInt64) { observers.removeAll { $0.number == observer } }

    private func tell(_ event: DaemonEvent) {
        for observer in observers { observer.receive(event) }
    }

    private func setProblem(_ subject: String, _ message: String?) {
        guard problems.set(subject, message) else { return }
        // The engine has its own words for the device.
        if !subject.utf8.elementsEqual(DaemonProblem.device.utf8) {
            if let message { Log.warning("\(subject): \(message)") } else { Log.notice("\(subject): well again") }
        }
        tell(.problems)
        panel?.show(status)
    }

    // MARK: What buttons and clients ask for

    public func perform(_ command: ApplianceCommand) {
        changingVolume { dispatcher.perform(command) }
    }

    /// - Parameter percent: limited to what is allowed. Whoever sets the volume wants to hear it: this ends a mute.
    public func setVolume(percent: Int) {
        changingVolume {
            player.playbackEngineConfig.isMuted = false
            player.playbackEngineConfig.volume = Volume(percent: percent)
        }
    }

    public func changeVolume(by percent: Int) {
        changingVolume { dispatcher.changeVolume(by: percent) }
    }

    public func setMuted(_ muted: Bool) {
        changingVolume { player.playbackEngineConfig.isMuted = muted }
    }

    private func changingVolume(_ change: () -> Void) {
        let values = player.playbackEngineConfig
        let before = (values.volume, values.maximumVolume, values.isMuted)
        change()
        if (values.volume, values.maximumVolume, values.isMuted) != before { tell(.volume) }
    }

    private func run(_ command: CommandDispatcher.SystemCommand) {
        let line =
            switch command {
            case .powerOff: configuration.powerOffCommand
            case .networkRestart: configuration.networkRestartCommand
            }
        if line.utf8.elementsEqual("none".utf8) { return }
        Log.notice("running \(line)")
        let code = tonearm_run_command(line)
        if code != 0 { Log.error("\(line): \(SystemError(code: code, operation: "posix_spawn", subject: "/bin/sh"))") }
    }

    /// Calls `action` once the queue and the settings, as they are now, are on the medium, or could not be brought
    /// there.
    public func afterWriting(_ action: @escaping () -> Void) { keeper.afterWriting(action) }

    /// Soon, when those who have worked on it have let go of it: what was needed to find and write thousands of entries
    /// would otherwise stay with the process.
    func giveBackMemory() {
        guard memoryTimer == nil else { return }
        memoryTimer = loop.schedule(after: Self.memoryDelay) { [self] in
            memoryTimer = nil
            malloc_trim(0)
        }
    }

    // MARK: Focus

    /// Sets the focus for good.
    public func setFocus(_ level: FocusLevel) {
        focusHolders.lasting = level
        focusChanged()
    }

    /// Sets the focus for as long as the holder is there.
    public func holdFocus(_ level: FocusLevel, by holder: UInt64) {
        focusHolders.hold(level, by: holder)
        focusChanged()
    }

    func isFocusHeld(by holder: UInt64) -> Bool { focusHolders.isHeld(by: holder) }

    /// The holder is gone, or has no wish any more. Without effect when it had none.
    public func releaseFocus(by holder: UInt64) {
        focusHolders.release(by: holder)
        focusChanged()
    }

    public func setPower(_ state: PowerState) {
        guard state != session.power else { return }
        carryOut(session.handle(.power(state)))
        showState()
    }

    /// The network is like this from now on.
    public func networkChanged(_ state: NetworkState) {
        guard state != network else { return }
        network = state
        showState()
    }

    /// Calls `action` once the player has done all that was asked for: after the focus was taken the device is free,
    /// and others can open it.
    public func afterRequests(_ action: @escaping @Sendable () -> Void) {
        conductor.output.afterRequests { [loop] in loop.post(action) }
    }

    private func focusChanged() {
        // Whoever held it may part after the end.
        guard focusHolders.level != session.focus, conductor != nil else { return }
        carryOut(session.handle(.focus(focusHolders.level)))
        showState()
    }

    private func carryOut(_ effects: [FocusSession.Effect]) {
        for effect in effects {
            switch effect {
            case .openDevice:
                conductor.regain()
                carryOut(session.handle(.started))
            case .closeDevice:
                conductor.release()
            }
        }
    }

    // MARK: Configuration

    /// Sets a value above the file's, for good: it is kept with the state.
    /// - Returns: whether it is in force; otherwise it will be from the next start on.
    public func set(_ setting: SettingName, to text: String) throws(SettingError) -> Bool {
        let text = try Configuration.checked(text, for: setting)
        clientSettings[setting] = text
        keeper.keep(setting, text)
        return change(to: fileConfiguration, setting)
    }

    /// Lets the file's value hold again.
    /// - Returns: whether it is in force; otherwise it will be from the next start on.
    public func unset(_ setting: SettingName) -> Bool {
        clientSettings[setting] = nil
        keeper.keep(setting, nil)
        return change(to: fileConfiguration, setting)
    }

    private func change(to file: Configuration, _ setting: SettingName) -> Bool {
        let difference = adopt(file)
        return !difference.needsRestart.contains(setting)
    }

    /// The file was read and has mistakes: what was in force stays so.
    public func reloadFailed(_ mistake: String) {
        setProblem(DaemonProblem.configuration, "not read again: \(mistake)")
    }

    /// Brings another configuration into force as far as that is possible now, and says in the log what is not.
    @discardableResult
    public func reload(_ file: Configuration) -> Configuration.Difference {
        setProblem(DaemonProblem.configuration, nil)
        return adopt(file)
    }

    private func adopt(_ file: Configuration) -> Configuration.Difference {
        let new = file.overruled(by: clientSettings)
        var difference = configuration.difference(to: new)
        let differing = difference.needsRestart
        difference.needsRestart = startConfiguration.difference(to: new).needsRestart
        // Each is told of once, and not again with whatever changes later.
        for name in difference.needsRestart where differing.contains(name) {
            Log.warning(startConfiguration.refusal(name, to: new))
        }
        fileConfiguration = file
        configuration = new
        changingVolume {
            for name in difference.changed { apply(name) }
        }
        tell(.configuration)
        return difference
    }

    private func apply(_ setting: SettingName) {
        let engine = player.playbackEngineConfig
        switch setting {
        case .maximumVolume: engine.maximumVolume = configuration.maximumVolume
        case .normalization: engine.loudnessNormalizationMode = configuration.normalization
        case .preAmp: engine.loudnessNormalizationPreAmp = configuration.preAmp
        case .logLevel: Log.minimumLevel = configuration.logLevel
        // Asked for when they are needed, or from the next start on.
        default: break
        }
    }

    // MARK: What the conductor says

    private func receive(_ event: QueueConductor.Event) {
        switch event {
        case .queueChanged:
            keeper.keepQueue()
            tell(.queue)
            showState()
        case .currentAnnounced:
            tell(.track)
        case .stateChanged:
            setProblem(DaemonProblem.device, player.playbackEngine.deviceProblem)
            showState()
        case .positionJumped:
            keepPosition(.jumped)
            tell(.positionJumped)
        case .rested:
            keepPosition(.rested)
        case .failed(let entry, let error):
            Log.warning(error.message)
            let product = conductor.queue.product(entry) ?? QueuedProduct(.track, error.mediaProduct?.productId ?? "")
            tell(.failed(QueueEntry(id: entry, product: product), error))
        case .mediumMissing(let error):
            setProblem(DaemonProblem.music, error.map { "\($0.message). It is tried again." })
            showState()
        case .ended:
            Log.info("the queue has ended")
        case .revoked(let device):
            Log.notice("\(device ?? "another device") plays with the same subscription; paused")
        }
        scheduleTick()
    }

    private func showState() {
        tell(.state)
        panel?.show(status)
    }

    // MARK: The position

    private func keepPosition(_ event: PositionSchedule.Event) {
        guard let entry = conductor.queue.current else { return }
        conductor.notePosition()
        let seconds = conductor.position
        if schedule.shouldWrite(event, seconds: seconds, of: entry, at: clock.now()) {
            keeper.keep(position: seconds, of: entry)
        }
    }

    private func scheduleTick() {
        let now = clock.now()
        let next = schedule.nextTick(isPlaying: playback == .playing, at: now)
        if let positionTimer { loop.cancel(positionTimer) }
        positionTimer = next.map { time in
            loop.schedule(after: time - now) { [self] in
                positionTimer = nil
                keepPosition(.tick)
                scheduleTick()
            }
        }
    }
}
