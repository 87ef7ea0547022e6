import Platform

/// Provides the token that identifies the listener to the service.
///
/// Thread: any. `token` may block, on the thread that opens a product.
protocol CredentialsProvider: AnyObject, Sendable {
    /// Returns the current token.
    /// - Parameters:
    ///   - rejected: a token that the service has just refused with 401; the provider gets another one if it can.
    ///   - use: the request that needs the token.
    /// - Returns: nil without a login, or when there is no other token than the rejected one.
    /// - Throws: when the server that would issue another token does not answer, after all retries; `.cancelled`.
    func token(insteadOf rejected: String?, for use: TokenUse) throws(ResourceFailure) -> String?
}

/// The request that needs a token. A provider that must ask a server for the token retries by the same rules as the
/// request itself (docs/playback.md, 15.4).
struct TokenUse {
    let purpose: RetrySchedule.Purpose
    /// Cancels waiting.
    let cancellation: Cancellation
    /// Publishes waits in a status; nil for a command.
    var progress: StreamProgress?
    /// Whether a request for the token may use a metered link.
    var mayUseMeteredLink = true
}

/// A token that never changes, for a self-hosted service.
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
