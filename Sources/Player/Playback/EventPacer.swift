/// How soon the control thread looks for the audio thread's next events, which makes no system call to announce them
/// (docs/decisions/control-polls-the-audio-thread.md). Waking up is most of what playing costs, so the time doubles as
/// long as nothing happens. Times are in nanoseconds.
struct EventPacer {
    private static let shortest: Int64 = 20_000_000
    private static let longest: Int64 = 100_000_000
    /// While music plays whose end is far.
    private static let longestWhileSteady: Int64 = 250_000_000
    /// In seconds: the audio thread publishes the position at least as often.
    private static let positionAge = 0.25

    private var interval = shortest

    /// Whether the next look is later than it would be after an event.
    var isSlow: Bool { interval > Self.shortest }

    /// There was an event, or the audio thread got something to do.
    mutating func hurry() { interval = Self.shortest }

    /// There was no event.
    mutating func slowDown() { interval = min(interval * 2, Self.longestWhileSteady) }

    /// Until the next look.
    /// - Parameter remaining: how much of the product is to be heard, in seconds, as last published; nil where that is
    ///   not known, or where nothing is heard.
    func next(remaining: Double?) -> Int64 {
        var limit = Self.longest
        if let remaining {
            let untilEnd = (remaining - Self.positionAge) * 1e9
            if untilEnd > Double(limit) { limit = Int64(min(untilEnd, Double(Self.longestWhileSteady))) }
        }
        return min(interval, limit)
    }
}
