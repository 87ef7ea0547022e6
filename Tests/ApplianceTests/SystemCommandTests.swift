import ApplianceTestSupport
import CLinux
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance

@Suite("Commands of the system")
struct SystemCommandTests {
    @Test("300 requests run one command; another kind runs beside it; the next one runs when it has ended")
    func oneAtATime() throws {
        let folder = try ScratchFolder()
        let (pipe, log) = (folder["pipe"], folder["log"])
        try #require(mkfifo(pipe, 0o600) == 0)
        let loop = try EventLoop()
        let notices = Recorder<String>()
        let commands = SystemCommands(loop: loop, notice: { notices.record($0) }) { command in
            // The first one waits for the test. Its output shows how often each has run.
            command == .networkRestart ? "echo network >>\(log); read line <\(pipe)" : "echo power >>\(log)"
        }
        // Opens at once; written bytes stay until the command reads them.
        let writer = tonearm_open(pipe, O_RDWR | O_CLOEXEC, 0)
        defer { close(writer) }
        for _ in 0..<300 { commands.run(.networkRestart) }
        #expect(notices.elements.count == 2, "that it runs, and once that it is not started again")
        commands.run(.powerOff)
        commands.stopWhenIdle(.powerOff, loop)
        #expect(commands.isRunning(.networkRestart))
        #expect(write(writer, "\n", 1) == 1)
        commands.stopWhenIdle(.networkRestart, loop)
        commands.run(.powerOff)
        commands.stopWhenIdle(.powerOff, loop)
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").sorted()
        #expect(lines == ["network", "power", "power"])
    }

    @Test("A background process of a command does not prevent the next command")
    func backgroundProcess() throws {
        let folder = try ScratchFolder()
        let pipe = folder["pipe"]
        try #require(mkfifo(pipe, 0o600) == 0)
        let writer = tonearm_open(pipe, O_RDWR | O_CLOEXEC, 0)
        defer {
            // In this order, or a process that opens the pipe late would wait for ever.
            unlink(pipe)
            close(writer)
        }
        let loop = try EventLoop()
        let commands = SystemCommands(loop: loop) { _ in "cat \(pipe) >/dev/null 2>&1 &" }
        for _ in 0..<2 {
            commands.run(.powerOff)
            commands.stopWhenIdle(.powerOff, loop)
        }
        #expect(!commands.isRunning(.powerOff))
    }

    @Test("none runs nothing")
    func none() throws {
        let loop = try EventLoop()
        let commands = SystemCommands(loop: loop) { _ in "none" }
        commands.run(.powerOff)
        #expect(!commands.isRunning(.powerOff))
    }
}

extension SystemCommands {
    /// Runs the loop until the command has ended.
    fileprivate func stopWhenIdle(_ command: SystemCommand, _ loop: EventLoop) {
        ended = { if $0 == command { loop.stop() } }
        if isRunning(command) { loop.run() }
        ended = { _ in }
    }
}
