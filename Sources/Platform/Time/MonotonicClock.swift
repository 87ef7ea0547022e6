import CLinux

/// A clock that only moves forward: for deadlines and durations, never for dates.
public protocol MonotonicClock: AnyObject, Sendable {
    /// Nanoseconds since an arbitrary moment.
    func now() -> Int64
}

/// CLOCK_MONOTONIC. Any thread, including the audio thread: it neither allocates nor blocks.
public final class SystemMonotonicClock: MonotonicClock {
    public init() {}

    public func now() -> Int64 { nanoseconds(of: CLOCK_MONOTONIC) }
}

/// Returns the time of a kernel clock in nanoseconds.
func nanoseconds(of clock: Int32) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
