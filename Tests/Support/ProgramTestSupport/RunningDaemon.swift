import Glibc
import Platform
import TestSupport

/// A daemon with its own state and socket, and commands to it.
public final class RunningDaemon {
    public let program: Program
    public let daemon: RunningProgram
    public var socket: String { program.folder["control"] }

    /// - Parameters:
    ///   - device: sound to `null` is discarded.
    ///   - settings: further sections of the configuration.
    ///   - program: with the state of an earlier daemon.
    public init(device: String = "null", settings: String = "", in program: Program? = nil) throws {
        let program = try program ?? Program()
        self.program = program
        let configuration = """
            [audio]
            device = \(device)
            first-volume = 0 dB
            normalization = off
            realtime-priority = 0
            [player]
            state = \(program.folder["daemon"])
            [control]
            socket = \(program.folder["control"])
            mode = 0600
            \(settings)
            """
        try program.write(Array(configuration.utf8), to: "tonearm.conf")
        daemon = try program.start(["run", "--config", "tonearm.conf"])
        try waitForSocket()
    }

    /// The socket gets its name when it listens.
    private func waitForSocket() throws {
        try daemon.wait("its socket") { FileKind(at: socket) != nil }
    }

    public func run(_ words: String...) throws -> Program.Result { try run(words) }

    public func run(_ words: [String]) throws -> Program.Result {
        try program.start(words + ["--socket", socket]).finish()
    }

    /// Its events from now on, as `RunningProgram.line` reads them. The first line is its status.
    public func watch() throws -> RunningProgram {
        let watch = try program.start(["status", "--watch", "--json", "--socket", socket])
        try watch.line { _ in true }
        return watch
    }

    public func end() throws -> Program.Result {
        daemon.send(SIGTERM)
        return try daemon.finish()
    }
}
