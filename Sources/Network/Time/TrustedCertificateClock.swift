import Platform

/// The trusted time for checking certificates: never before the release of the program
/// (docs/decisions/trusted-time.md).
///
/// Thread: any.
public final class TrustedCertificateClock: CertificateClock {
    private let clock: TrustedClock
    private let released: Int64

    /// - Parameter released: when the program was built, in seconds since 1970.
    public init(_ clock: TrustedClock, released: Int64) {
        self.clock = clock
        self.released = released
    }

    public func now() -> CertificateTime {
        let reading = clock.read()
        return CertificateTime(max((reading.milliseconds ?? 0) / 1000, released), isProved: reading.isProved)
    }

    public func serverProves(_ seconds: Int64) {
        if let milliseconds = milliseconds(seconds) { clock.proveByServer(milliseconds) }
    }

    public func serverReports(_ seconds: Int64) {
        if let milliseconds = milliseconds(seconds) { clock.reportByServer(milliseconds) }
    }

    /// - Returns: nil for a time before the release.
    private func milliseconds(_ seconds: Int64) -> Int64? {
        guard seconds >= released else { return nil }
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? nil : milliseconds
    }
}
