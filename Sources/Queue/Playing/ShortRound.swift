/// Detects a queue that repeats without audible sound: entries with no or few frames
/// (docs/decisions/entries-too-short-to-hear.md).
struct ShortRound: Equatable {
    /// The heard length below which an entry is too short, in seconds.
    static let shortEntry = 0.2
    /// The heard length below which a round stops the queue, in seconds.
    static let shortRound = 1.0

    private var entries = 0
    private var seconds = 0.0

    /// Counts an entry that has ended, or could not be played.
    /// - Parameters:
    ///   - seconds: the length that was heard.
    ///   - count: the number of entries in a round.
    /// - Returns: whether the queue has to stop.
    mutating func ended(after seconds: Double, of count: Int) -> Bool {
        guard seconds < Self.shortEntry else {
            self = ShortRound()
            return false
        }
        entries += 1
        self.seconds += max(0, seconds)
        guard entries >= count else { return false }
        defer { self = ShortRound() }
        return self.seconds < Self.shortRound
    }
}
