import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Player
@testable import Streaming

@Suite("Which representation is fetched next (docs/playback.md, 15.11)")
struct RepresentationChoiceTests {
    private let choice = RepresentationChoice(bandwidths: [96_000, 320_000, 1_000_000, 4_000_000])

    private func situation(
        _ current: Int, line: Double?, buffered: Double, segment: Double = 4, since: Double? = nil, segments: Int = 1,
        usable: [Bool] = [true, true, true, true]
    ) -> RepresentationChoice.Situation {
        RepresentationChoice.Situation(
            current: current, line: line, buffered: buffered, segment: segment, sinceChange: since, segments: segments,
            usable: usable)
    }

    @Test(
        "Before each segment, by the line and by the seconds that have arrived: now, bits per second, seconds, then",
        arguments: [
            // The bit rates or the line are not known: it stays.
            (3, nil, 0, 3), (0, nil, 60, 0),
            // Up to three quarters of the line, with the interval and a second in the buffer.
            (0, 1e9, 10.9, 0), (0, 1e9, 11, 3), (0, 1_000_000, 11, 1), (2, 5_300_000, 11, 2), (2, 5_340_000, 11, 3),
            // The line carries it: it stays, also with little in the buffer.
            (3, 4_500_000, 4, 3), (2, 1_112_000, 4, 2), (1, 400_000, 4, 1), (0, 1000, 0, 0),
            // The line does not carry it, but a large buffer hides that.
            (3, 2_000_000, 23, 3), (2, 500_000, 23, 2), (1, 90_000, 30, 1),
            // Down to a bit rate that the line carries while the buffer is large, else to the lowest one.
            (3, 2_000_000, 22.9, 2), (3, 600_000, 22.9, 1), (3, 2_000_000, 18, 0), (2, 500_000, 3, 0),
            (1, 200_000, 4, 0),
        ] as [(Int, Double?, Double, Int)])
    func next(current: Int, line: Double?, buffered: Double, expected: Int) {
        #expect(choice.next(situation(current, line: line, buffered: buffered)) == expected)
    }

    @Test("After a change the next one waits for ten seconds; only silence is worse")
    func interval() {
        #expect(choice.next(situation(0, line: 1e9, buffered: 30, since: 9.9)) == 0)
        #expect(choice.next(situation(0, line: 1e9, buffered: 30, since: 10)) == 3)
        #expect(choice.next(situation(2, line: 500_000, buffered: 12, since: 9.9)) == 2)
        #expect(choice.next(situation(2, line: 500_000, buffered: 12, since: 10)) == 0)
        // A segment of the lowest representation takes 0.8 s on this line.
        #expect(choice.next(situation(2, line: 500_000, buffered: 10.3, since: 1)) == 2)
        #expect(choice.next(situation(2, line: 500_000, buffered: 10.2, since: 1)) == 0)
    }

    @Test("On a line that is much faster than needed, three segments are enough, however short they are")
    func early() {
        #expect(choice.next(situation(1, line: 1e9, buffered: 4, segment: 2, segments: 2)) == 1)
        #expect(choice.next(situation(1, line: 1e9, buffered: 4, segment: 2, segments: 3)) == 3)
        // Less than the best one would delay that.
        #expect(choice.next(situation(1, line: 9_900_000, buffered: 4, segment: 2, segments: 3)) == 1)
        #expect(choice.next(situation(1, line: 1e9, buffered: 4, segment: 2, since: 5, segments: 3)) == 1)
    }

    @Test("A line that only short transfers have measured is tried out when the buffer is large")
    func trial() {
        var now = situation(0, line: 100_000, buffered: 30)
        #expect(choice.next(now) == 0)
        now.mayBeFaster = true
        #expect(choice.next(now) == 1)
        now.buffered = 29.9
        #expect(choice.next(now) == 0)
    }

    @Test(
        "A segment that outlasts the buffer is given up, unless a lower one would not come earlier",
        arguments: [
            // now, line, bytes left, seconds, then
            (2, 150_000, 450_000, 4, 0), (2, 150_000, 450_000, 10, 0), (2, 150_000, 450_000, 31.1, nil),
            (1, 150_000, 150_000, 4, 0), (1, 150_000, 40_000, 4, nil), (1, 150_000, 65_000, 4, 0),
            // Enough to change twice: the bit rate that the line carries.
            (3, 1_000_000, 3_750_000, 20, 1), (3, 1_000_000, 3_750_000, 18, 0),
            // No representation is lower, or the line is not known.
            (0, 1000, 450_000, 0, nil), (2, nil, 450_000, 0, nil),
        ] as [(Int, Double?, Double, Double, Int?)])
    func instead(current: Int, line: Double?, left: Double, buffered: Double, expected: Int?) {
        let transfer = RepresentationChoice.Transfer(bytesLeft: left)
        #expect(choice.instead(of: transfer, situation(current, line: line, buffered: buffered)) == expected)
    }

