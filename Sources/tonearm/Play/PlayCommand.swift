import CLinux
import Database
import Network
import Output
import PCM
import Platform
import Player
import Queue

/// `tonearm play`.
struct PlayCommand {
    /// How long the engine may take to stop after a signal, and then to end, in nanoseconds.
    private static let patience: Int64 = 900_000_000

    private let options: PlayOptions
    private let console = Console()

    init(_ words: [String]) throws(UsageError) { options = try PlayOptions(parsing: words) }

    /// Plays all files.
    /// - Returns: the exit code. A signal that ends the program is raised again after the cleanup, and does not return.
    func run() -> Int32 {
        let paths: [String]
        do throws(ServiceAccess.Problem) { paths = try ServiceAccess.expanded(options.paths, streamingSettings) } catch
        {
            for line in error.lines { console.complain(line) }
            return error.exitCode
        }
        let selection = MusicSelection(paths)
        for problem in selection.problems { console.complain(problem.message) }
        if selection.files.isEmpty { return ExitCode.failed }
        let device: OutputDevice
        do throws(OutputDevice.Problem) {
            device = try OutputDevice(options.device, sampleFormat: options.sampleFormat)
        } catch {
            console.complain(error.message)
            return ExitCode.device
        }
        do throws(SystemError) {
            return try play(selection, on: device)
        } catch {
            console.complain(error.description)
            return ExitCode.failed
        }
    }

    private func play(_ selection: MusicSelection, on device: OutputDevice) throws(SystemError) -> Int32 {
        let loop = try EventLoop()
        // Created before any other thread starts, because such a thread would receive the signals.
        let signals = try SignalInput(loop: loop)
        report(to: loop)
        defer { Log.receiver = nil }
        let streaming: StreamingService?
        do throws(NetworkSetupError) { streaming = try openStreaming() } catch {
            console.complain(error.description)
            return ExitCode.failed
        }
        defer { streaming?.stop() }
        let web = streaming?.web ?? openWeb()
        defer { web.stop() }
        guard let player = openPlayer(device, streaming, web) else { return ExitCode.failed }
        if let streaming {
            streaming.source.follow(player.playbackEngineConfig, isMetered: streaming.metering(links))
        }
        let usesNetwork = streaming != nil || selection.files.contains { WebFileAddress.isMeant(by: $0) }
        let monitor = usesNetwork ? watchLink(on: loop, player, streaming, web) : nil
        if let monitor { player.linkChanged(to: monitor.link) }
        defer { monitor?.stop() }
        configure(player.playbackEngineConfig)

        let session: PlaySession
        do throws(PlayQueueError) {
            session = try PlaySession(player: player, files: selection.files, console: console, loop: loop) {
                loop.stop()
            }
        } catch {
            console.complain("\(error)")
            player.shutDown()
            return ExitCode.failed
        }
        session.hasKeys = console.isTerminal && !options.json
        session.presentation = presentation(of: session, loop)
        for problem in selection.problems { session.presentation?.found(problem) }
        let keys = KeyInput(loop: loop) { key in PlayControl(key).map(session.handle) }
        if session.hasKeys { keys.resume() }
        signals.receive = { [console] signal in
            switch signal {
            case SIGTSTP:
                keys.suspend()
                console.endLine()
                raise(SIGSTOP)
            case SIGCONT:
                if session.hasKeys { keys.resume() }
                session.presentation?.changed()
            case SIGWINCH:
                console.forgetLine()
                session.presentation?.changed()
            default:
                session.stop(because: signal)
                // The engine answers at once, unless a device or source blocks it.
                loop.schedule(after: Self.patience) { loop.stop() }
            }
        }
        session.start(at: options.start)
        loop.run()

        session.presentation?.end()
        keys.suspend()
        // A device may be slow to open or close: a second signal ends the program at once.
        signals.release()
        Log.receiver = nil
        if case .signal(let number) = session.outcome {
            SignalInput.end(by: number, afterMilliseconds: Int(Self.patience / 1_000_000))
        }
        session.end()
        player.shutDown()
        if case .signal(let number) = session.outcome { return SignalInput.end(by: number) }
        if session.hasLostDevice { return ExitCode.device }
        return session.hasFailed || !selection.problems.isEmpty ? ExitCode.failed : ExitCode.fine
    }

