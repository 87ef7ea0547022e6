import Queue

/// Decides when the position is written. A power cut loses at most 15 s of it, and the medium is rarely written. The
/// position is written every 14 s while it moves (the write itself may take a second), and at once when it stops.
/// During repeated seeks it is written at most once a second.
///
/// Times are those of a monotonic clock, in nanoseconds.
struct PositionSchedule: Sendable {
    static let interval: Int64 = 14_000_000_000
    private static let jumpInterval: Int64 = 1_000_000_000

    enum Event: Equatable, Sendable {
        /// Time has passed.
        case tick
        /// A seek to another position.
        case jumped
        /// Paused, stopped, or the program ends: the position does not change any more.
        case rested
    }

    private struct Written: Equatable {
        var entry: EntryID
        var milliseconds: Int64
    }

    private var written: Written?
    /// The last time at which the stored position was correct.
    private var lastCorrect: Int64
    private var hasJumped = false

    /// - Parameter now: the time at which the stored position was correct.
    init(at now: Int64) { lastCorrect = now }

    /// Returns whether to write the position now. If so, it counts as written.
    /// - Parameters:
    ///   - seconds: the position in `entry`.
    ///   - entry: the current entry; nil when there is none, and then no position is written.
    mutating func shouldWrite(_ event: Event, seconds: Double, of entry: EntryID?, at now: Int64) -> Bool {
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

    /// Returns the time of the next tick; nil when no change is expected. Ticks are needed while music plays, and after
    /// a jump that was not written at once. After an answer to `shouldWrite` at `now`, it is later than `now`.
    func nextTick(isPlaying: Bool, at now: Int64) -> Int64? {
        isPlaying || hasJumped ? max(now, deadline) : nil
    }

    private var deadline: Int64 { lastCorrect + (hasJumped ? Self.jumpInterval : Self.interval) }
}
