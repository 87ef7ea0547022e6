/// The proved time of day. Boards have no clock battery: after a power cut their clock is wrong, and its owner can set
/// it to any time. Trusted time is the last proved time, from the service or from a clock that the kernel reports as
/// synchronised, advanced by the clock since the system's start. It never moves backwards: after a later proof of an
/// earlier time it stands still until that time has caught up.
///
/// A value: the readings of the clocks are arguments.
public struct TrustedTime: Equatable, Sendable {
    /// A moment whose time was known.
    public struct Record: Equatable, Sendable {
        /// Since 1970, UTC.
        public var milliseconds: Int64
        /// The reading of the advancing clock, in nanoseconds, and the start of the system that it counts from.
        public var sinceBoot: Int64
        public var boot: String
        /// Whether a proof came since that start. Otherwise it is unknown how long the power was off before it.
        public var isProved: Bool

        public init(milliseconds: Int64, sinceBoot: Int64, boot: String, isProved: Bool = true) {
            self.milliseconds = milliseconds
            self.sinceBoot = sinceBoot
            self.boot = boot
            self.isProved = isProved
        }
    }

    /// Until the year 10000.
    private static let plausible: ClosedRange<Int64> = 0...253_402_300_800_000
    /// How far the time of a server may be from a time that is known already, in milliseconds.
    private static let serverTolerance: Int64 = 86_400_000

    private var lastProof: Record?
    /// The time at the last proof.
    private var floor: Int64 = .min

    /// Continues from the stored record; nil without one.
    public init(from record: Record?, at now: SystemTime) {
        // Numbers that are not plausible are damage, and would overflow below.
        guard let record, Self.plausible.contains(record.milliseconds), record.sinceBoot >= 0 else { return }
        let isSameBoot = record.boot.utf8.elementsEqual(now.boot.utf8) && record.sinceBoot <= now.sinceBoot
        // After a restart it is unknown how long the power was off; but the time since the start has passed.
        lastProof =
            isSameBoot
            ? record : Record(milliseconds: record.milliseconds, sinceBoot: 0, boot: now.boot, isProved: false)
    }

    /// Whether the time was proved since the system's start. Otherwise it is only the earliest possible one.
    public var isProved: Bool { lastProof?.isProved ?? false }

    /// Milliseconds since 1970; nil when the time was never proved.
    public func milliseconds(at now: SystemTime) -> Int64? {
        guard let lastProof else { return nil }
        return max(floor, lastProof.milliseconds + (now.sinceBoot - lastProof.sinceBoot) / 1_000_000)
    }

    /// A server, whose certificate is valid at that time, has just reported `milliseconds` since 1970. One server must
    /// not move a known time far: it would never come back, and the certificates of all others would have expired.
    /// A time long before the earliest possible one proves nothing.
    public mutating func proveByServer(_ milliseconds: Int64, at now: SystemTime) {
        guard Self.plausible.contains(milliseconds) else { return }
        if let current = self.milliseconds(at: now) {
            if milliseconds < current - Self.serverTolerance { return }
            if isProved, milliseconds > current + Self.serverTolerance { return }
        }
        prove(milliseconds, at: now)
    }

    /// It is `milliseconds` since 1970. Ignored when the time is not plausible.
    public mutating func prove(_ milliseconds: Int64, at now: SystemTime) {
        guard Self.plausible.contains(milliseconds) else { return }
        floor = self.milliseconds(at: now) ?? .min
        lastProof = Record(milliseconds: milliseconds, sinceBoot: now.sinceBoot, boot: now.boot)
    }

    /// Takes a synchronised system clock as proof.
    public mutating func observe(_ now: SystemTime) {
        if let synchronised = now.synchronised { prove(synchronised, at: now) }
    }

    /// The record to store.
    public func record(at now: SystemTime) -> Record? {
        milliseconds(at: now).map {
            Record(milliseconds: $0, sinceBoot: now.sinceBoot, boot: now.boot, isProved: isProved)
        }
    }

    /// Whether losing the time after `saved` would matter: a restart would find a time that is a minute or more behind,
    /// or does not know that it is proved, or an hour has passed that only this process knows.
    public func isWorthSaving(after saved: Record?, at now: SystemTime) -> Bool {
        guard let current = milliseconds(at: now) else { return false }
        guard let saved, saved.boot.utf8.elementsEqual(now.boot.utf8), saved.isProved == isProved,
            let restored = TrustedTime(from: saved, at: now).milliseconds(at: now)
        else { return true }
        return now.sinceBoot - saved.sinceBoot >= 3_600_000_000_000 || current - restored >= 60_000
    }
}