    /// Prints the engine's log messages like errors, so that they do not destroy the live line.
    private func report(to loop: EventLoop) {
        Log.minimumLevel = .warning
        Log.receiver = { [console] level, message in
            loop.post { console.complain(level == .warning ? "warning: \(message)" : message) }
        }
    }

    private var links: LinkSettings { LinkSettings(service: options.service) }

    /// - Returns: nil when the kernel does not allow it. A retry then waits for its full time.
    private func watchLink(
        on loop: EventLoop, _ player: Player, _ streaming: StreamingService?, _ web: WebFiles
    ) -> LinkMonitor? {
        do throws(SystemError) {
            return try LinkMonitor(links, loop: loop) {
                streaming?.linkChanged(to: $0)
                web.linkChanged(to: $0)
                player.linkChanged(to: $0)
            }
        } catch {
            return nil
        }
    }

    // MARK: The player

    /// - Returns: nil without a service.
    private var streamingSettings: StreamingSettings? {
        guard let url = options.service else { return nil }
        var settings = StreamingSettings(service: ServiceSettings(baseURL: url))
        settings.tokenFile = options.tokenFile
        settings.loginFolder = StateFolder.path
        settings.authorities = options.authorities
        return settings
    }

    /// - Returns: nil without a service.
    private func openStreaming() throws(NetworkSetupError) -> StreamingService? {
        guard let settings = streamingSettings else { return nil }
        return try StreamingService(settings, clock: clock)
    }

    /// Returns the web files of a player without a service.
    private func openWeb() -> WebFiles {
        var settings = NetworkSettings(clock: clock)
        settings.extraCAFile = options.authorities
        return WebFiles(settings)
    }

    private var clock: TrustedCertificateClock {
        TrustedCertificateClock(TrustedClock(store: nil), released: tonearmReleased)
    }

    private func openPlayer(_ device: OutputDevice, _ streaming: StreamingService?, _ web: WebFiles) -> Player? {
        var output = RendererSettings(device: device.name, sampleFormat: options.sampleFormat)
        output.bufferMilliseconds = options.bufferMilliseconds
        output.periodCount = options.periodCount
        output.sampleRates.fixed = options.sampleRate
        output.sendsDSD = options.sendsDSD
        var settings = PlayerSettings(output: output)
        settings.storesOnlyVolume = true
        settings.streaming = streaming
        if Self.hasNoAmplifier(device.name) { settings.firstVolume = .full }
        do throws(PlayerError) {
            let storage = try Player.openStorage(StateFolder.path)
            settings.storage = storage
            let files = LocalFiles(loudness: MeasuredLoudness(storage))
            let player = try Player(
                settings: settings, source: SourceRouter(local: files, service: streaming?.source, web: web))
            if let problem = player.storageProblem {
                console.complain("warning: the volume will not be remembered: \(problem)")
            }
            return player
        } catch {
            // Playing matters more than the last volume.
            console.complain("warning: the volume will not be remembered: \(error.message)")
        }
        settings.storage = nil
        do throws(PlayerError) {
            return try Player(settings: settings, source: SourceRouter(service: streaming?.source, web: web))
        } catch {
            console.complain(error.message)
            return nil
        }
    }

    /// Whether the device is silent: alsa-lib's plug-ins for files and `null`.
    private static func hasNoAmplifier(_ device: String) -> Bool {
        device.utf8.elementsEqual("null".utf8) || device.utf8.starts(with: "file:".utf8)
    }

    private func configure(_ configuration: PlaybackEngineConfig) {
        configuration.loudnessNormalizationMode = options.normalization
        configuration.loudnessNormalizationPreAmp = options.preAmp
        if let volume = options.volume {
            configuration.isMuted = false
            configuration.volume = Volume(percent: volume)
            let actual = configuration.volume.percent
            if actual < volume { console.complain("warning: the volume is limited to \(actual) %") }
        }
        if configuration.isMuted || configuration.volume == .muted {
            console.complain("warning: the volume is 0 %, nothing will be heard; raise it with --volume")
        }
    }

    private func presentation(of session: PlaySession, _ loop: EventLoop) -> (any Presentation)? {
        if options.json {
            return JSONPresentation(console: console, loop: loop, now: { session.now }) {
                session.stop(because: SIGPIPE)
            }
        }
        return console.isTerminal ? LinePresentation(console: console, loop: loop) { session.now } : nil
    }
}
