/// The time for checking certificates.
public struct CertificateTime: Equatable, Sendable {
    /// Seconds since 1970.
    public var seconds: Int64
    /// Whether the time is proved. Otherwise it is the earliest possible one: this machine has no battery for its
    /// clock, and has not received the time since its start.
    public var isProved: Bool

    public init(_ seconds: Int64, isProved: Bool) {
        self.seconds = seconds
        self.isProved = isProved
    }
}

/// Provides the time for checking certificates.
///
/// Thread: network.
public protocol CertificateClock: AnyObject, Sendable {
    func now() -> CertificateTime
    /// Records that a server has just sent the time `seconds` since 1970, at which its certificates are valid.
    func serverProves(_ seconds: Int64)
    /// Records that another server has just sent the time `seconds` since 1970. Its certificate was not checked, or not
    /// with this clock.
    func serverReports(_ seconds: Int64)
}

/// A time that is always proved.
final class KnownTime: CertificateClock {
    private let seconds: @Sendable () -> Int64

    init(_ seconds: @escaping @Sendable () -> Int64) { self.seconds = seconds }

    func now() -> CertificateTime { CertificateTime(seconds(), isProved: true) }
    func serverProves(_ seconds: Int64) {}
    func serverReports(_ seconds: Int64) {}
}
