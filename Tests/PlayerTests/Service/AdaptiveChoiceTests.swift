import TestSupport
import Testing

@testable import Player

@Suite("Which encoding is fetched next (docs/playback.md, 15.11)")
struct AdaptiveChoiceTests {
    private let choice = AdaptiveChoice(bandwidths: [96_000, 320_000, 1_000_000, 4_000_000])

    @Test(
        "By the line and by what has arrived: now, bits per second, seconds, then",
        arguments: [
            // Nothing is known: it stays.
            (3, nil, 0, 3), (0, nil, 60, 0),
            // Hardly anything has arrived: half of the line, and never up.
            (3, 10_000_000, 0, 3), (3, 6_000_000, 5.9, 2), (3, 500_000, 0, 0), (3, 700_000, 0, 1), (1, 1e9, 5, 1),
            (3, 1000, 0, 0), (0, 1000, 0, 0),
            // Some has: down only when the line is nearly used up, and not up.
            (3, 4_500_000, 6, 3), (3, 4_400_000, 6, 2), (2, 1_112_000, 11.9, 2), (2, 1_000_000, 11.9, 1),
            (0, 1e9, 11.9, 0),
            // Enough has: up to seven tenths of the line.
            (0, 1e9, 12, 3), (2, 5_700_000, 12, 2), (2, 5_720_000, 12, 3), (0, 1_000_000, 12, 1),
            // Down only when much less comes, and not at all with half a minute.
            (3, 1_000_000, 29, 1), (3, 1_000_000, 30, 3), (2, 100_000, 30, 2), (2, 1e9, 30, 3),
        ] as [(Int, Double?, Double, Int)])
    func next(current: Int, throughput: Double?, buffered: Double, expected: Int) {
        let usable = [true, true, true, true]
        #expect(choice.next(current: current, throughput: throughput, buffered: buffered, usable: usable) == expected)
    }

    @Test("An encoding that cannot be used is passed over")
    func unusable() {
        let usable = [false, true, false, true]
        #expect(choice.next(current: 3, throughput: 2_400_000, buffered: 0, usable: usable) == 1)
        #expect(choice.next(current: 3, throughput: 1000, buffered: 0, usable: usable) == 1)
        #expect(choice.next(current: 1, throughput: 2_000_000, buffered: 20, usable: usable) == 1)
    }

    @Test("The first one is the best one, or what the line has carried")
    func first() {
        #expect(choice.first(throughput: nil, usable: [true, true, true, true]) == 3)
        #expect(choice.first(throughput: 1e9, usable: [true, true, true, true]) == 3)
        #expect(choice.first(throughput: 2_000_000, usable: [true, true, true, true]) == 2)
        #expect(choice.first(throughput: 10, usable: [true, true, true, true]) == 0)
        #expect(choice.first(throughput: nil, usable: [true, true, false, false]) == 1)
        #expect(choice.first(throughput: 10, usable: [false, true, true, true]) == 1)
        #expect(choice.first(throughput: 10, usable: [false, false, false, false]) == 0)
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
}
