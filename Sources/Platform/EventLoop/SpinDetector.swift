/// Finds a timer that schedules itself without a delay and has nothing to wait for: it would keep a processor busy for
/// ever. Events in, an answer at the end of each turn of the event loop.
///
///     detector.scheduledWithoutDelay()
///     if detector.endTurn() { … }     // true in the thousandth such turn in a row
struct SpinDetector {
    /// Turns in a row. Work that is cut into pieces posts them, and so has other work in between.
    static let limit = 1000

    private var turns = 0
    private var hasScheduled = false
    private var hasOtherWork = false

    /// A timer was scheduled that is due at once.
    mutating func scheduledWithoutDelay() { hasScheduled = true }

    /// The loop had posted work, or a descriptor was ready.
    mutating func hadOtherWork() { hasOtherWork = true }

    /// - Returns: whether for `limit` turns in a row the loop did nothing but schedule timers without a delay.
    mutating func endTurn() -> Bool {
        turns = hasScheduled && !hasOtherWork ? turns + 1 : 0
        (hasScheduled, hasOtherWork) = (false, false)
        return turns >= Self.limit
    }
}
