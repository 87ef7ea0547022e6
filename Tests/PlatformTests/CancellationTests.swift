import CLinux
import Testing
import TestSupport
@testable import Platform

@Suite("Cancellation")
struct CancellationTests {
    @Test("ends a wait without limit, of every thread that waits")
    func interrupts() throws {
        let cancellation = try Cancellation()
        let outcomes = Recorder<Bool>()
        let threads = try (0..<3).map { _ in
            try NamedThread.start(name: "worker") { outcomes.record(cancellation.wait(milliseconds: -1)) }
        }
        cancellation.cancel()
        for thread in threads { thread.joinOrEndRun() }
        #expect(outcomes.elements == [true, true, true])
    }

    @Test("ends a wait for a descriptor that never becomes ready")
    func interruptsDescriptor() throws {
        let cancellation = try Cancellation()
        let pipe = try Pipe()
        let outcomes = Recorder<Cancellation.Outcome>()
        let thread = try NamedThread.start(name: "worker") {
            if let outcome = try? cancellation.wait(for: pipe.output, .readable, milliseconds: -1) {
                outcomes.record(outcome)
            }
        }
        cancellation.cancel()
        thread.joinOrEndRun()
        #expect(outcomes.elements == [.cancelled])
    }

    @Test("stays; cancelling again changes nothing")
    func stays() throws {
        let cancellation = try Cancellation()
        #expect(!cancellation.isCancelled)
        #expect(!cancellation.wait(milliseconds: 0))
        #expect(!isReadable(cancellation.descriptor, milliseconds: 0))
        for _ in 0..<2 {
            cancellation.cancel()
            #expect(cancellation.isCancelled)
            #expect(endRunUnlessInTime("a cancelled wait") { cancellation.wait(milliseconds: -1) })
            #expect(isReadable(cancellation.descriptor, milliseconds: 0))
        }
    }

    @Test("a wait returns readiness, hang-up and timeout; a cancel takes precedence")
    func outcomes() throws {
        let cancellation = try Cancellation()
        let pipe = try Pipe()
        func wait(_ descriptor: Int32, _ events: Readiness) throws -> Cancellation.Outcome {
            try cancellation.wait(for: descriptor, events, milliseconds: 0)
        }
        #expect(try wait(pipe.output, .readable) == .timedOut)
        #expect(try wait(pipe.input, .writable) == .ready(.writable))
        pipe.write("x")
        #expect(try wait(pipe.output, .readable) == .ready(.readable))
        pipe.closeInput()
        #expect(try wait(pipe.output, .readable) == .ready([.readable, .hangUp]))
        #expect(throws: SystemError(code: EBADF, operation: "poll")) { try wait(.max, .readable) }
        cancellation.cancel()
        #expect(try wait(pipe.output, .readable) == .cancelled)
    }

    @Test("a time is waited out, never cut short")
    func time() throws {
        let clock = SystemMonotonicClock()
        let cancellation = try Cancellation()
        let start = clock.now()
        #expect(!cancellation.wait(milliseconds: 20))
        #expect(clock.now() - start >= 20_000_000)
    }
}
