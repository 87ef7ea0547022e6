import Network
import Platform

/// The part of `Network` that logins and the catalogue use; tests answer for it.
protocol LoginNetwork: AnyObject, Sendable {
    /// Blocks until the whole answer is there.
    func fetch(
        _ request: TransferRequest, maximumBody: Int, cancellation: Cancellation
    ) throws(TransferError) -> Response
    /// Blocks for so many nanoseconds, or until offline mode begins.
    /// - Returns: whether it was cancelled.
    func wait(_ nanoseconds: Int64, cancellation: Cancellation) -> Bool
    /// Another number after each change of the link.
    var linkChanges: UInt32 { get }
    /// The same as `wait`. Another link since `linkChanges` was `seen` ends it at once.
    /// - Returns: nil when it was cancelled.
    func waitForLink(since seen: UInt32, atMost nanoseconds: Int64, cancellation: Cancellation) -> LinkWaitEnd?
}

extension Network: LoginNetwork {}
