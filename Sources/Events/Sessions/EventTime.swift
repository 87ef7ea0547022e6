/// A moment by the trusted clock.
package struct EventTime: Equatable, Sendable {
    /// Milliseconds since 1970, UTC.
    package var milliseconds: Int64
    /// Whether the clock was proved since the start of the system. Otherwise this is the earliest possible time.
    package var isProved: Bool
    /// The start of the system by the same clock; nil when it is not known.
    package var systemStart: SystemStart?

    package init(milliseconds: Int64, isProved: Bool = true, systemStart: SystemStart? = nil) {
        self.milliseconds = milliseconds
        self.isProved = isProved
        self.systemStart = systemStart
    }

    /// Takes a time that was not proved as wrong by `error` milliseconds.
    mutating func correct(_ error: Int64) {
        milliseconds += error
        isProved = true
        systemStart = nil
    }
}

/// A start of the system. The time since then is known exactly, so that a time that is proved later corrects all
/// earlier ones of the same start.
package struct SystemStart: Equatable, Sendable {
    /// Identifies the start.
    package var boot: String
    /// The time of the start by a clock, in milliseconds since 1970. A clock that is not proved gives a wrong one.
    package var milliseconds: Int64

    /// The clock of one start may differ from itself by so much, in milliseconds: it is read in steps, and adjusted.
    private static let tolerance: Int64 = 100

    package init(boot: String, milliseconds: Int64) {
        self.boot = boot
        self.milliseconds = milliseconds
    }

    /// Returns the correction of times of this start, in milliseconds.
    /// - Parameter proof: the same start according to a proved clock.
    /// - Returns: nil for another start.
    package func error(by proof: SystemStart?) -> Int64? {
        guard let proof, boot.utf8.elementsEqual(proof.boot.utf8) else { return nil }
        return proof.milliseconds - milliseconds
    }

    /// Whether times by both are of one start and one clock.
    func isSame(as other: SystemStart?) -> Bool {
        guard let difference = error(by: other) else { return false }
        return abs(difference) <= Self.tolerance
    }
}
