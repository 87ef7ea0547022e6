/// The proved time of day. Boards have no clock battery: after a power cut their clock is wrong, and its owner can set
/// it to any time. Trusted time is the last proved time, advanced by the clock since that proof. Proofs come from the
/// service, or from a clock that the kernel reports as synchronised.
///
/// A proof replaces an estimate, even a later one. A proof within a day of a proved time corrects it. If it is earlier,
/// the time stops until it has caught up, and does not move backwards. A proof that is farther away may be wrong: it is
/// only a claim until a second one agrees with it (docs/decisions/trusted-time.md).
///
/// A value: the readings of the clocks are arguments.
public struct TrustedTime: Equatable, Sendable {
    /// A clock outside this program.
    private enum Witness {
        /// The system's clock, while the kernel reports that it is synchronised.
        case system
        case server
    }

    /// A time, far from the known one, that one witness has reported.
    private struct Claim: Equatable {
        var milliseconds: Int64
        var sinceBoot: Int64
        var witness: Witness
    }

    /// A time that a server has reported without a proof, and the reading of the advancing clock at that moment.
    private struct Report: Equatable {
        var milliseconds: Int64
        var sinceBoot: Int64
    }

    /// A moment whose time was known.
    public struct Record: Equatable, Sendable {
        /// Milliseconds since 1970, UTC.
        public var milliseconds: Int64
        /// The reading of the advancing clock, in nanoseconds, and the system start that it is relative to.
        public var sinceBoot: Int64
        public var boot: String
        /// Whether the time was proved since that start. Otherwise the duration of the power cut before it is unknown.
        public var isProved: Bool

        public init(milliseconds: Int64, sinceBoot: Int64, boot: String, isProved: Bool = true) {
            self.milliseconds = milliseconds
            self.sinceBoot = sinceBoot
            self.boot = boot
            self.isProved = isProved
        }
    }

    /// The range of accepted times, until the year 10000.
    private static let plausible: ClosedRange<Int64> = 0...253_402_300_800_000
    /// How far a proof may be from the known time to be accepted at once, in milliseconds.
    private static let tolerance: Int64 = 86_400_000
    /// How far apart two reports of one time may be, in milliseconds.
    private static let agreement: Int64 = 3_600_000
    /// The minimum time between two reports of the same witness for the second one to confirm its claim, in
    /// milliseconds: against an estimate, and against a proved time.
    private static let estimateDelay: Int64 = 60_000
    private static let proofDelay: Int64 = 3_600_000

    private var lastProof: Record?
    private var claim: Claim?
    /// The latest time that a server has reported without a proof.
    private var report: Report?
    /// The time at the last proof, below which the time must not go.
    private var floor: Int64 = .min

    /// Continues from the stored record, or without one.
    public init(from record: Record?, at now: SystemTime) {
        // Implausible numbers show damage, and would overflow below.
        guard let record, Self.plausible.contains(record.milliseconds), record.sinceBoot >= 0 else { return }
        if record.boot.utf8.elementsEqual(now.boot.utf8), record.sinceBoot <= now.sinceBoot {
            lastProof = record
        } else {
            // The duration of the power cut is unknown. The time since the system's start is not added: the record may
            // have been copied from another machine, and this one may have been running for years.
            lastProof = Record(
                milliseconds: record.milliseconds, sinceBoot: now.sinceBoot, boot: now.boot, isProved: false)
        }
    }

    /// Whether the time was proved since the system's start. Otherwise it is only the earliest possible one.
    public var isProved: Bool { lastProof?.isProved ?? false }

    /// Milliseconds since 1970; nil when the time was never proved.
    public func milliseconds(at now: SystemTime) -> Int64? {
        guard let lastProof else { return nil }
        return max(floor, lastProof.milliseconds + (now.sinceBoot - lastProof.sinceBoot) / 1_000_000)
    }

