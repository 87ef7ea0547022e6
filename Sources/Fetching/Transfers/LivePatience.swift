import Media
import Platform

/// When a resource of live content is requested again, and when it is given up (docs/playback.md, 15.12). It is
/// requested every half target duration, until two target durations have passed without a new byte.
///
///     var patience = LivePatience(targetDuration: 6)
///     patience.delay(afterAttempt: 0)      // 3 s, four times, then nil
///
/// A value: the caller measures attempts, and waits. The kind of failure does not matter.
package struct LivePatience: Equatable, Sendable {
    /// The range of usable target durations, in seconds: a playlist may announce any.
    private static let targets = 0.2...60.0
    /// The shortest timeout for the first byte, in milliseconds. A server may need this long, however short its
    /// segments are.
    private static let leastFirstByteTimeout = 4000

    /// The time from one attempt to the next, in nanoseconds.
    package let pace: Int64
    /// The time without a new byte, in nanoseconds.
    private var spent: Int64 = 0

    /// - Parameter targetDuration: in seconds.
    package init(targetDuration: Double) {
        pace = Int64(max(Self.targets.lowerBound, min(targetDuration, Self.targets.upperBound)) * 0.5e9)
    }

    /// A target duration, in milliseconds, or longer.
    package var firstByteTimeout: Int { max(Self.leastFirstByteTimeout, Int(clamping: 2 * pace / 1_000_000)) }

    /// Counts an attempt that has ended before the last byte.
    /// - Parameter nanoseconds: since it began, or since its last new byte.
    /// - Returns: nanoseconds until the next attempt; nil when the resource is given up.
    mutating func delay(afterAttempt nanoseconds: Int64) -> Int64? {
        let (sum, isBeyond) = spent.addingReportingOverflow(max(0, nanoseconds))
        guard !isBeyond, sum < 4 * pace else { return nil }
        spent = sum + pace
        return pace
    }

    /// Counts a new byte.
    mutating func proceeds() { spent = 0 }
}

/// The parameters of requests for resources of live content.
package struct LiveRetries {
    /// The target duration in seconds.
    let targetDuration: Double
    let clock: any MonotonicClock
    /// Whether a body of text is refused: true for segments, false for keys.
    package var refusesText = true

    package init(targetDuration: Double, clock: any MonotonicClock, refusesText: Bool = true) {
        self.targetDuration = targetDuration
        self.clock = clock
        self.refusesText = refusesText
    }
}
