import Queue

/// How long the current entry was heard, to decide when it counts as played: after half of it, or four minutes.
///
/// A value: the owner reports each change, and waits as long as it says.
struct HeardTime {
    enum Decision: Equatable {
        case nothing
        /// The entry counts after this many more nanoseconds of uninterrupted sound.
        case wait(Int64)
        /// The entry counts now, once.
        case count
    }

    /// The time after which a long entry counts, in nanoseconds.
    private static let limit: Int64 = 240_000_000_000

    private var entry: EntryID?
    /// The time that was heard before `since`, in nanoseconds.
    private var heard: Int64 = 0
    /// The time at which the sound began; nil while it is silent.
    private var since: Int64?
    private var isCounted = false
    /// Whether the entry was heard from its beginning without gaps. Then its end counts even if a fast device took less
    /// time than its duration.
    private var isWhole = false

    /// Reports the playback from now on.
    /// - Parameters:
    ///   - duration: the duration in seconds; nil while it is unknown.
    ///   - now: the time of a monotonic clock, in nanoseconds.
    mutating func update(_ entry: EntryID?, isSounding: Bool, duration: Double?, at now: Int64) -> Decision {
        if entry != self.entry {
            self = HeardTime()
            self.entry = entry
        }
        if let since { heard += now - since }
        since = isSounding && entry != nil ? now : nil
        if isCounted || entry == nil { return .nothing }
        let half = duration.map { Int64(min(max($0, 0), 1e6) * 0.5e9) }
        let rest = min(half ?? Self.limit, Self.limit) - heard
        if rest <= 0, heard > 0 {
            isCounted = true
            return .count
        }
        return since == nil ? .nothing : .wait(max(rest, 1_000_000))
    }

    /// Reports that the entry was announced and begins.
    mutating func begin() { isWhole = true }

    /// Reports that a part of the entry is not heard: a seek, or a failure.
    mutating func leaveOut() { isWhole = false }

    /// Reports that the entry has ended by itself. The next entry may be the same one.
    /// - Returns: whether it counts now.
    mutating func end() -> Bool {
        defer { self = HeardTime() }
        return isWhole && !isCounted
    }
}
