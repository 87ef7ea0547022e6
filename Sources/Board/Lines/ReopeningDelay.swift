/// The waits between retries: first 1 s, doubled each time up to 30 s, without an end.
struct ReopeningDelay {
    private var failures = 0

    /// Returns the nanoseconds to wait after another failure.
    mutating func next() -> Int64 {
        defer { failures = min(failures + 1, 5) }
        return min(1_000_000_000 << Int64(failures), 30_000_000_000)
    }

    /// Resets the wait after a success.
    mutating func reset() { failures = 0 }
}
