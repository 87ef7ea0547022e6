import Platform

/// Provides the token that identifies the listener to the service.
///
/// Thread: any. It may block, on the thread that opens a product.
public protocol CredentialsProvider: AnyObject, Sendable {
    /// The current token.
    /// - Parameters:
    ///   - rejected: a token that the service has just refused with 401; the provider gets another one if it can.
    ///   - cancellation: ends a wait.
    /// - Returns: nil when nobody is logged in, or when there is no other token than the rejected one.
    func token(insteadOf rejected: String?, cancellation: Cancellation) -> String?
}

/// A token that never changes: of a self-hosted service.
public final class StaticCredentials: CredentialsProvider {
    private let token: String?

    /// - Parameter token: nil without credentials.
    public init(token: String?) { self.token = token }

    public func token(insteadOf rejected: String?, cancellation: Cancellation) -> String? {
        guard let token else { return nil }
        if let rejected, rejected.utf8.elementsEqual(token.utf8) { return nil }
        return token
    }
}
