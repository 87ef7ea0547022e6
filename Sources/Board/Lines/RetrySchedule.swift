/// When to look again for what is not there: 1 s, then twice as long each time, up to 30 s, for ever.
struct RetrySchedule {
    private var failures = 0

    /// Nanoseconds to wait after one more failure.
    mutating func next() -> Int64 {
        defer { failures = min(failures + 1, 5) }
        return min(1_000_000_000 << Int64(failures), 30_000_000_000)
    }

    /// It was there.
    mutating func reset() { failures = 0 }
}
