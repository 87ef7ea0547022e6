/// How long a decoder thread sleeps before it checks a full ring again. The audio thread makes no system call to wake
/// it. So the decoder thread measures how fast frames are taken: steadily by a device, or all at once by a plug-in.
struct RefillPacer {
    /// The longest sleep in milliseconds.
    private let longestSleep: Int
    /// The milliseconds slept since the last refill.
    private var slept = 0
    /// The sleep between the last two refills.
    private var lastInterval = 0

    init(longestSleep: Int) { self.longestSleep = longestSleep }

    /// The ring has room again.
    mutating func refilled() {
        guard slept > 0 else { return }
        lastInterval = slept
        slept = 0
    }

    /// The next sleep in milliseconds: at first most of the last interval, then short sleeps until there is room.
    mutating func sleep() -> Int {
        let milliseconds = max(1, min(longestSleep, slept == 0 ? lastInterval * 3 / 4 : slept / 4))
        slept += milliseconds
        return milliseconds
    }
}
