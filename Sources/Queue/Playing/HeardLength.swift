/// The heard length of each entry, to detect a queue that repeats without audible sound.
struct HeardLength {
    /// The length of the entry that is heard in seconds, nil when unknown, and the time when it began.
    private var length: (seconds: Double?, began: Int64)?
    private var round = ShortRound()

    mutating func began(_ seconds: Double?, at time: Int64) { length = (seconds, time) }

    mutating func end() { length = nil }

    /// Returns how much of the ended entry was heard, in seconds. If its length is unknown, returns the time that it
    /// took.
    func yield(at time: Int64) -> Double {
        guard let length else { return .infinity }
        return length.seconds ?? Double(time - length.began) / 1e9
    }

    /// Begins a new count, because the user has chosen an entry.
    mutating func beginRound() { round = ShortRound() }

    /// Notes the end of an entry.
    /// - Returns: whether a whole round of `count` entries was too short to be heard.
    mutating func isShortRound(after seconds: Double, of count: Int) -> Bool { round.ended(after: seconds, of: count) }
}
