import ApplianceTestSupport
import Queue
import TestSupport
import Testing

@testable import Appliance

@Suite("When the position is written")
struct PositionScheduleTests {
    let entry = EntryID(3)
    let second: Int64 = 1_000_000_000

    /// A schedule that `#expect` may change.
    final class Asked {
        private var schedule = PositionSchedule(at: 0)

        func shouldWrite(_ event: PositionSchedule.Event, seconds: Double, of entry: EntryID?, at now: Int64) -> Bool {
            schedule.shouldWrite(event, seconds: seconds, of: entry, at: now)
        }

        func nextTick(isPlaying: Bool, at now: Int64) -> Int64? { schedule.nextTick(isPlaying: isPlaying, at: now) }
    }

    @Test("While it plays for an hour: every 14 s")
    func playing() {
        let schedule = Asked()
        var now: Int64 = 0
        var writes: [Int64] = []
        while now < 3600 * second, let tick = schedule.nextTick(isPlaying: true, at: now) {
            now = tick
            if schedule.shouldWrite(.tick, seconds: Double(now / second), of: entry, at: now) { writes.append(now) }
        }
        #expect(writes == stride(from: 14 * second, through: 3612 * second, by: Int(14 * second)).map { $0 })
    }

    @Test("Ticks in between write nothing")
    func between() {
        let schedule = Asked()
        _ = schedule.shouldWrite(.rested, seconds: 0, of: entry, at: 0)
        let writes = (1..<140).filter {
            schedule.shouldWrite(.tick, seconds: Double($0), of: entry, at: Int64($0) * second / 10)
        }
        #expect(writes.isEmpty)
    }

    @Test("At rest: at once, and then never again")
    func rest() {
        let schedule = Asked()
        _ = schedule.shouldWrite(.jumped, seconds: 0, of: entry, at: 0)
        #expect(schedule.shouldWrite(.rested, seconds: 2.5, of: entry, at: 2 * second))
        #expect(!schedule.shouldWrite(.rested, seconds: 2.5, of: entry, at: 3 * second))
        #expect(schedule.nextTick(isPlaying: false, at: 100 * second) == nil)
        #expect(!schedule.shouldWrite(.tick, seconds: 2.5, of: entry, at: 100 * second))
    }

    @Test("A turning knob: once a second, and the last position at the end, also while paused")
    func seeking() {
        let schedule = Asked()
        var written: [Double] = []
        let start = 100 * second
        for step in 0..<25 {
            let position = Double(step)
            if schedule.shouldWrite(.jumped, seconds: position, of: entry, at: start + Int64(step) * second / 10) {
                written.append(position)
            }
        }
        #expect(written == [0, 10, 20])
        let tick = schedule.nextTick(isPlaying: false, at: start + 25 * second / 10)
        #expect(tick == start + 3 * second)
        #expect(schedule.shouldWrite(.tick, seconds: 24, of: entry, at: start + 3 * second))
        #expect(schedule.nextTick(isPlaying: false, at: start + 3 * second) == nil)
    }

    @Test("Without an entry a jump is forgotten, and no tick is due")
    func cleared() {
        let schedule = Asked()
        #expect(!schedule.shouldWrite(.jumped, seconds: 5, of: entry, at: second / 2))
        #expect(!schedule.shouldWrite(.tick, seconds: 0, of: nil, at: second))
        #expect(schedule.nextTick(isPlaying: false, at: second) == nil)
    }

    @Test("After each look the next one is later, also where the position stands or there is none")
    func later() {
        var random = SeededRandom(7)
        for _ in 0..<1000 {
            let schedule = Asked()
            var now: Int64 = 0
            for _ in 0..<20 {
                now += Int64.random(in: 0...(12 * second), using: &random)
                let event: PositionSchedule.Event = [.tick, .jumped, .rested].randomElement(using: &random)!
                let entry = [nil, EntryID(3), EntryID(4)].randomElement(using: &random)!
                let seconds = Double(Int.random(in: 0...2, using: &random))
                _ = schedule.shouldWrite(event, seconds: seconds, of: entry, at: now)
                let tick = schedule.nextTick(isPlaying: Bool.random(using: &random), at: now)
                #expect(tick ?? .max > now, "\(event) of \(entry.map { "\($0)" } ?? "nothing") at \(now)")
            }
        }
    }
}
