import Platform

/// The clocks of streaming privileges, and the randomness of their delays.
///
/// Thread: any.
struct PrivilegesTime: Sendable {
    /// The time at which the user presses play; nil uses the system's clock.
    let trusted: TrustedClock?
    /// The clock of the timers.
    let monotonic: any MonotonicClock
    /// Returns a random number in 0…1.
    let jitter: @Sendable () -> Double

    init(
        trusted: TrustedClock?, monotonic: any MonotonicClock = SystemMonotonicClock(),
        jitter: @escaping @Sendable () -> Double = { Double(SystemRandomSource().bytes(1)[0]) / 255 }
    ) {
        (self.trusted, self.monotonic, self.jitter) = (trusted, monotonic, jitter)
    }

    /// Returns the nanoseconds of the clock of the timers.
    func now() -> Int64 { monotonic.now() }

    /// Returns the trusted time in milliseconds since 1970. It is that of the system's clock, which may be wrong, while
    /// no time was ever proved.
    func milliseconds() -> Int64 { trusted?.read().milliseconds ?? SystemTime.clockMilliseconds() }
}
