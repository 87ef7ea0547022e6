/// The time of day as far as it was proved. Boards have no clock battery: after a power cut their own clock says
/// something old, and an owner can set it at will. Trusted time is the last time that was proved, by the service or by
/// a clock that the kernel says is synchronised, carried on by the clock that counts from the system's start. It never
/// moves backwards: when a later proof says an earlier time, it stands still until that has caught up.
///
/// A value: the readings of the clocks are arguments.
public struct TrustedTime: Equatable, Sendable {
    /// A moment whose time was known.
    public struct Record: Equatable, Sendable {
        /// Since 1970, UTC.
        public var milliseconds: Int64
        /// The reading of the clock that carries on, in nanoseconds, and which start of the system it counts from.
        public var sinceBoot: Int64
        public var boot: String

        public init(milliseconds: Int64, sinceBoot: Int64, boot: String) {
            self.milliseconds = milliseconds
            self.sinceBoot = sinceBoot
            self.boot = boot
        }
    }

    /// Until the year 10000.
    private static let plausible: ClosedRange<Int64> = 0...253_402_300_800_000

    private var lastProof: Record?
    /// What was the time at the last proof.
    private var floor: Int64 = .min

    /// Goes on from what was persisted; nil where nothing was.
    public init(from record: Record?, at now: SystemTime) {
        // Numbers that no clock gives are damage, and would overflow below.
        guard let record, Self.plausible.contains(record.milliseconds), record.sinceBoot >= 0 else { return }
        let isSameBoot = record.boot.utf8.elementsEqual(now.boot.utf8) && record.sinceBoot <= now.sinceBoot
        // After a restart nobody knows how long the power was off; but the time since the start has surely passed.
        lastProof = isSameBoot ? record : Record(milliseconds: record.milliseconds, sinceBoot: 0, boot: now.boot)
    }

    /// Milliseconds since 1970; nil as long as nothing was ever proved.
    public func milliseconds(at now: SystemTime) -> Int64? {
        guard let lastProof else { return nil }
        return max(floor, lastProof.milliseconds + (now.sinceBoot - lastProof.sinceBoot) / 1_000_000)
    }

    /// The service has just said that it is `milliseconds` since 1970. Without effect for a time that no clock gives.
    public mutating func prove(_ milliseconds: Int64, at now: SystemTime) {
        guard Self.plausible.contains(milliseconds) else { return }
        floor = self.milliseconds(at: now) ?? .min
        lastProof = Record(milliseconds: milliseconds, sinceBoot: now.sinceBoot, boot: now.boot)
    }

    /// Takes a synchronised system clock as proof.
    public mutating func observe(_ now: SystemTime) {
        if let synchronised = now.synchronised { prove(synchronised, at: now) }
    }

    /// What to persist.
    public func record(at now: SystemTime) -> Record? {
        milliseconds(at: now).map { Record(milliseconds: $0, sinceBoot: now.sinceBoot, boot: now.boot) }
    }

    /// Whether losing what came after `saved` would matter: a restart would find another time (by a minute or more), or
    /// an hour has passed that only this process knows of.
    public func isWorthSaving(after saved: Record?, at now: SystemTime) -> Bool {
        guard let current = milliseconds(at: now) else { return false }
        guard let saved, saved.boot.utf8.elementsEqual(now.boot.utf8),
            let restored = TrustedTime(from: saved, at: now).milliseconds(at: now)
        else { return true }
        return now.sinceBoot - saved.sinceBoot >= 3_600_000_000_000 || abs(current - restored) >= 60_000
    }
}
