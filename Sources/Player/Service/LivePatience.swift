import Media
import Platform

/// When a resource of live content is requested again, and when it is given up (docs/playback.md, 15.12): each half of
/// a target duration, until two target durations have passed without a new byte.
///
///     var patience = LivePatience(targetDuration: 6)
///     patience.delay(afterAttempt: 0)      // 3 s, four times, then nil
///
/// A value: the caller measures attempts, and waits. What the answer was does not matter.
struct LivePatience: Equatable, Sendable {
    /// A playlist may announce any target duration. In seconds.
    private static let targets = 0.2...60.0
    /// In milliseconds. A server may need so long for its first byte, however short its segments are.
    private static let leastFirstByteTimeout = 4000

    /// Nanoseconds from one attempt to the next.
    let pace: Int64
    /// Nanoseconds without a new byte.
    private var spent: Int64 = 0

    /// - Parameter targetDuration: in seconds.
    init(targetDuration: Double) {
        pace = Int64(max(Self.targets.lowerBound, min(targetDuration, Self.targets.upperBound)) * 0.5e9)
    }

    /// In milliseconds: a target duration.
    var firstByteTimeout: Int { max(Self.leastFirstByteTimeout, Int(clamping: 2 * pace / 1_000_000)) }

    /// An attempt has ended without the last byte.
    /// - Parameter nanoseconds: since it began, or since its last new byte.
    /// - Returns: nanoseconds until the next attempt; nil when there is none.
    mutating func delay(afterAttempt nanoseconds: Int64) -> Int64? {
        let (sum, isBeyond) = spent.addingReportingOverflow(max(0, nanoseconds))
        guard !isBeyond, sum < 4 * pace else { return nil }
        spent = sum + pace
        return pace
    }

    /// A new byte has arrived.
    mutating func goesOn() { spent = 0 }
}

/// Segments of live content that were given up one after the other. Many in a row are no accident of one answer: their
/// addresses may have expired, and a new session gets others. An outage is none of them.
struct LiveLosses: Equatable, Sendable {
    private static let most = 5

    private var count = 0

    /// - Returns: why a new session is better than the next segment; nil while it is not.
    mutating func lost(after error: MediaError) -> MediaError? {
        guard !error.isTemporary else { return nil }
        count += 1
        guard count >= Self.most else { return nil }
        count = 0
        return error.isWorthRestarting ? error : .source(.integrity(reason: "live stream: its segments are no audio"))
    }

    /// Something was decoded.
    mutating func heard() { count = 0 }
}

/// How the resources of live content are requested.
struct LiveRetries {
    /// In seconds.
    let targetDuration: Double
    let clock: any MonotonicClock
    /// Whether a body of text is none of the content: of segments, and not of keys.
    var refusesText = true
}

extension MediaError {
    /// Whether it comes from an answer, or from what was in it. The others are of this player: live content ends with
    /// them.
    var isOfAnswer: Bool {
        switch self {
        case .source(.cancelled), .source(.offlineMode), .source(.meteredLink), .source(.medium): false
        case .source, .damaged, .notAudio, .empty, .unsupported, .license: true
        case .protected, .missingKey: false
        }
    }
}
