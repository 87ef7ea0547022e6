/// Why a product does not play, or is not downloaded, at this moment. The engines, the status of the daemon and its
/// problems have the same value.
public enum WaitReason: Equatable, Sendable {
    /// A file is read, or bytes are on their way.
    case medium
    /// There is no link to other networks.
    case link
    /// The network has failed. Another link ends the wait at once.
    /// - Parameter seconds: the time until the next attempt; 0 during an attempt.
    case network(seconds: Double)
    /// The service failed, or asked to wait (5XX and 429).
    /// - Parameter seconds: the time until the next attempt; 0 during an attempt.
    case service(seconds: Double)

    /// Makes the reason of a wait for a retry.
    /// - Parameter seconds: the time until the next attempt; 0 during an attempt.
    init(_ failure: RetrySchedule.Failure, seconds: Double) {
        switch failure {
        case .network: self = .network(seconds: seconds)
        case .server: self = .service(seconds: seconds)
        }
    }

    /// The time until the next attempt; nil without one.
    package var seconds: Double? {
        switch self {
        case .medium, .link: nil
        case .network(let seconds), .service(let seconds): seconds
        }
    }
}