    /// Returns the best estimate of the time, in milliseconds since 1970: the proved time. Without a proof it is the
    /// latest of the earliest possible time, the system's clock, and the last report of a server. nil without any.
    public func estimate(at now: SystemTime) -> Int64? {
        let known = milliseconds(at: now)
        if isProved { return known }
        let reported = report.map { $0.milliseconds + (now.sinceBoot - $0.sinceBoot) / 1_000_000 }
        let clock = now.clock.flatMap { Self.plausible.contains($0) ? $0 : nil }
        return [known, reported, clock].compactMap { $0 }.max()
    }

    /// Records that a server has just reported `milliseconds` since 1970, over a connection that proves nothing.
    public mutating func reportByServer(_ milliseconds: Int64, at now: SystemTime) {
        guard Self.plausible.contains(milliseconds) else { return }
        report = Report(milliseconds: milliseconds, sinceBoot: now.sinceBoot)
    }

    /// Records that a server has just reported `milliseconds` since 1970, a time at which its certificate is valid.
    public mutating func proveByServer(_ milliseconds: Int64, at now: SystemTime) {
        weigh(milliseconds, of: .server, at: now)
    }

    /// Takes a synchronised system clock as proof.
    public mutating func observe(_ now: SystemTime) {
        if let synchronised = now.synchronised { weigh(synchronised, of: .system, at: now) }
    }

    private mutating func weigh(_ milliseconds: Int64, of witness: Witness, at now: SystemTime) {
        guard Self.plausible.contains(milliseconds) else { return }
        guard let current = self.milliseconds(at: now) else { return prove(milliseconds, at: now) }
        let isNear = Self.distance(milliseconds, current) <= Self.tolerance
        if isProved, isNear { return prove(milliseconds, at: now) }
        // An estimate may be too late, because it comes from a file.
        let isCounted = !isProved && (isNear || milliseconds < current)
        guard isCounted || confirms(milliseconds, of: witness, at: now) else { return }
        prove(milliseconds, at: now)
        floor = .min
    }

    /// Returns whether a second report confirms the claim: one of the other witness, or of the same one after some
    /// time. A report of another time becomes the new claim.
    private mutating func confirms(_ milliseconds: Int64, of witness: Witness, at now: SystemTime) -> Bool {
        if let claim {
            let elapsed = (now.sinceBoot - claim.sinceBoot) / 1_000_000
            if Self.distance(milliseconds, claim.milliseconds + elapsed) <= Self.agreement {
                return claim.witness != witness || elapsed >= (isProved ? Self.proofDelay : Self.estimateDelay)
            }
        }
        claim = Claim(milliseconds: milliseconds, sinceBoot: now.sinceBoot, witness: witness)
        return false
    }

    private static func distance(_ one: Int64, _ other: Int64) -> Int64 { one < other ? other - one : one - other }

    /// Sets the time to `milliseconds` since 1970. Does nothing when the time is not plausible.
    public mutating func prove(_ milliseconds: Int64, at now: SystemTime) {
        guard Self.plausible.contains(milliseconds) else { return }
        floor = self.milliseconds(at: now) ?? .min
        lastProof = Record(milliseconds: milliseconds, sinceBoot: now.sinceBoot, boot: now.boot)
        claim = nil
    }

    /// Returns the record to store; nil when the time was never proved.
    public func record(at now: SystemTime) -> Record? {
        milliseconds(at: now).map {
            Record(milliseconds: $0, sinceBoot: now.sinceBoot, boot: now.boot, isProved: isProved)
        }
    }

    /// Returns whether losing the time after `saved` would matter. It matters when a restart would find a time that
    /// differs by a minute or more, or does not know that it is proved. It also matters when an hour has passed since
    /// the last record.
    public func isWorthSaving(after saved: Record?, at now: SystemTime) -> Bool {
        guard let current = milliseconds(at: now) else { return false }
        guard let saved, saved.boot.utf8.elementsEqual(now.boot.utf8), saved.isProved == isProved,
            let restored = TrustedTime(from: saved, at: now).milliseconds(at: now)
        else { return true }
        return now.sinceBoot - saved.sinceBoot >= 3_600_000_000_000 || Self.distance(current, restored) >= 60_000
    }
}
