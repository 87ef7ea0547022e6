import Network
import Platform

/// The part of `Network` that logins and the catalogue use; tests answer for it.
protocol LoginNetwork: AnyObject, Sendable {
    /// Blocks until the whole answer is there.
    func fetch(
        _ request: TransferRequest, maximumBody: Int, cancellation: Cancellation
    ) throws(TransferError) -> Response
}

extension Network: LoginNetwork {}
