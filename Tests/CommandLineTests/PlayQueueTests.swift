import Player
import Testing
@testable import tonearm

@Suite("What is played when")
struct PlayQueueTests {
    /// The queue with an engine that does what it is told, as far as its answers matter here.
    private struct Listening {
        var queue: PlayQueue
        /// What the engine has as its active and its next product.
        var active: MediaProduct?
        var next: MediaProduct?
        /// All that was asked of it.
        var log: [String] = []

        init(_ paths: [String]) {
            queue = PlayQueue(paths)
            carryOut(queue.start())
        }

        mutating func carryOut(_ step: PlayQueue.Step) {
            switch step {
            case .load(let product):
                active = product
                next = nil
                log.append("load \(product.productId)")
            case .skipToNext:
                active = next
                next = nil
                log.append("skip")
            case .setNext(let product):
                next = product
                log.append("next \(product?.productId ?? "-")")
            case .restart: log.append("restart")
            case .finish: log.append("finish")
            case .nothing: log.append("nothing")
            }
        }

        mutating func heard() { carryOut(queue.heard(active)) }
        /// The active product ends: the next one is heard, or nothing.
        mutating func ended() {
            active = next
            next = nil
            heard()
        }
        mutating func failed(_ product: MediaProduct?) { carryOut(queue.failed(product)) }
        mutating func skip() { carryOut(queue.skip()) }
        mutating func goBack(from position: Double) { carryOut(queue.goBack(from: position)) }
    }

    @Test("in order, each announced to the engine while the one before plays, to the end")
    func inOrder() {
        var listening = Listening(["a", "b", "c"])
        listening.heard()
        listening.ended()
        listening.ended()
        listening.ended()
        #expect(listening.log == ["load a", "next b", "next c", "next -", "finish"])
    }

    @Test("what cannot be begun is passed over, at the start, in the middle and at the end")
    func failures() {
        var listening = Listening(["a", "b", "c", "d"])
        listening.failed(listening.active)
        listening.heard()
        listening.failed(listening.next)
        listening.heard()
        listening.failed(listening.active)
        #expect(listening.log == ["load a", "load b", "next c", "load d", "next -", "finish"])
    }

    @Test("nothing at all can be played")
    func allFail() {
        var listening = Listening(["a", "b"])
        listening.failed(listening.active)
        listening.failed(listening.active)
        #expect(listening.log == ["load a", "load b", "finish"])
    }

    @Test("what fails in its middle is over; going back to it tries it again")
    func failsInTheMiddle() {
        var listening = Listening(["a", "b"])
        listening.heard()
        listening.failed(listening.active)
        listening.heard()
        listening.goBack(from: 1)
        #expect(listening.log == ["load a", "next b", "load b", "next -", "load a"])
    }

    @Test("skipping goes on with the next one, and after the last one ends")
    func skip() {
        var listening = Listening(["a", "b"])
        listening.heard()
        listening.skip()
        listening.heard()
        listening.skip()
        #expect(listening.log == ["load a", "next b", "skip", "next -", "finish"])
    }

    @Test("skipping to what cannot be begun goes on behind it")
    func skipToUnplayable() {
        var listening = Listening(["a", "b", "c"])
        listening.heard()
        listening.skip()
        listening.failed(listening.active)
        listening.heard()
        listening.goBack(from: 0)
        #expect(listening.log == ["load a", "next b", "skip", "load c", "next -", "load a"])
    }

    @Test("what fails just when it is skipped takes nothing with it")
    func skipWhatFailed() {
        var listening = Listening(["a", "b", "c"])
        listening.heard()
        let first = listening.active
        listening.skip()
        listening.failed(first)
        listening.heard()
        #expect(listening.log == ["load a", "next b", "skip", "load b", "next c"])
    }

    @Test("skipping twice before the engine answers skips two")
    func skipTwice() {
        var listening = Listening(["a", "b", "c"])
        listening.heard()
        listening.skip()
        listening.skip()
        listening.heard()
        #expect(listening.log == ["load a", "next b", "skip", "load c", "next -"])
    }

    @Test(
        "previous: within three seconds the one before, else the beginning",
        arguments: [(0.0, "load a"), (3.0, "load a"), (3.1, "restart")])
    func back(position: Double, step: String) {
        var listening = Listening(["a", "b"])
        listening.heard()
        listening.ended()
        listening.goBack(from: position)
        #expect(listening.log.last == step)
    }

    @Test("previous before the one that was skipped to is heard goes back to where it was")
    func backAtOnce() {
        var listening = Listening(["a", "b"])
        listening.heard()
        listening.skip()
        listening.goBack(from: 100)
        #expect(listening.log == ["load a", "next b", "skip", "load a"])
    }

    @Test("previous at the first one is its beginning")
    func backAtFirst() {
        var listening = Listening(["a", "b"])
        listening.heard()
        listening.goBack(from: 0)
        #expect(listening.log.last == "restart")
    }

    @Test("previous and next pass over what could not be begun")
    func unplayable() {
        var listening = Listening(["a", "b", "c"])
        listening.heard()
        listening.failed(listening.next)
        listening.heard()
        listening.goBack(from: 0)
        listening.heard()
        #expect(listening.log == ["load a", "next b", "load c", "next -", "load a", "next c"])
    }

    @Test("messages about what was before the last request change nothing")
    func late() {
        var listening = Listening(["a", "b", "c"])
        listening.heard()
        let (a, b) = (listening.active, listening.next)
        listening.skip()
        listening.skip()
        // The engine's answers to what it was doing meanwhile.
        for message in [a, b, nil] { listening.carryOut(listening.queue.heard(message)) }
        for message in [a, b] { listening.carryOut(listening.queue.failed(message)) }
        listening.heard()
        #expect(
            listening.log == ["load a", "next b", "skip", "load c"] + Array(repeating: "nothing", count: 5) + ["next -"]
        )
    }
}
