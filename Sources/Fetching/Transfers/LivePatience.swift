import Media
import Network
import Platform

/// When a resource of live content is requested again, and when it is given up (docs/playback.md, 15.12). It is
/// requested every half target duration, until two target durations have passed without a new byte, or four in all.
///
///     var patience = LivePatience(targetDuration: 6)
///     patience.delay(afterAttempt: 0)      // 3 s, four times, then nil
///
/// A value: the caller measures attempts, and waits. The kind of failure does not matter.
package struct LivePatience: Equatable, Sendable {
    /// The range of usable target durations, in seconds: a playlist may announce any.
    private static let targets = 0.2...60.0
    /// The shortest limit of a silence, in milliseconds. A server may need this long, however short its segments are.
    private static let leastSilence = 4000

    /// The time from one attempt to the next, in nanoseconds.
    package let pace: Int64
    /// The time without a new byte, in nanoseconds.
    private var spent: Int64 = 0
    /// The time since the first attempt, without the pauses of the receiver, in nanoseconds.
    private var total: Int64 = 0

    /// - Parameter targetDuration: the target duration in seconds.
    package init(targetDuration: Double) {
        pace = Int64(max(Self.targets.lowerBound, min(targetDuration, Self.targets.upperBound)) * 0.5e9)
    }

    /// How long an attempt may be silent, in milliseconds: a target duration, or longer.
    package var longestSilence: Int { max(Self.leastSilence, Int(clamping: 2 * pace / 1_000_000)) }

    /// How long a resource may take in all, in nanoseconds: four target durations. A line that needs longer for a
    /// segment cannot carry the content.
    private var longest: Int64 { max(8 * pace, Int64(longestSilence) * 1_000_000) }

    /// Whether the resource takes too long, although bytes arrive.
    var isTooSlow: Bool { total >= longest }

    /// Counts an attempt that has ended before the last byte.
    /// - Parameter nanoseconds: since it began, or since its last new byte.
    /// - Returns: nanoseconds until the next attempt; nil when the resource is given up.
    mutating func delay(afterAttempt nanoseconds: Int64) -> Int64? {
        spent += max(0, min(nanoseconds, longest))
        total += max(0, min(nanoseconds, longest))
        guard spent < 4 * pace, !isTooSlow else { return nil }
        spent += pace
        total += pace
        return pace
    }

    /// Counts a new byte.
    /// - Parameter nanoseconds: since the attempt began, or since its last new byte.
    mutating func proceeds(after nanoseconds: Int64) {
        spent = 0
        total += max(0, min(nanoseconds, longest))
    }
}

extension TransferRequest {
    /// Limits each silence, in milliseconds, also where the configured limits are shorter.
    package mutating func live(longestSilence: Int) {
        (firstByteTimeout, self.longestSilence) = (longestSilence, longestSilence)
    }
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
