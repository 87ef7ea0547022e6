/// The waits between retries: 1 s, then twice as long each time, up to 30 s, for ever.
struct RetrySchedule {
    private var failures = 0

    /// Nanoseconds to wait after another failure.
    mutating func next() -> Int64 {
        defer { failures = min(failures + 1, 5) }
        return min(1_000_000_000 << Int64(failures), 30_000_000_000)
    }

    /// The attempt succeeded.
    mutating func reset() { failures = 0 }
}
