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
    public var loop: EventLoop { environment.loop }
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
    package let environment: DaemonEnvironment
    let system: SystemRequests
    /// The index of the music folders, and the stored playlists; nil when the system lacks its threads.
    package private(set) var library: LibraryConductor?
    /// nil without a content service.
    private(set) var serviceLogin: ServiceLogin?

    private let present: PresentStatus
    private let reactions: QueueReactions
    private let offlineProblems: OfflineProblems
    private var panel: BoardPanel?

    /// - Parameters:
    ///   - loop: the loop of this thread.
    ///   - configuration: the configuration of the file.
    ///   - state: the stored state, and its storage.
    ///   - defaultDevice: the device when the configuration names none.
    ///   - deviceAbsence: returns why a device is missing, for the user, or nil; called while none is open.
    ///   - clock: the clock of the loop.
    public init(
        loop: EventLoop, player: Player, configuration: Configuration, state: consuming ApplianceState,
        defaultDevice: String, deviceAbsence: @escaping (String) -> String? = { _ in nil },
        clock: any MonotonicClock = SystemMonotonicClock(), random: any RandomSource = SystemRandomSource()
    ) {
        let observers = observers
        let problems = DaemonProblems { observers.notify(.problems) }
        let volume = VolumeControl(player.playbackEngineConfig, loop: loop) { observers.notify(.volume) }
        let queue = QueueConductor(
            engine: player.playbackEngine, loop: loop, queue: state.contents.queue, clock: clock, random: random)
        let writer = QueueWriter(state.storage, state.contents.image, loop: loop) {
            (queue.contents, queue.wantsToPlay)
        } report: { error in
            problems.set(DaemonProblem.storage, error.map { "the queue could not be saved: \($0)" })
        }
        for problem in state.problems { problems.set(problem.subject, problem.message) }
        let clientValues = state.clientValues(above: configuration, engine: player.playbackEngineConfig)
        for (name, text) in clientValues where state.settings[name] == nil { writer.keep(name, text) }
        let applied = AppliedSettings(player: player, volume: volume, defaultDevice: defaultDevice)
        let settings = DaemonSettings(
            file: configuration, clientValues: clientValues, applied,
            problems: problems, keep: { writer.keep($0, $1) },
            lastGood: LastGoodSettings(state.storage, stored: state.lastGood),
            changed: { observers.notify(.configuration) })
        let system = SystemCommands(loop: loop) { settings.configuration.commandLine(of: $0) }
        let resume = ResumeGuard(folder: state.path, storage: state.storage, loop: loop) {
            let engine = player.playbackEngine
            return engine.playbackState != .playing && engine.decoderBeat != nil
        }
        let plays = PlayCounter(loop: loop, clock: clock)

        self.player = player
        self.problems = problems
        self.volume = volume
        self.queue = queue
        self.settings = settings
        environment = DaemonEnvironment(
            loop: loop, storage: state.storage, clock: clock, random: random, spareMemory: SpareMemory(loop: loop))
        self.system = SystemRequests(system, configuration, environment, problems)
        focus = DeviceFocus(queue) { observers.notify(.state) }
        commands = CommandDispatcher(queue: queue, volume: volume) { system.run($0) }
        present = PresentStatus(player.playbackEngine, queue, volume, focus, problems) {
            deviceAbsence(applied.device(of: settings.configuration))
        }
        reactions = QueueReactions(
            queue, present, problems, observers, writer,
            ResumeAtStart(
                queue, problems, resume, stored: (state.contents.position, state.contents.isPlaying)),
            AutomaticDownloads(player.offlineEngine, settings), plays, environment)
        offlineProblems = OfflineProblems(player.offlineEngine, loop: loop, problems, observers)
        queue.observe = { [reactions] in reactions.receive($0) }
        plays.count = { [self] in library?.count($0) }
        writer.found = { finding in
            problems.set(DaemonProblem.damage, finding.description)
            // Stores all values again, so that the next start is not louder if the maximum was among the lost rows.
            settings.keepAll()
        }
        state.storage.checkIndexes()
        player.observeStorage { [self] problem in
            loop.post { self.problems.set(DaemonProblem.settings, problem) }
        }
        if let problem = player.offlineProblem { problems.set(DaemonProblem.offline, problem) }
        offlineProblems.observe()
    }

    // MARK: Parts of the configuration

    /// Connects the board's buttons, lights and amplifier to the daemon. Call it before `start`.
    public func attach(_ board: BoardProfile, lines: any LineProvider) {
        loop.assertOnLoop()
        let panel = BoardPanel(
            board, lines: lines, loop: loop, clock: environment.clock, output: queue.output,
            perform: { [commands] in commands.perform($0) }, report: { [problems] in problems.set($0, $1) })
        self.panel = panel
        panel.start()
        observers.add { [self] event in
            if event == .state || event == .problems { panel.show(status) }
        }
    }

    /// Opens the library of the configured folders, and the stored playlists. Call it before clients connect.
    /// - Parameter filesGone: called on the thread of a scan after a complete scan that found files missing.
    public func openLibrary(filesGone: @escaping @Sendable (LibraryConductor) -> Void = { _ in }) {
        loop.assertOnLoop()
        let configuration = settings.configuration
        do throws(SystemError) {
            library = try LibraryConductor(
                configuration.libraryFolders, index: "\(configuration.stateFolder)/library.db",
                playlists: configuration.playlistFolder, loop: loop, storage: environment.storage,
                reports: LibraryConductor.Reports(
                    changed: { [observers] in observers.notify(.library($0)) },
                    problem: { [problems] in problems.set(DaemonProblem.library, $0) }, filesGone: filesGone))
        } catch {
            problems.set(DaemonProblem.library, "the library cannot be used: \(error.description)")
        }
    }

    /// Lets clients log the daemon in to the content service. Call it before clients connect.
    /// - Parameter account: makes the account, on another thread.
    public func openServiceLogin(
        _ settings: StreamingSettings,
        account: @escaping @Sendable () throws(ServiceLogin.NetworkProblem) -> ServiceAccount
    ) {
        let file = settings.loginFile
        serviceLogin = ServiceLogin(
            settings.service.baseURL, loop: loop, storage: environment.storage,
            isStored: { file.flatMap { FileKind(at: $0) } == .file }, account: account)
    }

    // MARK: Start and stop

    /// Takes the device, and resumes by the configuration.
    public func start() {
        loop.assertOnLoop()
        focus.begin()
        settings.startIsComplete()
        reactions.resume.start(settings.configuration.resume)
        observers.notify(.state)
        offlineProblems.check()
        system.problems?.start()
        // Called after resuming, because the engine opens the file and the device in the meantime.
        panel?.listen()
        library?.start()
        // Starting takes the most memory: for files, the database and the authorities' certificates.
        environment.spareMemory.giveBack()
    }

    /// Stops playing for clients and buttons, and writes the remaining changes. Clients may still ask for the status
    /// afterwards and get the last one; their commands do nothing. The caller still owns the player. Idempotent.
    public func shutDown() {
        loop.assertOnLoop()
        reactions.stop()
        library?.stop()
        serviceLogin?.stop()
        environment.spareMemory.stop()
        system.commands.stop()
        player.observeStorage(nil)
        offlineProblems.stop()
        system.problems?.stop()
        // The observers are removed first, because the parts below notify them, and the panel is an observer.
        observers.removeAll()
        queue.shutDown()
        panel?.stop()
        panel = nil
        reactions.writer.shutDown()
    }

    // MARK: Status

    /// The current status, as clients see it.
    public var status: DaemonStatus {
        queue.settle()
        return present.status
    }

    /// Notifies the parts of a new link, or of changed routes on the same link.
    public func linkChanged(to link: Link) {
        loop.assertOnLoop()
        player.linkChanged(to: link)
        guard link != present.link else { return }
        present.link = link
        queue.linkChanged()
        observers.notify(.state)
    }

    /// Notifies the parts of another login, or of other tokens of the same login. Another login may end the wait for a
    /// service, as another link may.
    /// - Parameter isRefresh: whether this process has refreshed its login.
    public func loginChanged(isRefresh: Bool = false) {
        loop.assertOnLoop()
        player.loginChanged(isRefresh: isRefresh)
        if !isRefresh { queue.linkChanged() }
    }

    /// Calls `action` once the current queue and settings are on the medium, or could not be written.
    public func afterWriting(_ action: @escaping () -> Void) { reactions.writer.afterWriting(action) }
}
