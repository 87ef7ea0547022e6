import CLinux
import Testing
import TestSupport
@testable import Platform

@Suite("Event loop: posted work")
struct EventLoopPostTests {
    @Test("runs in the order of posting; what work posts comes after everything posted before it")
    func order() throws {
        let loop = try EventLoop()
        let order = Recorder<String>()
        loop.post {
            order.record("first")
            loop.post {
                order.record("posted by first"); loop.stop()
            }
        }
        loop.post { order.record("second") }
        loop.post { order.record("third") }
        endRunUnlessInTime("the loop") { loop.run() }
        #expect(order.elements == ["first", "second", "third", "posted by first"])
    }

    @Test("from several threads nothing is lost and each thread's order is kept")
    func manyThreads() throws {
        let loop = try EventLoop()
        let received = Recorder<(thread: Int, number: Int)>()
        let threads = try (0..<4).map { thread in
            try NamedThread.start(name: "poster \(thread)") {
                for number in 0..<1000 { loop.post { received.record((thread, number)) } }
            }
        }
        let closer = try NamedThread.start(name: "closer") {
            for thread in threads { thread.joinOrEndRun() }
            loop.stop()
        }
        endRunUnlessInTime("the loop") { loop.run() }
        closer.joinOrEndRun()
        for thread in 0..<4 {
            #expect(received.elements.filter { $0.thread == thread }.map(\.number) == Array(0..<1000))
        }
    }

    @Test("stop lets run what was posted before and keeps what comes later for the next run")
    func stop() throws {
        let loop = try EventLoop()
        let order = Recorder<Int>()
        loop.post { order.record(1) }
        loop.stop()
        loop.post { order.record(2) }
        endRunUnlessInTime("the loop") { loop.run() }
        #expect(order.elements == [1])
        loop.post { order.record(3) }
        loop.stop()
        endRunUnlessInTime("the loop") { loop.run() }
        #expect(order.elements == [1, 2, 3])
    }

    @Test("belongs to the thread that made it until another one runs it")
    func ownThread() throws {
        let loop = try EventLoop()
        #expect(loop.isCurrentThread)
        let inside = Recorder<Bool>()
        loop.post { inside.record(loop.isCurrentThread) }
        loop.stop()
        try NamedThread.start(name: "loop") { loop.run() }.joinOrEndRun()
        #expect(inside.elements == [true])
        #expect(!loop.isCurrentThread)
    }

    @Test("one post is one wake-up; an empty loop has none")
    func wakeUps() throws {
        let loop = try EventLoop()
        let counts = Recorder<Int>()
        let thread = try NamedThread.start(name: "loop") { loop.run() }
        for _ in 0..<5 {
            // Each is posted only when the one before has run: the loop sleeps in between.
            let done = try WakeUp()
            loop.post {
                counts.record(loop.wakeUpCount)
                done.signal()
            }
            #expect(isReadable(done.descriptor, milliseconds: -1))
        }
        loop.stop()
        thread.joinOrEndRun()
        #expect(counts.elements == [1, 2, 3, 4, 5])
        #expect(loop.wakeUpCount == 6)
    }

    @Test("handlers and work are released with the loop")
    func release() throws {
        final class Witness: Sendable {}
        weak var witness: Witness?
        do {
            let object = Witness()
            witness = object
            let loop = try EventLoop()
            let wakeUp = try WakeUp()
            loop.post { _ = object }
            loop.schedule(after: 1_000_000_000) { _ = object }
            try loop.watch(wakeUp.descriptor, for: .readable) { _ in _ = object }
        }
        #expect(witness == nil)
    }
}

@Suite("Event loop: descriptors")
struct EventLoopWatchTests {
    @Test("the handler learns what the descriptor is ready for")
    func readiness() throws {
        let loop = try EventLoop()
        let pipe = try Pipe()
        var seen: [Readiness] = []
        try loop.watch(pipe.input, for: .writable) { ready in
            seen.append(ready)
            loop.unwatch(pipe.input)
            pipe.write("x")
        }
        try loop.watch(pipe.output, for: .readable) { ready in
            seen.append(ready)
            if ready.contains(.readable) {
                #expect(pipe.read() == "x")
                pipe.closeInput()
            } else {
                loop.stop()
                loop.unwatch(pipe.output)
            }
        }
        endRunUnlessInTime("the loop") { loop.run() }
        #expect(seen == [.writable, .readable, .hangUp])
    }

    @Test("a handler that is taken away is not called, even when its descriptor is ready already")
    func unwatch() throws {
        let loop = try EventLoop()
        let wakeUps = [try WakeUp(), try WakeUp()]
        var called = 0
        for wakeUp in wakeUps {
            wakeUp.signal()
            try loop.watch(wakeUp.descriptor, for: .readable) { _ in
                called += 1
                for wakeUp in wakeUps { loop.unwatch(wakeUp.descriptor) }
                loop.stop()
            }
        }
        endRunUnlessInTime("the loop") { loop.run() }
        #expect(called == 1)
    }

    @Test("watching again replaces handler and events")
    func replace() throws {
        let loop = try EventLoop()
        let wakeUp = try WakeUp()
        wakeUp.signal()
        var called: [String] = []
        try loop.watch(wakeUp.descriptor, for: .readable) { _ in called.append("first") }
        try loop.watch(wakeUp.descriptor, for: .readable) { _ in
            called.append("second")
            wakeUp.clear()
            loop.stop()
        }
        endRunUnlessInTime("the loop") { loop.run() }
        #expect(called == ["second"])
    }

    @Test("what cannot be waited for is refused with the system's reason")
    func refused() throws {
        let folder = try ScratchFolder()
        let loop = try EventLoop()
        let file = try File(creating: folder["file"])
        #expect(throws: SystemError(code: EPERM, operation: "epoll_ctl")) {
            try loop.watch(file.descriptor, for: .readable) { _ in }
        }
        #expect(throws: SystemError(code: EBADF, operation: "epoll_ctl")) {
            try loop.watch(-1, for: .readable) { _ in }
        }
    }
}

@Suite("Event loop: signals")
struct EventLoopSignalTests {
    @Test("a signal reaches the handler instead of the process, with its number")
    func signals() throws {
        let received = Recorder<Int32>()
        // On its own thread: the signals stay blocked for the thread that asked for them.
        try NamedThread.start(name: "loop") {
            do throws(SystemError) {
                let loop = try EventLoop()
                try loop.onSignal([SIGUSR1, SIGUSR2]) { signal in
                    received.record(signal)
                    if signal == SIGUSR2 { loop.stop() } else { raise(SIGUSR2) }
                }
                raise(SIGUSR1)
                endRunUnlessInTime("the loop") { loop.run() }
            } catch {
                Issue.record(error)
            }
        }.joinOrEndRun()
        #expect(received.elements == [SIGUSR1, SIGUSR2])
    }
}
