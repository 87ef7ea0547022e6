import Network
import Platform

/// The part of `Network` that logins and the catalogue use; tests replace it.
package protocol LoginNetwork: AnyObject, Sendable {
    /// Blocks until the whole answer has arrived.
    func fetch(
        _ request: TransferRequest, maximumBody: Int, cancellation: Cancellation
    ) throws(TransferError) -> Response
    /// Blocks for this many nanoseconds, or until offline mode begins.
    /// - Returns: whether it was cancelled.
    func wait(_ nanoseconds: Int64, cancellation: Cancellation) -> Bool
    /// A number that differs after each change of the link.
    var linkChanges: UInt32 { get }
    /// Blocks as `wait` does, and returns at once when the link has changed since `linkChanges` was `seen`.
    /// - Returns: nil when it was cancelled.
    func waitForLink(since seen: UInt32, atMost nanoseconds: Int64, cancellation: Cancellation) -> LinkWaitEnd?
}

extension Network: LoginNetwork {}
