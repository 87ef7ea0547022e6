import CLinux
import Output
import PCM
import Platform
import Player

/// `tonearm status`.
struct StatusCommand {
    private let common: DaemonCommand
    private let watches: Bool

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: DaemonCommand.options + [.init("--watch")])
        common = DaemonCommand(arguments)
        watches = arguments.has("--watch")
        if let word = arguments.operands.first { throw UsageError("status takes no \(word).") }
    }

    func run() -> Int32 {
        if watches { return watch() }
        return common.run { connection throws(DaemonFailure) in
            common.show(try connection.ask("status")) { StatusText($0).lines.joined(separator: "\n") }
        }
    }

    // MARK: Watching

    private func watch() -> Int32 {
        do throws(SystemError) {
            let loop = try EventLoop()
            let signals = try SignalInput(loop: loop)
            let connection: DaemonConnection
            let reply: DaemonConnection.Reply
            do throws(DaemonFailure) {
                connection = try common.connect()
                let names = ["state", "track", "queue", "volume", "position", "problems", "failed"]
                reply = try connection.ask("subscribe", [.init("events", .array(names.map { .string($0) }))])
            } catch {
                return common.fail(error)
            }
            let watch = StatusWatch(reply, connection, common, loop)
            signals.receive = { watch.receive(signal: $0) }
            try loop.watch(connection.descriptor, for: .readable) { _ in watch.receive() }
            // Events may have arrived with the reply.
            watch.deliver()
            loop.run()
            signals.release()
            return watch.finish()
        } catch {
            common.console.complain(error.description)
            return ExitCode.failed
        }
    }
}

/// Shows the daemon's status while it changes: a live line on a terminal, JSON lines otherwise.
///
/// Thread: the main thread.
/// `@unchecked Sendable` is safe because the main thread alone uses it.
private final class StatusWatch: @unchecked Sendable {
    private enum Outcome {
        case signal(Int32)
        case failure(DaemonFailure)
    }

    private let connection: DaemonConnection
    private let common: DaemonCommand
    private let loop: EventLoop
    private let isLive: Bool
    /// The members of the status; each event updates some of them.
    private var status: JSONValue
    private var outcome: Outcome?

    private var console: Console { common.console }

    init(_ reply: DaemonConnection.Reply, _ connection: DaemonConnection, _ common: DaemonCommand, _ loop: EventLoop) {
        self.connection = connection
        self.common = common
        self.loop = loop
        status = reply.value
        isLive = common.console.isTerminal && !common.json
        if isLive { draw() } else { write(reply.line) }
    }

    func receive() {
        do throws(DaemonFailure) { try connection.receive() } catch { end(.failure(error)) }
        deliver()
    }

    /// Shows the received events.
    func deliver() {
        while outcome == nil || isFailed, let line = connection.takeLine() {
            if !isLive {
                write(line)
                continue
            }
            do throws(DaemonFailure) { update(try DaemonConnection.parse(line)) } catch { end(.failure(error)) }
        }
    }

    private var isFailed: Bool { if case .failure = outcome { true } else { false } }

    func receive(signal: Int32) {
        switch signal {
        case SIGTSTP:
            console.endLine()
            raise(SIGSTOP)
        case SIGCONT, SIGWINCH:
            console.forgetLine()
            if isLive { draw() }
        default: end(.signal(signal))
        }
    }

    /// - Returns: the exit code. A signal is raised again, and does not return.
    func finish() -> Int32 {
        console.endLine()
        switch outcome {
        case .failure(let failure): return common.fail(failure)
        case .signal(let number): return SignalInput.end(by: number)
        case nil: return ExitCode.fine
        }
    }

    private func end(_ outcome: Outcome) {
        self.outcome = outcome
        loop.unwatch(connection.descriptor)
        loop.stop()
    }

    private func write(_ line: String) {
        if !console.print(line) { end(.signal(SIGPIPE)) }
    }

    private func update(_ event: JSONValue) {
        if event["event"]?.string == "failed" {
            console.complain("\(event["file"]?.string ?? ""): \(event["message"]?.string ?? "")")
            return
        }
        for member in event.members ?? [] where member.name != "event" { status[member.name] = member.value }
        draw()
    }

    private func draw() {
        guard status["file"]?.string != nil else {
            let reasons = [status["count"] == 0 ? "the queue is empty" : nil, NowPlaying.problem(of: status)]
            return console.draw(StatusLine.stopped(reasons.compactMap { $0 }, columns: console.columns))
        }
        console.draw(StatusLine(NowPlaying(status: status)).text(columns: console.columns))
    }
}

extension NowPlaying {
    /// The values of the daemon's status.
    init(status: JSONValue) {
        func integer(_ value: JSONValue?) -> Int? { value?.integer.flatMap { Int(exactly: $0) } }
        let file = status["file"]?.string ?? ""
        var context = PlaybackContext(productId: file, playbackSessionId: "", referenceId: "")
        context.title = status["title"]?.string
        context.artist = status["artist"]?.string
        context.duration = status["duration"]?.number
        context.audioSampleRate = integer(status["format"]?["sampleRate"])
        context.audioBitDepth = integer(status["format"]?["bitDepth"])
        context.convertedSampleRate = integer(status["format"]?["convertedSampleRate"])
        let state: PlaybackState =
            switch status["state"]?.string {
            case "playing": .playing
            case "stalled": .stalled
            default: .notPlaying
            }
        self.init(
            file: file, context: context, state: state, position: status["position"]?.number,
            device: DeviceConfiguration(status: status["device"]), path: SignalPath(status: status["path"]),
            volume: status["muted"]?.boolean == true ? 0 : integer(status["volume"]) ?? 100,
            problem: state == .playing ? nil : Self.problem(of: status))
    }

    /// The likely reason why it does not play, or else the first problem.
    fileprivate static func problem(of status: JSONValue) -> String? {
        let problems = status["problems"]?.elements ?? []
        for subject in ["device", "music"] {
            let problem = problems.first { $0["subject"]?.string == subject }
            if let message = problem?["message"]?.string { return message }
        }
        if let level = status["focus"]?.string, level == "none" || level == "background" {
            return "the focus is \(level)"
        }
        return problems.first.map { "\($0["subject"]?.string ?? ""): \($0["message"]?.string ?? "")" }
    }
}

extension SignalPath {
    /// The path in the daemon's status; nil while no device is open.
    init?(status: JSONValue?) {
        guard let changes = status?["changes"]?.elements else { return nil }
        self.init(
            changes.compactMap { $0.string.flatMap { Change(named: $0) } },
            isDSDOverPCM: status?["dsdOverPCM"]?.boolean ?? false)
    }
}

extension DeviceConfiguration {
    /// The device in the daemon's status, if known; nil while none is open.
    fileprivate init?(status: JSONValue?) {
        guard let status, let name = status["name"]?.string, let channels = status["channels"]?.integer,
            let format = SampleFormat.allCases.first(where: { "\($0.name)" == status["sampleFormat"]?.string })
        else { return nil }
        self.init(
            device: name, sampleRate: Int(clamping: status["sampleRate"]?.integer ?? 0),
            channelCount: Int(clamping: channels), sampleFormat: format, significantBits: 0, bufferFrames: 0,
            periodFrames: 0, memoryMapped: false)
    }
}
