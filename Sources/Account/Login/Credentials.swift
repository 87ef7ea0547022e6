import Fetching
import Platform

/// Provides the token that identifies the listener to the service. An integrator may bring one; without one it is the
/// token file or the login of `StreamingSettings`.
///
///     final class AppLogin: CredentialsProvider {
///         func token(insteadOf rejected: String?, for use: TokenUse) throws(ResourceFailure) -> String? {
///             rejected == nil ? app.token : app.refreshedToken
///         }
///     }
///
/// Thread: any. `token` may block, on the thread that opens a product.
public protocol CredentialsProvider: AnyObject, Sendable {
    /// Returns the current token.
    /// - Parameters:
    ///   - rejected: a token that the service has just refused with 401; the provider gets another one if it can.
    ///   - use: the request that needs the token.
    /// - Returns: nil without a login, or when there is no other token than the rejected one.
    /// - Throws: when the server that would issue another token does not answer, after all retries; `.cancelled`.
    func token(insteadOf rejected: String?, for use: TokenUse) throws(ResourceFailure) -> String?
    /// Returns the service's id of the user to whom a token belongs. Events of other users are not sent with the token,
    /// and only a digest of the id is stored with them. It must not use the network.
    /// - Parameter token: nil for the present login.
    /// - Returns: nil when it is not known.
    func user(of token: String?) -> String?
}

extension CredentialsProvider {
    /// Returns nil: users are not known. Waiting events then go with any login.
    public func user(of token: String?) -> String? { nil }
}

/// The request that needs a token. A provider that must ask a server for the token retries by the same rules as the
/// request itself (docs/playback.md, 15.4).
public struct TokenUse {
    let purpose: RetrySchedule.Purpose
    /// Cancels the call, which must end soon then: the next request, and the end of the player, wait for it.
    public let cancellation: Cancellation
    /// Publishes waits in a status; nil for a command.
    var progress: StreamProgress?
    /// Whether a request for the token may use a metered link.
    public internal(set) var mayUseMeteredLink = true

    package init(
        purpose: RetrySchedule.Purpose, cancellation: Cancellation, progress: StreamProgress? = nil,
        mayUseMeteredLink: Bool = true
    ) {
        self.purpose = purpose
        self.cancellation = cancellation
        self.progress = progress
        self.mayUseMeteredLink = mayUseMeteredLink
    }
}

/// The provider of an integrator, or that of the settings until then.
///
/// `@unchecked Sendable` is safe because `lock` guards the provider.
package final class ChosenCredentials: CredentialsProvider, @unchecked Sendable {
    private let lock = Lock()
    private var provider: any CredentialsProvider

    package init(_ provider: any CredentialsProvider) { self.provider = provider }

    private var current: any CredentialsProvider { lock.withLock { provider } }

    package func choose(_ provider: any CredentialsProvider) { lock.withLock { self.provider = provider } }

    package func token(insteadOf rejected: String?, for use: TokenUse) throws(ResourceFailure) -> String? {
        try current.token(insteadOf: rejected, for: use)
    }

    package func user(of token: String?) -> String? { current.user(of: token) }
}

/// A token that never changes, for a self-hosted service.
package final class StaticCredentials: CredentialsProvider {
    private let token: String?

    /// - Parameter token: nil without credentials.
    package init(token: String?) { self.token = token }

    package func token(insteadOf rejected: String?, for use: TokenUse) -> String? {
        guard let token else { return nil }
        if let rejected, rejected.utf8.elementsEqual(token.utf8) { return nil }
        return token
    }
}
