/// The failures of a line since it last worked: when to request it again, and whether users know the reason.
struct LineFailures {
    private var delay = ReopeningDelay()
    private var reported: LineError?

    /// Forgets all failures, because the line works.
    mutating func reset() {
        delay.reset()
        reported = nil
    }

    /// Records that `error` is reported.
    /// - Returns: whether it is another error than the last one.
    mutating func isNews(_ error: LineError) -> Bool {
        defer { reported = error }
        return error != reported
    }

    /// Returns the nanoseconds to wait after another failure.
    mutating func nextDelay() -> Int64 { delay.next() }
}