    @Test("The first segment of a change is given up when too little would be left until the next change")
    func change() {
        let now = situation(2, line: 1_000_000, buffered: 12, since: 20)
        // 4 s: 8 s are left, and with the segment 12.
        #expect(choice.instead(of: .init(bytesLeft: 500_000, changedFrom: 0), now) == nil)
        #expect(choice.instead(of: .init(bytesLeft: 550_000, changedFrom: 0), now) == 0)
        #expect(choice.instead(of: .init(bytesLeft: 550_000), now) == nil)
        // A later segment waits for the interval.
        let soon = situation(2, line: 150_000, buffered: 8, since: 2)
        #expect(choice.instead(of: .init(bytesLeft: 450_000), soon) == nil)
        var late = soon
        late.buffered = 4
        #expect(choice.instead(of: .init(bytesLeft: 450_000), late) == 0)
    }

    @Test("A change that overreaches leads back to the representation before, if the line carries that")
    func overreach() {
        // A segment of 320 kbit/s arrives in 1.3 s, one of 96 kbit/s in 0.4 s.
        let now = situation(2, line: 1_000_000, buffered: 9, since: 20)
        #expect(choice.instead(of: .init(bytesLeft: 450_000, changedFrom: 1), now) == 1)
        // The line does not carry it any more, it cannot be used, or it would come too late.
        let slow = situation(2, line: 400_000, buffered: 9, since: 20)
        #expect(choice.instead(of: .init(bytesLeft: 450_000, changedFrom: 1), slow) == 0)
        let unusable = situation(2, line: 1_000_000, buffered: 9, since: 20, usable: [true, false, true, true])
        #expect(choice.instead(of: .init(bytesLeft: 450_000, changedFrom: 1), unusable) == 0)
        let late = situation(2, line: 1_000_000, buffered: 3, since: 20)
        #expect(choice.instead(of: .init(bytesLeft: 450_000, changedFrom: 1), late) == 0)
    }

    @Test("After a drop below what the line carries, two segments are enough before the way back")
    func bridge() {
        let drop = situation(2, line: 1_000_000, buffered: 8, since: 12)
        #expect(choice.isBridge(0, drop) && !choice.isBridge(1, drop) && !choice.isBridge(3, drop))
        #expect(!choice.isBridge(0, situation(2, line: 200_000, buffered: 8)))
        var now = situation(0, line: 1_000_000, buffered: 15, since: 1, segments: 2)
        #expect(choice.next(now) == 0)
        now.isBridge = true
        #expect(choice.next(now) == 1)
        now.segments = 1
        #expect(choice.next(now) == 0)
        // Too little for a change.
        now.segments = 5
        now.buffered = 10
        #expect(choice.next(now) == 0)
    }

    @Test("Before the next change is allowed, no more is fetched than lasts until then")
    func untilChange() {
        #expect(choice.fetchesAhead(situation(0, line: 1e6, buffered: 20.9, since: 0)))
        #expect(!choice.fetchesAhead(situation(0, line: 1e6, buffered: 21, since: 0)))
        #expect(!choice.fetchesAhead(situation(0, line: 1e6, buffered: 15, since: 6)))
        // The change is allowed: it happens. Without a better one that the line carries it continues.
        #expect(choice.fetchesAhead(situation(0, line: 1e6, buffered: 21, since: 10)))
        #expect(choice.fetchesAhead(situation(0, line: 400_000, buffered: 39, since: 0)))
        #expect(choice.fetchesAhead(situation(1, line: 1e6, buffered: 39, since: 0)))
    }

    @Test("Nothing more is fetched of a lower representation than the line carries when much of it is there")
    func ahead() {
        #expect(choice.fetchesAhead(situation(1, line: 1e9, buffered: 39)))
        #expect(!choice.fetchesAhead(situation(1, line: 1e9, buffered: 40)))
        #expect(choice.fetchesAhead(situation(3, line: 1e9, buffered: 400)))
        #expect(choice.fetchesAhead(situation(1, line: 1e9, buffered: 400, usable: [true, true, false, false])))
        // It is waited for once, as long as it takes.
        #expect(choice.fetchesAhead(situation(0, line: 90_000, buffered: 400)))
        #expect(choice.fetchesAhead(situation(0, line: nil, buffered: 400)))
    }

    @Test("A representation that cannot be used is passed over")
    func unusable() {
        let usable = [false, true, false, true]
        #expect(choice.next(situation(3, line: 2_400_000, buffered: 0, usable: usable)) == 1)
        #expect(choice.next(situation(3, line: 1000, buffered: 0, usable: usable)) == 1)
        #expect(choice.next(situation(1, line: 2_000_000, buffered: 20, usable: usable)) == 1)
    }

    @Test("The first one is what the line has carried; without a measure, what 500 kbit/s carry")
    func first() {
        #expect(choice.first(line: nil, usable: [true, true, true, true]) == 1)
        #expect(choice.first(line: 1e9, usable: [true, true, true, true]) == 3)
        #expect(choice.first(line: 2_000_000, usable: [true, true, true, true]) == 2)
        #expect(choice.first(line: 10, usable: [true, true, true, true]) == 0)
        #expect(choice.first(line: nil, usable: [true, false, false, false]) == 0)
        #expect(choice.first(line: nil, usable: [false, false, true, true]) == 2)
        #expect(choice.first(line: 10, usable: [false, true, true, true]) == 1)
        #expect(choice.first(line: 10, usable: [false, false, false, false]) == 0)
    }

