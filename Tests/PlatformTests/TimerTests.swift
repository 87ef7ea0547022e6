import Testing
import TestSupport
@testable import Platform

@Suite("Timers on a clock driven by hand")
struct TimerTests {
    let clock: ManualClock
    let loop: EventLoop

    init() throws {
        clock = ManualClock(1_000)
        loop = try EventLoop(drivenBy: clock)
    }

    /// Lets everything run that is due after `nanoseconds`.
    func advance(by nanoseconds: Int64) {
        clock.advance(by: nanoseconds)
        loop.clockAdvanced()
        loop.stop()
        loop.run()
    }

    @Test(
        "fire by deadline, those of one deadline as they were scheduled",
        arguments: [
            (delays: [30, 10, 20], order: [1, 2, 0]),
            (delays: [10, 10, 10], order: [0, 1, 2]),
            (delays: [20, 10, 20, 10], order: [1, 3, 0, 2]),
            (delays: [-5, 0], order: [0, 1]),
        ])
    func order(delays: [Int64], order: [Int]) {
        var fired: [Int] = []
        for (index, delay) in delays.enumerated() { loop.schedule(after: delay) { fired.append(index) } }
        advance(by: 100)
        #expect(fired == order)
    }

    @Test("fire at the deadline, not before, and once")
    func deadline() {
        var fired = 0
        loop.schedule(after: 100) { fired += 1 }
        advance(by: 99)
        #expect(fired == 0)
        advance(by: 1)
        #expect(fired == 1)
        advance(by: 1000)
        #expect(fired == 1)
    }

    @Test("a cancelled one never fires, nor one that another of the same moment cancels")
    func cancel() {
        var fired: [String] = []
        let cancelled = loop.schedule(after: 10) { fired.append("cancelled") }
        var later: TimerToken?
        loop.schedule(after: 20) {
            fired.append("canceller")
            loop.cancel(later!)
        }
        later = loop.schedule(after: 20) { fired.append("later") }
        loop.cancel(cancelled)
        advance(by: 100)
        #expect(fired == ["canceller"])
        loop.cancel(cancelled)
    }

    @Test("one that schedules itself without delay runs once a turn")
    func repeated() {
        var fired = 0
        func again() {
            fired += 1
            loop.schedule(after: 0, again)
        }
        loop.schedule(after: 0, again)
        clock.advance(by: 1)
        loop.stop()
        loop.run()
        #expect(fired == 1)
    }

    @Test("the end of time can be waited for")
    func overflow() {
        var fired = false
        loop.schedule(after: .max) { fired = true }
        advance(by: 1_000_000)
        #expect(!fired)
    }
}

@Suite("Timers on the system's clock")
struct SystemTimerTests {
    @Test("fire not before their deadline, with one wake-up for each and none in between")
    func fire() throws {
        let loop = try EventLoop()
        let clock = SystemMonotonicClock()
        let start = clock.now()
        var fired: [(delay: Int64, elapsed: Int64, wakeUps: Int)] = []
        for delay: Int64 in [1_000_000, 20_000_000] {
            loop.schedule(after: delay) { fired.append((delay, clock.now() - start, loop.wakeUpCount)) }
        }
        loop.schedule(after: 40_000_000) { loop.stop() }
        loop.run()
        #expect(fired.map(\.delay) == [1_000_000, 20_000_000])
        #expect(fired.allSatisfy { $0.elapsed >= $0.delay })
        // Fewer when the machine was so slow that two were due at once; one more for the stop.
        #expect(loop.wakeUpCount <= 4)
    }

    @Test("the kernel is asked for a wake-up only while a timer is there")
    func disarm() throws {
        let loop = try EventLoop()
        func turn() {
            loop.stop()
            loop.run()
        }
        turn()
        #expect(loop.armedNanoseconds == 0)
        let hour: Int64 = 3_600_000_000_000
        let timers = [loop.schedule(after: 2 * hour) {}, loop.schedule(after: hour) {}]
        turn()
        #expect((hour / 2...hour).contains(loop.armedNanoseconds))
        loop.cancel(timers[1])
        turn()
        #expect((hour...2 * hour).contains(loop.armedNanoseconds))
        loop.cancel(timers[0])
        turn()
        #expect(loop.armedNanoseconds == 0)
    }
}
