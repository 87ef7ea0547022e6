import Foundation
import PlayerTestSupport
import Testing

@testable import Fetching
@testable import Player

@Suite("What is heard over a shaped line (docs/playback.md, 15.11)")
struct ShapedLineTests {
    private static let bandwidths = [51_000, 323_000, 940_000, 2_900_000]

    /// A line limited by a token bucket, as providers and mobile networks limit it.
    struct Shape: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// In bytes.
        var burst: Int
        /// The mean rate that it carries, in bits per second.
        var mean: Double
        var rate: @Sendable (Double) -> Double

        init(_ name: String, mean: Double, burst: Int = 0, rate: @escaping @Sendable (Double) -> Double) {
            (testDescription, self.burst, self.mean, self.rate) = (name, burst, mean, rate)
        }

        init(steady rate: Double, burst: Int) {
            self.init("\(Int(rate / 1000)) kbit/s, bursts of \(burst >> 10) KiB", mean: rate, burst: burst) { _ in rate
            }
        }
    }

    static let shapes: [Shape] =
        [0.3e6, 0.5e6, 0.7e6, 1e6, 1.5e6, 2e6, 3e6, 5e6].flatMap { rate in
            [32 << 10, 1 << 20].map { Shape(steady: rate, burst: $0) }
        } + [
            Shape("1 Mbit/s, bursts of 4 MiB", mean: 1e6, burst: 4 << 20) { _ in 1e6 },
            Shape("waves around 1 Mbit/s", mean: 1e6) { 1e6 + 0.3e6 * sin($0) },
            Shape("2 Mbit/s, with 5 of 40 s at 200 kbit/s", mean: 1.77e6) {
                $0.truncatingRemainder(dividingBy: 40) < 35 ? 2e6 : 0.2e6
            },
            Shape("0.6 and 1 Mbit/s", mean: 0.8e6, burst: 256 << 10) {
                $0.truncatingRemainder(dividingBy: 10) < 5 ? 0.6e6 : 1e6
            },
        ]

    /// The best bandwidth that such a line carries with the share of a change.
    private static func best(_ shape: Shape) -> Double {
        Double(bandwidths.last { Double($0) <= 0.75 * shape.mean } ?? bandwidths[0])
    }

    @Test("The mean of what is heard is at least 0.8 of the best that fits, without silence", arguments: shapes)
    func mean(shape: Shape) throws {
        for (segment, seconds) in [(4.0, 240.0), (10.0, 240.0)] {
            let playback = DrivenPlayback(
                Self.bandwidths, segment: segment, seconds: seconds, burst: shape.burst, rate: shape.rate)
            try playback.play()
            let share = playback.meanBandwidth / Self.best(shape)
            #expect(share >= 0.8, "\(segment) s: \(share), \(playback.heard)")
            #expect(playback.silence == 0, "\(segment) s: \(playback.heard)")
        }
    }
}
