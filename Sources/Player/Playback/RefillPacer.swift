/// How long a decoder thread sleeps before it looks at a full ring again. The audio thread makes no system call to wake
/// it, so it learns the pace at which frames are taken: a device's, or that of a plug-in which takes all at once.
struct RefillPacer {
    /// In milliseconds.
    private let longestSleep: Int
    /// Slept since the last refill.
    private var slept = 0
    /// Slept from one refill to the next, the last time.
    private var lastInterval = 0

    init(longestSleep: Int) { self.longestSleep = longestSleep }

    /// The ring took frames again.
    mutating func refilled() {
        guard slept > 0 else { return }
        lastInterval = slept
        slept = 0
    }

    /// The next sleep in milliseconds: most of the last interval first, then a little more each time.
    mutating func sleep() -> Int {
        let milliseconds = max(1, min(longestSleep, slept == 0 ? lastInterval * 3 / 4 : slept / 4))
        slept += milliseconds
        return milliseconds
    }
}
