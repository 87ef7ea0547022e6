import Foundation
import TestSupport
import Testing

/// A wait for an event that may never happen: then the test fails, and the next one runs.
@Suite("A wait of a test")
struct DeadlineTests {
    /// Seconds.
    private static let limit = 0.2

    private func start(_ command: String, errors: TestProcess.Stream = .kept) throws -> TestProcess {
        try TestProcess("/bin/sh", ["-c", command], errors: errors, within: Self.limit)
    }

    /// Waits for something that does not happen.
    private func expectTimeout(_ wait: () throws -> Void) throws -> TimedOut {
        let error = #expect(throws: TimedOut.self) { try wait() }
        return try #require(error)
    }

    private func isDead(_ identifier: pid_t) -> Bool { kill(identifier, 0) == -1 && errno == ESRCH }

    enum Wait: CaseIterable { case line, errorLine, end, exit, event }

    @Test(
        "for a program that never answers fails with what was awaited, and the program is dead",
        arguments: Wait.allCases)
    func silentProgram(wait: Wait) throws {
        let process = try start("exec sleep 1000", errors: wait == .errorLine ? .pipe : .kept)
        let error = try expectTimeout {
            switch wait {
            case .line: _ = try process.nextLine()
            case .errorLine: _ = try process.nextErrorLine()
            case .end: _ = try process.finish()
            case .exit: try process.waitUntilExit()
            case .event: try process.wait("the file") { false }
            }
        }
        #expect(error.what.contains("sh -c exec sleep 1000") && error.seconds == Self.limit)
        #expect(error.description.hasPrefix("waited 0.2 s for "))
        #expect(isDead(process.identifier))
        #expect(!process.isRunning)
        // The next one is not disturbed.
        #expect(try TestProcess.run("/bin/echo", ["here"]).text == "here\n")
    }

    @Test("for a program's end shows the end of its log, and kills the program's children")
    func log() throws {
        let lines = "i=0; while [ $i -lt 30 ]; do i=$((i + 1)); echo \"complaint $i\" >&2; done"
        let process = try start("\(lines); sleep 1000 & echo $!; echo begun; wait")
        let child = try #require(try process.nextLine().flatMap { pid_t($0) })
        #expect(try process.nextLine() == "begun")
        #expect(!isDead(child))
        let error = try expectTimeout { _ = try process.finish() }
        #expect(error.description.hasSuffix("complaint 29\ncomplaint 30"))
        #expect(!error.description.contains("complaint 9\n"), "the last lines alone")
        #expect(isDead(process.identifier))
        // Reaped by process 1, or a zombie in a container without one that does so.
        try waitUntil("the child's end") { isDead(child) || isZombie(child) }
    }

    private func isZombie(_ identifier: pid_t) -> Bool {
        let text = (try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)) ?? ""
        return text.split(separator: ")").last?.hasPrefix(" Z") ?? false
    }

    @Test("is not needed for a program that goes away with its object")
    func abandoned() throws {
        let identifier = try start("exec sleep 1000").identifier
        #expect(isDead(identifier))
    }

    @Test("for a program's line or end returns it, with the code that a shell sees")
    func answer() throws {
        let process = try TestProcess("/bin/sh", ["-c", "echo one; printf two; echo three >&2; exit 7"])
        #expect(try process.line { $0.hasPrefix("o") } == "one")
        let result = try process.finish()
        #expect(result.code == 7 && result.text == "two" && result.errors == "three\n")
        #expect(try TestProcess("/bin/sh", ["-c", "kill -TERM $$"]).waitUntilExit() == 128 + SIGTERM)
        #expect(throws: Unexpected.self) { _ = try TestProcess("/no/such/program") }
        #expect(throws: Unexpected.self) { try TestProcess("/bin/true").line { _ in true } }
    }

    @Test("for a condition, a signal, a datagram or a writer fails too")
    func others() throws {
        let folder = try ScratchFolder()
        let condition = try expectTimeout {
            try waitUntil("the rain", within: Self.limit, log: "dry\n") { false }
        }
        #expect(condition.description == "waited 0.2 s for the rain; the last lines of the log:\ndry")
        #expect(
            try expectTimeout { try DispatchSemaphore(value: 0).wait(for: "a signal", within: Self.limit) }
                .what == "a signal")
        #expect(mkfifo(folder["pipe"], 0o600) == 0)
        #expect(
            try expectTimeout {
                _ = try openForReading(namedPipe: folder["pipe"], "a writer", until: Deadline(within: Self.limit))
            }.what == "a writer")
        let (descriptor, _) = Loopback.listen()
        defer { close(descriptor) }
        limitWaits(ofSocket: descriptor, to: Self.limit)
        #expect(accept(descriptor, nil, nil) == -1 && errno == EAGAIN)
        withKnownIssue { expectSoon("the rain", within: Self.limit) { false } }
        #expect(expectSoon("nothing") { true })
    }
}
