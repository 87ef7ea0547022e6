/// How long a transfer may stay in its phase. A value: the time is an argument, in nanoseconds of the loop's clock.
struct PhaseDeadline {
    private let connectTimeout: Int64
    private let firstByteTimeout: Int64
    private let silenceTimeout: Int64
    private(set) var phase = TransferPhase.waiting
    /// The time from the request to the first byte, in nanoseconds; nil before that byte.
    private(set) var firstByteDelay: Int64?
    private var since: Int64 = 0
    private var isPaused = false

    /// - Parameters:
    ///   - firstByteTimeout: the timeout in milliseconds; nil: as configured.
    ///   - longestSilence: limits each phase, in milliseconds; nil without a limit.
    init(_ settings: NetworkSettings, firstByteTimeout: Int? = nil, longestSilence: Int? = nil) {
        let limit = longestSilence ?? .max
        connectTimeout = Self.nanoseconds(min(settings.connectTimeout, limit))
        self.firstByteTimeout = Self.nanoseconds(min(firstByteTimeout ?? settings.firstByteTimeout, limit))
        silenceTimeout = Self.nanoseconds(min(settings.silenceTimeout, limit))
    }

    /// The time at which the transfer fails; nil if it may wait without end.
    var deadline: Int64? {
        switch phase {
        case .waiting: nil
        case .resolving, .connecting: since + connectTimeout
        case .firstByte: since + firstByteTimeout
        case .body: isPaused ? nil : since + silenceTimeout
        }
    }

    mutating func enter(_ phase: TransferPhase, at now: Int64) {
        // Resolving and connecting share one limit, for any number of addresses.
        if self.phase == .firstByte, phase == .body { firstByteDelay = now - since }
        let isStillConnecting = phase == .connecting && (self.phase == .resolving || self.phase == .connecting)
        if !isStillConnecting { since = now }
        self.phase = phase
        isPaused = false
    }

    /// Restarts the time after bytes have arrived.
    mutating func progress(at now: Int64) { since = now }

    mutating func pause() { isPaused = true }

    mutating func resume(at now: Int64) {
        isPaused = false
        since = now
    }

    /// The result is bounded, so that no sum with a time overflows.
    private static func nanoseconds(_ milliseconds: Int) -> Int64 {
        Int64(min(max(milliseconds, 0), 1_000_000_000)) * 1_000_000
    }
}
