import Appliance
import Board
import CLinux
import Control
import Database
import MPD
import Network
import Output
import Platform
import Player

/// `tonearm run`: the daemon, until a signal ends it.
struct RunCommand {
    private static let options: [Arguments.Option] = [.init("--config", value: "FILE")]

    /// Why the daemon cannot start.
    private struct Failure: Error {
        var lines: [String]
        var exitCode = ExitCode.failed
    }

    /// How long the player and the last write may take, in milliseconds. A debug build reads it from
    /// TONEARM_STOP_LIMIT, for tests on a machine that is too busy to end in time.
    private static let playerPatience: Int = {
        #if DEBUG
            if let text = getenv("TONEARM_STOP_LIMIT"), let limit = Int(String(cString: text)) { return limit }
        #endif
        return 1500
    }()

    private let file: ConfigurationFile

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: Self.options)
        if let operand = arguments.operands.first { throw UsageError("\(operand): run takes no operand.") }
        file = ConfigurationFile(arguments.value(of: "--config"))
    }

    /// - Returns: the exit code.
    func run() -> Int32 {
        do throws(Failure) {
            try serve()
            return ExitCode.fine
        } catch {
            for line in error.lines { Log.error(line) }
            return error.exitCode
        }
    }

    private func serve() throws(Failure) {
        var settings = StartSettings(file)
        let state = try openState(&settings)
        let lastGood = state.lastGood
        settings.settle(lastGood)
        let loop: EventLoop
        do throws(SystemError) { loop = try EventLoop() } catch { throw Failure(lines: [error.description]) }
        // Created before any other thread starts, because such a thread would receive the signals.
        let signals = Signals()
        do throws(SystemError) { try signals.listen(on: loop) } catch { throw Failure(lines: [error.description]) }
        let time = StoredTrustedTime(state.storage)
        defer { time.close() }
        let clock = TrustedClock(store: time)
        let streaming = openStreaming(&settings, state, clock)
        defer { streaming?.stop() }
        let written = settings.configuration
        let inForce = state.inForce(written)
        let board = settings.board
        Log.minimumLevel = written.logLevel
        for notice in written.notes.map({ $0.description }) + (board?.notices ?? []) { Log.warning(notice) }
        let defaultDevice = Self.card(of: board) ?? DeviceName.automatic
        let device = inForce.device ?? defaultDevice
        let certificateClock = TrustedCertificateClock(clock, released: tonearmReleased)
        let web = streaming?.web ?? inForce.webFiles(certificateClock, linkSettings(inForce, board))
        defer { web.stop() }
        let player = try openPlayer(inForce, board, device, state.storage, streaming, web, clock)
        streaming?.start()
        let daemon = Daemon(
            loop: loop, player: player, configuration: written, state: state, defaultDevice: defaultDevice,
            deviceAbsence: { DeviceName.absence(of: $0) })
        let login = watchLogin(inForce, loop, daemon)
        defer { login?.stop() }
        if !settings.mistakes.isEmpty { daemon.settings.startedWithMistakes(settings.mistakes) }
        if let service = inForce.streamingSettings {
            daemon.openServiceLogin(service) { () throws(ServiceLogin.NetworkProblem) in
                do throws(NetworkSetupError) {
                    return try ServiceAccount(service, clock: certificateClock)
                } catch {
                    throw ServiceLogin.NetworkProblem(message: error.description)
                }
            }
        }
        do throws(Failure) {
            daemon.openLibrary(filesGone: MPDStickers.followFiles)
            let server = try openSocket(daemon, lastGood)
            serve(daemon, server, board, device, streaming, web, signals)
        } catch {
            daemon.shutDown()
            player.shutDown()
            throw error
        }
        // The last write of the queue and the position is still running. A device may be slow to open or close, and a
        // medium slow to write. Both get a limited time, and a second signal ends the program at once. Data that is not
        // on the medium by then is lost, as in a power cut.
        signals.release()
        SignalInput.end(by: SIGTERM, afterMilliseconds: Self.playerPatience)
        player.shutDown()
    }

    /// Runs until a signal ends it.
    private func serve(
        _ daemon: Daemon, _ server: JSONSocketServer?, _ board: BoardProfile?, _ device: String,
        _ streaming: StreamingService?, _ web: WebFiles, _ signals: Signals
    ) {
        let mpd = MPDServer.open(daemon)
        let page = WebServer.open(daemon, version: tonearmVersion)
        if let board { daemon.attach(board, lines: GPIOLines()) }
        let network = watchLink(board, daemon, streaming, web)
        daemon.start()
        let servers = AnnouncedServers(
            mpdPort: mpd?.port, webPort: page?.port, isWebSecure: page?.isSecure ?? false,
            daemon.settings.configuration)
        let announcement = ServerAnnouncement.open(daemon, servers)
        let watchdog = ServiceSupervisor.ofThisProcess.map { Watchdog($0, daemon) }
        watchdog?.start()
        Log.notice("tonearm \(tonearmVersion) is ready")
        if let absence = DeviceName.absence(of: device) { Log.warning(absence) }
        signals.reload = {
            watchdog?.reloads()
            reload(daemon)
            watchdog?.reloaded()
        }
        daemon.loop.run()
        watchdog?.stop()
        network?.stop()
        announcement?.stop()
        server?.stop()
        mpd?.stop()
        page?.close()
        daemon.shutDown()
        // A cover may be on a slow medium: everything else has ended by now.
        page?.stop()
    }

    // MARK: The parts

    /// The card that the profile names. A DAC on the header names none: `auto` prefers a USB DAC.
    private static func card(of board: BoardProfile?) -> String? {
        guard let board, !board.isSoundOfDAC else { return nil }
        return board.sound.map { DeviceName.card(among: $0.cards) }
    }

    private func openState(_ settings: inout StartSettings) throws(Failure) -> ApplianceState {
        let folder = settings.findState()
        do throws(ApplianceState.Problem) {
            return try ApplianceState(folder, servers: [MPDStickers.schema, WebServer.schema])
        } catch {
            let lines = settings.mistakes + [error.description]
            // Another start would find the same newer file or the same mistakes, so the unit file does not restart on
            // this code.
            if case .newerVersion = error { throw Failure(lines: lines, exitCode: ExitCode.configuration) }
            throw Failure(
                lines: lines, exitCode: settings.mistakes.isEmpty ? ExitCode.failed : ExitCode.configuration)
        }
    }

    private func openPlayer(
        _ configuration: Configuration, _ board: BoardProfile?, _ device: String, _ storage: StorageThread,
        _ streaming: StreamingService?, _ web: WebFiles, _ clock: TrustedClock
    ) throws(Failure) -> Player {
        var settings = configuration.playerSettings(device: device, sound: board.map { $0.sound ?? .ofAnyCard })
        settings.storage = storage
        openOfflining(&settings, configuration, streaming, clock, storage)
        settings.streaming = streaming
        if streaming != nil { settings.events = configuration.eventSettings(version: tonearmVersion, clock: clock) }
        let links = linkSettings(configuration, board)
        let isLinked: @Sendable () -> Bool = { !Link.current(links).isOffline }
        web.follow(settings.offlineMode, isLinked: isLinked)
        let source = SourceRouter(
            local: LocalFiles(loudness: MeasuredLoudness(storage)), service: streaming?.source, web: web,
            copies: settings.offlining?.source, offlineMode: settings.offlineMode, isLinked: isLinked)
        do throws(PlayerError) {
            let player = try Player(settings: settings, source: source)
            if let streaming {
                streaming.source.follow(player.playbackEngineConfig, isMetered: streaming.metering(links))
                streaming.follow(settings.offlineMode)
            }
            return player
        } catch {
            throw Failure(lines: [error.message])
        }
    }

    /// Opens the content service. If its settings cannot be used, those of the last good start replace them; if there
    /// are none, music plays without a service.
    /// - Returns: nil without a content service.
    private func openStreaming(
        _ settings: inout StartSettings, _ state: borrowing ApplianceState, _ clock: TrustedClock
    ) -> StreamingService? {
        while true {
            do throws(NetworkSetupError) {
                return try openStreaming(state.inForce(settings.configuration), settings.board, clock, state.storage)
            } catch {
                if !settings.replaceService(because: error.description) { return nil }
            }
        }
    }

    private func openStreaming(
        _ configuration: Configuration, _ board: BoardProfile?, _ clock: TrustedClock, _ storage: StorageThread
    ) throws(NetworkSetupError) -> StreamingService? {
        guard var settings = configuration.streamingSettings else { return nil }
        settings.links = linkSettings(configuration, board)
        let clock = TrustedCertificateClock(clock, released: tonearmReleased)
        return try StreamingService(settings, clock: clock, storage: storage)
    }

    /// Opens the offline copies, if there is a content service. If that fails, music plays without them, and clients
    /// get the reason.
    private func openOfflining(
        _ player: inout PlayerSettings, _ configuration: Configuration, _ streaming: StreamingService?,
        _ clock: TrustedClock, _ storage: StorageThread
    ) {
        guard let streaming, let settings = configuration.offlineSettings else { return }
        do throws(PlayerError) {
            player.offlining = try Offlining(
                settings, streaming, storage: storage, clock: clock, keyFolder: configuration.stateFolder)
        } catch {
            player.offlineProblem = "there can be no offline copies: \(error.message)"
        }
    }

    /// Opens the socket, before any playback: an error ends the start. If the file's settings of it cannot be used,
    /// the socket is that of the last good start.
    /// - Returns: nil without a socket.
    private func openSocket(_ daemon: Daemon, _ lastGood: Configuration?) throws(Failure) -> JSONSocketServer? {
        let configuration = daemon.settings.configuration
        do throws(SocketFileError) {
            return try openSocket(daemon, as: configuration)
        } catch {
            let mistake = error.description
            if let lastGood, !lastGood.hasSocket(of: configuration) {
                do throws(SocketFileError) {
                    let server = try openSocket(daemon, as: lastGood)
                    daemon.settings.startedWithoutSocket(mistake)
                    return server
                } catch {}
            }
            throw Failure(lines: [mistake])
        }
    }

    private func openSocket(_ daemon: Daemon, as configuration: Configuration) throws(SocketFileError)
        -> JSONSocketServer?
    {
        guard let path = configuration.socketPath else { return nil }
        let server = JSONSocketServer(
            daemon: daemon, path: path, mode: configuration.socketMode, group: configuration.socketGroup,
            clientLimit: configuration.clientLimit, version: tonearmVersion)
        try server.start()
        daemon.observers.add { event in
            if event == .configuration { server.clientLimit = daemon.settings.configuration.clientLimit }
        }
        return server
    }

    private func linkSettings(_ configuration: Configuration, _ board: BoardProfile?) -> LinkSettings {
        LinkSettings(
            meteredInterfaces: board?.cellularInterfaces ?? [],
            unmeteredInterfaces: board?.unmeteredInterfaces ?? [],
            service: configuration.streamingSettings?.service.baseURL)
    }

    /// - Returns: nil when the kernel does not allow it; the status has no network then.
    private func watchLink(
        _ board: BoardProfile?, _ daemon: Daemon, _ streaming: StreamingService?, _ web: WebFiles
    ) -> LinkMonitor? {
        do throws(SystemError) {
            let links = linkSettings(daemon.settings.configuration, board)
            let monitor = try LinkMonitor(links, loop: daemon.loop) {
                streaming?.routesChanged()
                web.routesChanged()
                daemon.linkChanged(to: $0)
            } changed: {
                streaming?.linkChanged(to: $0)
                web.linkChanged(to: $0)
                daemon.linkChanged(to: $0)
            }
            daemon.linkChanged(to: monitor.link)
            return monitor
        } catch {
            Log.warning("the link is not watched: \(error)")
            return nil
        }
    }

    /// - Returns: nil without a login, and when the kernel does not allow it: after a login, the queue, downloads and
    ///   events then wait for their next attempt.
    private func watchLogin(_ configuration: Configuration, _ loop: EventLoop, _ daemon: Daemon) -> FileMonitor? {
        guard let service = configuration.streamingSettings, let file = service.loginFile else { return nil }
        do throws(SystemError) {
            return try FileMonitor(file, loop: loop) { daemon.loginChanged(isRefresh: service.isOwnRefresh) }
        } catch {
            Log.warning("the login is not watched: \(error)")
            return nil
        }
    }

    /// Reloads the configuration. Lines with mistakes change nothing.
    private func reload(_ daemon: Daemon) {
        var (reading, mistakes) = file.readAround()
        for note in reading.configuration.notes { Log.warning(note.description) }
        var kept: [SettingName] = []
        let board = ConfiguredBoard(reading.configuration)
        mistakes += board.mistakes
        if !board.hasProfile { kept.append(.profile) }
        for line in mistakes { Log.error(line) }
        daemon.settings.reload(reading, mistakes: mistakes, keeping: kept)
        Log.notice("\(file.path) was read again")
    }
}

/// The signals of the daemon.
///
/// Thread: the loop's.
private final class Signals {
    private static let ending = [SIGTERM, SIGINT]

    var reload: () -> Void = {}

    func listen(on loop: EventLoop) throws(SystemError) {
        // A client that disconnects is an error of write(2).
        tonearm_ignore_signal(SIGPIPE)
        try loop.onSignal(Self.ending + [SIGHUP]) { [self] signal in
            if signal == SIGHUP { reload() } else { loop.stop() }
        }
    }

    /// Restores the default action of the ending signals.
    func release() { tonearm_release_signals(Self.ending, Int32(Self.ending.count)) }
}
