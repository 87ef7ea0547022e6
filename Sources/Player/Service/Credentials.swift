import Platform

/// Provides the token that identifies the listener to the service.
///
/// Thread: any. It may block, on the thread that opens a product.
protocol CredentialsProvider: AnyObject, Sendable {
    /// The current token.
    /// - Parameters:
    ///   - rejected: a token that the service has just refused with 401; the provider gets another one if it can.
    ///   - use: the request that it is for.
    /// - Returns: nil when nobody is logged in, or when there is no other token than the rejected one.
    /// - Throws: when a server that would give another one does not answer, after all retries; `.cancelled`.
    func token(insteadOf rejected: String?, for use: TokenUse) throws(ResourceFailure) -> String?
}

/// The request that a token is for. A provider that has to ask a server for it repeats that as the request itself is
/// repeated (docs/playback.md, 15.4).
struct TokenUse {
    let purpose: RetrySchedule.Purpose
    /// Ends a wait.
    let cancellation: Cancellation
    /// Shows waits to a status; nil for a command.
    var progress: StreamProgress?
    /// Whether a request for it may leave over a metered link.
    var mayUseMeteredLink = true
}

/// A token that never changes: of a self-hosted service.
final class StaticCredentials: CredentialsProvider {
    private let token: String?

    /// - Parameter token: nil without credentials.
    init(token: String?) { self.token = token }

    func token(insteadOf rejected: String?, for use: TokenUse) -> String? {
        guard let token else { return nil }
        if let rejected, rejected.utf8.elementsEqual(token.utf8) { return nil }
        return token
    }
}
