import CLinux
import Platform

/// Runs the configured commands of the system, at most one of a kind at a time.
///
/// Thread: the daemon's.
public final class SystemCommands {
    private struct Running {
        let command: SystemCommand
        /// Reports a hang-up when the command has ended.
        let descriptor: Int32
        /// Whether a repeated request was logged meanwhile.
        var isReported = false
    }

    private let loop: EventLoop
    private let notice: (String) -> Void
    private let line: (SystemCommand) -> String
    private var running: [Running] = []
    /// Called when a command has ended.
    var ended: (SystemCommand) -> Void = { _ in }

    /// - Parameters:
    ///   - notice: writes a line into the log.
    ///   - line: the shell command line of a command; `none` for nothing.
    public init(
        loop: EventLoop, notice: @escaping (String) -> Void = { Log.notice($0) },
        line: @escaping (SystemCommand) -> String
    ) {
        self.loop = loop
        self.notice = notice
        self.line = line
    }

    /// Starts the command, unless one of its kind still runs.
    public func run(_ command: SystemCommand) {
        loop.assertOnLoop()
        let line = line(command)
        if line.utf8.elementsEqual("none".utf8) { return }
        if let index = running.firstIndex(where: { $0.command == command }) {
            if !running[index].isReported { notice("\(line): still running; not started a second time") }
            running[index].isReported = true
            return
        }
        notice("running \(line)")
        var descriptor: Int32 = -1
        let code = tonearm_run_command(line, &descriptor)
        if code != 0 {
            return Log.error("\(line): \(SystemError(code: code, operation: "posix_spawn", subject: "/bin/sh"))")
        }
        watch(Running(command: command, descriptor: descriptor))
    }

    func isRunning(_ command: SystemCommand) -> Bool { running.contains { $0.command == command } }

    /// Forgets the running commands. They continue.
    func stop() {
        for command in running { end(command) }
    }

    private func watch(_ command: Running) {
        do throws(SystemError) {
            try loop.watch(command.descriptor, for: .readable) { [self] _ in end(command) }
            running.append(command)
        } catch {
            Log.warning("the end of a command cannot be seen: \(error)")
            close(command.descriptor)
        }
    }

    private func end(_ command: Running) {
        loop.unwatch(command.descriptor)
        close(command.descriptor)
        running.removeAll { $0.descriptor == command.descriptor }
        ended(command.command)
    }
}
