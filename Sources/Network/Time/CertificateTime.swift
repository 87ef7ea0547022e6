/// The time that certificates are checked against.
public struct CertificateTime: Equatable, Sendable {
    /// Since 1970.
    public var seconds: Int64
    /// Whether that is the time. Otherwise it is the earliest possible one: this machine has no battery for its clock,
    /// and nobody has told it the time since its start.
    public var isProved: Bool

    public init(_ seconds: Int64, isProved: Bool) {
        self.seconds = seconds
        self.isProved = isProved
    }
}

/// Knows the time that certificates are checked against.
///
/// Thread: network.
public protocol CertificateClock: AnyObject, Sendable {
    func now() -> CertificateTime
    /// A server whose certificates are valid at `seconds` since 1970 has just said that it is that time.
    func serverProves(_ seconds: Int64)
}

/// A time that is always known.
final class KnownTime: CertificateClock {
    private let seconds: @Sendable () -> Int64

    init(_ seconds: @escaping @Sendable () -> Int64) { self.seconds = seconds }

    func now() -> CertificateTime { CertificateTime(seconds(), isProved: true) }
    func serverProves(_ seconds: Int64) {}
}
