/// Finds a timer that schedules itself without a delay and waits for nothing: it would keep a processor busy for ever.
/// Events in, an answer at the end of each turn of the event loop.
///
///     detector.scheduledWithoutDelay()
///     if detector.endTurn() { … }     // true in the thousandth such turn in a row
struct SpinDetector {
    /// The number of consecutive turns that counts as spinning. Work that is cut into pieces posts them, and so has
    /// other work in between.
    static let limit = 1000

    private var turns = 0
    private var hasScheduled = false
    private var hasOtherWork = false

    /// Records that a timer was scheduled that is due at once.
    mutating func scheduledWithoutDelay() { hasScheduled = true }

    /// Records that the loop had posted work, or that a descriptor was ready.
    mutating func hadOtherWork() { hasOtherWork = true }

    /// - Returns: whether the loop did nothing but schedule timers without a delay for `limit` turns in a row.
    mutating func endTurn() -> Bool {
        turns = hasScheduled && !hasOtherWork ? turns + 1 : 0
        (hasScheduled, hasOtherWork) = (false, false)
        return turns >= Self.limit
    }
}
