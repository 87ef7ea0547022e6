import Foundation
import PlayerTestSupport
import Testing

@testable import Player
@testable import Fetching

@Suite("The representation follows a line of any shape (docs/playback.md, 15.11)")
struct DrivenLineTests {
    private static let bandwidths = [96_000, 320_000, 1_000_000, 4_000_000]

    /// A line on which the lowest representation always fits.
    struct Pattern: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var rate: @Sendable (Double) -> Double

        init(_ name: String, _ rate: @escaping @Sendable (Double) -> Double) {
            (testDescription, self.rate) = (name, rate)
        }
    }

    private static func step(_ first: Double, _ second: Double, at moment: Double) -> @Sendable (Double) -> Double {
        { $0 < moment ? first : second }
    }

    /// Another rate every so many seconds, one of a list.
    private static func random(_ seed: UInt64, every seconds: Double) -> @Sendable (Double) -> Double {
        let rates = [110e3, 200e3, 500e3, 1.5e6, 6e6, 20e6]
        return { time in
            var state = (seed &+ UInt64(time / seconds)) &* 0x9E37_79B9_7F4A_7C15
            state ^= state >> 29
            state = state &* 0xBF58_476D_1CE4_E5B9
            return rates[Int((state >> 32) % 6)]
        }
    }

    static let patterns = [
        Pattern("fast") { _ in 50e6 },
        Pattern("4 Mbit/s, then 100 kbit/s", step(4e6, 100e3, at: 30)),
        Pattern("20 Mbit/s, then 100 kbit/s after 3 s", step(20e6, 100e3, at: 3)),
        Pattern("20 Mbit/s, then 100 kbit/s after 9 s", step(20e6, 100e3, at: 9)),
        Pattern("20 Mbit/s, then 100 kbit/s after 60 s", step(20e6, 100e3, at: 60)),
        Pattern("100 kbit/s, then 20 Mbit/s", step(100e3, 20e6, at: 60)),
        Pattern("150 kbit/s") { _ in 150e3 },
        Pattern("300 kbit/s") { _ in 300e3 },
        Pattern("100 kbit/s") { _ in 100e3 },
        Pattern("1.1 Mbit/s") { _ in 1.1e6 },
        Pattern("ramp up") { 100e3 + min($0, 100) * 60e3 },
        Pattern("ramp down") { max(100e3, 6e6 - $0 * 60e3) },
        Pattern("stairs down") { [8e6, 2e6, 600e3, 150e3, 110e3][min(4, Int($0 / 12))] },
        Pattern("sawtooth of 20 s") { 100e3 + 4e6 * ($0.truncatingRemainder(dividingBy: 20) / 20) },
        Pattern("falling sawtooth of 30 s") { 100e3 + 6e6 * (1 - $0.truncatingRemainder(dividingBy: 30) / 30) },
        Pattern("sawtooth of 7 s") { 100e3 + 4e6 * ($0.truncatingRemainder(dividingBy: 7) / 7) },
        Pattern("8 s fast, 8 s slow") { $0.truncatingRemainder(dividingBy: 16) < 8 ? 8e6 : 110e3 },
        Pattern("15 s fast, 15 s slow") { $0.truncatingRemainder(dividingBy: 30) < 15 ? 8e6 : 110e3 },
        Pattern("another rate every 5 s", random(1, every: 5)),
        Pattern("another rate every 2 s", random(2, every: 2)),
    ]

    @Test(
        "No silence where the lowest representation fits the line, and ten seconds between two changes but a way back",
        arguments: patterns)
    func follows(pattern: Pattern) throws {
        for (segment, seconds) in [(4.0, 180.0), (6.0, 120.0)] {
            let playback = DrivenPlayback(Self.bandwidths, segment: segment, seconds: seconds, rate: pattern.rate)
            try playback.play()
            #expect(playback.silence == 0, "\(segment) s: \(playback.heard)")
            #expect(playback.shortestInterval >= 10, "\(segment) s: \(playback.heard)")
            #expect((playback.start ?? .infinity) < 2 + 2 * segment, "\(segment) s")
        }
    }

    @Test("Outages that the buffer outlasts are not heard", arguments: [5.0, 8.0])
    func outages(length: Double) throws {
        for rate in [6e6, 500e3] {
            let playback = DrivenPlayback(Self.bandwidths, segment: 4) { time in
                (60..<60 + length).contains(time) || (140..<140 + length).contains(time) ? 0 : rate
            }
            try playback.play()
            #expect(playback.silence == 0 && playback.shortestInterval >= 10, "\(rate): \(playback.heard)")
        }
    }

    @Test("On a fast line the best one is heard after at most three segments", arguments: [2.0, 4.0, 6.0, 10.0])
    func best(segment: Double) throws {
        for (rate, roundTrip) in [(50e6, 0.05), (50e6, 0.2), (20e6, 0.02), (1e9, 0.001)] {
            let playback = DrivenPlayback(
                Self.bandwidths, segment: segment, seconds: 60, roundTrip: roundTrip
            ) { _ in rate }
            try playback.play()
            #expect((playback.segmentsBeforeBest ?? .max) <= 3, "\(rate): \(playback.heard)")
            #expect((playback.start ?? .infinity) < 1)
        }
    }

    @Test("Segments under 16 KiB are measured: a fast line with a long round trip leaves the lowest representation")
    func smallSegments() throws {
        let playback = DrivenPlayback([24_000, 1_000_000], segment: 2, roundTrip: 0.3) { _ in 50e6 }
        // The line was slow before.
        playback.throughput.add(bytes: 1 << 20, nanoseconds: 400_000_000_000)
        try playback.play()
        #expect(playback.heard.first?.bandwidth == 24_000)
        #expect((playback.segmentsBeforeBest ?? .max) <= 60, "\(playback.heard)")
    }

    @Test("The start takes what the line has carried before: a fast one the best, a slow one the lowest")
    func remembered() throws {
        let fast = DrivenPlayback(Self.bandwidths, segment: 4) { _ in 50e6 }
        fast.throughput.add(bytes: 1 << 20, nanoseconds: 83_886_080)
        try fast.play()
        #expect(fast.heard.map { $0.bandwidth } == [4_000_000])
        let slow = DrivenPlayback(Self.bandwidths, segment: 4) { _ in 150e3 }
        slow.throughput.add(bytes: 1 << 20, nanoseconds: 41_943_040_000)
        try slow.play()
        #expect(slow.heard.map { $0.bandwidth } == [96_000] && (slow.start ?? .infinity) < 4)
    }

    @Test("After a step down, what is missing is estimated with what is fetched now: it goes on at once")
    func stepDown() throws {
        let playback = DrivenPlayback([64_000, 1_000_000], segment: 4) { $0 < 20 ? 4e6 : 90e3 }
        try playback.play()
        #expect(playback.silence == 0, "\(playback.heard)")
        // An upgrade is heard soon after the line is fast again.
        let back = DrivenPlayback([64_000, 1_000_000], segment: 4) { (20..<80).contains($0) ? 90e3 : 4e6 }
        try back.play()
        #expect(back.silence == 0)
        #expect(back.heard.contains { $0.bandwidth == 1_000_000 && (80..<100).contains($0.requested) }, "\(back.heard)")
    }
}
