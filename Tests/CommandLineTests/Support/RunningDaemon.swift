import CLinux
import Foundation
import Glibc
import Platform

/// A daemon with a state and a socket of its own, which plays into nothing, and commands to it.
final class RunningDaemon {
    let program: Program
    let daemon: RunningProgram
    var socket: String { program.folder["control"] }

    init(device: String = "null") throws {
        program = try Program()
        let configuration = """
            [audio]
            device = \(device)
            first-volume = 0 dB
            realtime-priority = 0
            [player]
            state = \(program.folder["daemon"])
            [control]
            socket = \(program.folder["control"])
            mode = 0600
            """
        try program.write(Array(configuration.utf8), to: "tonearm.conf")
        daemon = try program.start(["run", "--config", "tonearm.conf"])
        try waitForSocket()
    }

    /// The socket gets its name when it listens.
    private func waitForSocket() throws {
        let notifier = inotify_init1(Int32(0))
        defer { close(notifier) }
        // IN_MOVED_TO
        guard inotify_add_watch(notifier, program.folder.path, 0x80) >= 0 else { throw SystemError.last("watch") }
        while FileKind(at: socket) == nil {
            var change = pollfd(fd: notifier, events: Int16(POLLIN), revents: 0)
            guard poll(&change, 1, 60_000) == 1 else { throw Unexpected("the daemon has not begun to listen") }
            var buffer = [UInt8](repeating: 0, count: 4096)
            _ = read(notifier, &buffer, buffer.count)
        }
    }

    func run(_ words: String...) throws -> Program.Result {
        try program.start(words + ["--socket", socket]).finish()
    }

    func end() throws -> Program.Result {
        daemon.send(SIGTERM)
        return try daemon.finish()
    }
}
