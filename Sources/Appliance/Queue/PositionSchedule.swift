/// When the position is written. A power cut loses at most 10 s of it, and the medium is rarely written: every 9 s
/// while it moves (the write itself may take a second), at once when it stops, and at most once a second during
/// repeated seeks.
///
/// Times are those of a monotonic clock, in nanoseconds.
public struct PositionSchedule: Sendable {
    public static let interval: Int64 = 9_000_000_000
    private static let jumpInterval: Int64 = 1_000_000_000

    public enum Event: Equatable, Sendable {
        /// Time has passed.
        case tick
        /// A seek to another position.
        case jumped
        /// Paused, stopped, or the program ends: the position does not move any more.
        case rested
    }

    private struct Written: Equatable {
        var entry: EntryID
        var milliseconds: Int64
    }

    private var written: Written?
    /// When the stored position was correct for the last time.
    private var lastCorrect: Int64
    private var hasJumped = false

    /// - Parameter now: the time at which the stored position was correct.
    public init(at now: Int64) { lastCorrect = now }

    /// Whether to write the position now. If so, it counts as written.
    /// - Parameters:
    ///   - seconds: the position in `entry`.
    ///   - entry: the current one; nil when there is none, and then nothing is left to write.
    public mutating func shouldWrite(_ event: Event, seconds: Double, of entry: EntryID?, at now: Int64) -> Bool {
        guard let entry else {
            (hasJumped, lastCorrect) = (false, now)
            return false
        }
        if event == .jumped { hasJumped = true }
        guard event == .rested || now >= deadline else { return false }
        let position = Written(entry: entry, milliseconds: Int64(max(0, min(seconds, 1e12)) * 1000))
        (hasJumped, lastCorrect) = (false, now)
        guard position != written else { return false }
        written = position
        return true
    }

    /// When to call with the next tick: while it plays, and after a jump that was not written at once; nil when nothing
    /// will change. After an answer to `shouldWrite` at `now`, it is later than `now`.
    public func nextTick(isPlaying: Bool, at now: Int64) -> Int64? {
        isPlaying || hasJumped ? max(now, deadline) : nil
    }

    private var deadline: Int64 { lastCorrect + (hasJumped ? Self.jumpInterval : Self.interval) }
}
