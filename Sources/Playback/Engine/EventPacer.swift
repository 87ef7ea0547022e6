/// The delay until the control thread next polls the audio thread's events. The audio thread makes no system call to
/// announce them (docs/decisions/control-polls-the-audio-thread.md). Wake-ups are most of the cost of playing, so the
/// delay doubles while there are no events. Times are in nanoseconds.
struct EventPacer {
    private static let shortest: Int64 = 20_000_000
    private static let longest: Int64 = 100_000_000
    /// The maximum delay while the end of the product is far away.
    private static let longestWhileSteady: Int64 = 250_000_000
    /// The maximum age of a published position, in seconds.
    private static let positionAge = 0.25

    private var interval = shortest

    /// Whether the delay is longer than directly after an event.
    var isSlow: Bool { interval > Self.shortest }

    /// Resets the delay after an event, or when the audio thread got a command.
    mutating func hurry() { interval = Self.shortest }

    /// Doubles the delay after a poll without an event.
    mutating func slowDown() { interval = min(interval * 2, Self.longestWhileSteady) }

    /// Returns the delay until the next poll.
    /// - Parameter remaining: the rest of the product in seconds, as last published; nil when it is unknown, or no
    ///   product is heard.
    func next(remaining: Double?) -> Int64 {
        var limit = Self.longest
        if let remaining {
            let untilEnd = (remaining - Self.positionAge) * 1e9
            if untilEnd > Double(limit) { limit = Int64(min(untilEnd, Double(Self.longestWhileSteady))) }
        }
        return min(interval, limit)
    }
}
