import Network

/// The retries of one transfer: the delays, the timeout of the next first byte, and whether a failure is logged
/// (docs/playback.md, 15.4).
///
/// A value: the caller waits. `RetrySchedule` decides the delays.
struct TransferRetries {
    private var purpose: RetrySchedule.Purpose
    private var schedule: RetrySchedule
    private var patience = FirstBytePatience()
    /// Whether the current interruption has been logged.
    private var isLogged = false
    /// Whether another attempt than the first one has begun, so that a wait may be published.
    private(set) var hasBegun = false

    init(for purpose: RetrySchedule.Purpose) {
        self.purpose = purpose
        schedule = RetrySchedule(purpose)
    }

    /// The timeout for the first byte of the next attempt, in milliseconds; nil: as configured.
    var firstByteTimeout: Int? { patience.milliseconds }

    /// Notes that another attempt follows.
    mutating func beginAnother() { hasBegun = true }

    /// Counts a failure of the network.
    /// - Returns: nanoseconds until the next attempt; nil when there is none.
    mutating func delay(after error: TransferError) -> Int64? {
        guard error.isOfNetwork, let delay = schedule.delay(after: .network) else { return nil }
        // A file that may never have worked is not waited for so long.
        if purpose != .opening { patience.failed(with: error) }
        return delay
    }

    /// Counts an answer with an error.
    /// - Returns: nanoseconds until the next attempt; nil when there is none.
    mutating func delay(afterStatus status: Int, retryAfter: Int64?) -> Int64? {
        ServiceRefusal.isTemporary(status) ? schedule.delay(after: .server(retryAfter: retryAfter)) : nil
    }

    /// Begins the delays again: failures of the old link say nothing about the new one.
    mutating func linkChanged() { schedule = RetrySchedule(purpose) }

    /// Notes that bytes have arrived: the interruption is over.
    mutating func arrive() {
        purpose = purpose.onArrival
        if purpose.forgetsFailures { schedule = RetrySchedule(purpose) }
        isLogged = false
    }

    /// Returns whether to log the reason of a failure: once per interruption, so that users can find out why they hear
    /// nothing.
    mutating func isWorthLogging() -> Bool {
        defer { isLogged = true }
        return !isLogged
    }
}