    @Test("The line is measured by transfers, the slower one of the last and the average; short ones do not count")
    func throughput() {
        let clock = ManualClock()
        let throughput = Throughput(clock: clock)
        func transfer(bytes: Int, seconds: Int64) {
            var meter = TransferMeter(throughput)
            clock.advance(by: seconds * 1_000_000_000)
            meter.count(bytes)
            meter.end()
            // A receiver that had enough, and takes more an hour later.
            clock.advance(by: 3_600_000_000_000)
            meter.count(bytes)
            meter.end()
        }
        #expect(throughput.bitsPerSecond == nil)
        transfer(bytes: 10_000, seconds: 1)
        #expect(throughput.bitsPerSecond == nil)
        transfer(bytes: 100_000, seconds: 1)
        #expect(throughput.bitsPerSecond == 800_000)
        transfer(bytes: 400_000, seconds: 1)
        #expect(throughput.bitsPerSecond == 2_000_000)
        transfer(bytes: 100_000, seconds: 2)
        #expect(throughput.bitsPerSecond == 400_000)
    }

    @Test("A long transfer is measured in parts of a second, not over an interruption or while its receiver is full")
    func longTransfer() {
        let clock = ManualClock()
        let throughput = Throughput(clock: clock)
        var meter = TransferMeter(throughput)
        func arrive(_ bytes: Int, after milliseconds: Int64) {
            clock.advance(by: milliseconds * 1_000_000)
            meter.count(bytes)
        }
        arrive(50_000, after: 500)
        #expect(throughput.bitsPerSecond == nil)
        arrive(50_000, after: 500)
        #expect(throughput.bitsPerSecond == 800_000)
        // A minute without a cable, then another line.
        arrive(100_000, after: 60_000)
        arrive(400_000, after: 1000)
        #expect(throughput.bitsPerSecond == 2_000_000)
        // Too few bytes for a part: it takes longer.
        arrive(10_000, after: 1000)
        #expect(throughput.bitsPerSecond == 2_000_000)
        arrive(10_000, after: 1000)
        #expect(throughput.bitsPerSecond == 80_000)
        // Its receiver has enough, for a while.
        meter.end()
        arrive(1_000_000, after: 100)
        #expect(throughput.bitsPerSecond == 80_000)
        clock.advance(by: 10_000_000_000)
        meter.resume()
        arrive(400_000, after: 1000)
        #expect(throughput.bitsPerSecond == 2_120_000)
    }

    @Test("Short transfers count together, and the wait for an answer is no slowness of the line")
    func shortTransfers() {
        let clock = ManualClock()
        let throughput = Throughput(clock: clock)
        /// After a wait, the bytes come in two halves.
        func transfer(bytes: Int, wait: Int64, line: Double) {
            var meter = TransferMeter(throughput)
            clock.advance(by: wait * 1_000_000)
            for _ in 0..<2 {
                clock.advance(by: Int64(Double(bytes) * 4e9 / line))
                meter.count(bytes / 2)
            }
            meter.end()
        }
        transfer(bytes: 100, wait: 200, line: 1e6)
        transfer(bytes: 8000, wait: 200, line: 1e6)
        #expect(throughput.bitsPerSecond == nil)
        for _ in 0..<8 { transfer(bytes: 8000, wait: 200, line: 1e6) }
        let measured = throughput.bitsPerSecond ?? 0
        #expect(measured > 500_000 && measured < 1_300_000, "\(measured)")
        for _ in 0..<20 { transfer(bytes: 8000, wait: 200, line: 64_000) }
        let slow = throughput.bitsPerSecond ?? 0
        #expect(slow > 40_000 && slow < 90_000, "\(slow)")
    }

    @Test("A line that carries hardly anything is measured by few bytes")
    func tinyLine() {
        let clock = ManualClock()
        let throughput = Throughput(clock: clock)
        throughput.add(bytes: 1_000_000, nanoseconds: 1_000_000_000)
        var meter = TransferMeter(throughput)
        for _ in 0..<4 {
            clock.advance(by: 1_000_000_000)
            meter.count(2000)
        }
        #expect(throughput.bitsPerSecond == 16_000)
    }

    @Test("Each kind of link has its own line, which is known when it is used again")
    func links() {
        let throughput = Throughput(clock: ManualClock())
        throughput.linkChanged(to: .wifi)
        throughput.add(bytes: 1_000_000, nanoseconds: 1_000_000_000)
        throughput.linkChanged(to: .cellular)
        #expect(throughput.bitsPerSecond == nil)
        throughput.add(bytes: 100_000, nanoseconds: 1_000_000_000)
        throughput.linkChanged(to: .offline)
        #expect(throughput.bitsPerSecond == 800_000)
        throughput.linkChanged(to: .wifi)
        #expect(throughput.bitsPerSecond == 8_000_000)
        throughput.linkChanged(to: .cellular)
        #expect(throughput.bitsPerSecond == 800_000)
    }
}
