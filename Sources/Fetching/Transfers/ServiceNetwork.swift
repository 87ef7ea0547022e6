import Network

/// The part of `Network` that the service uses; tests replace it.
///
/// Thread: any. Sinks and actions are called on the network's thread.
package protocol ServiceNetwork: AnyObject, Sendable {
    func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer
    /// Calls `action` once, `nanoseconds` from now; never after the network was stopped.
    func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void)
    /// Calls `action` as `schedule` does, and at once when the link changes.
    func waitForLink(atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void)
    /// Calls `action` as `schedule` does, and at once when offline mode begins.
    func waitForServer(atMost nanoseconds: Int64, _ action: @escaping @Sendable () -> Void)
    /// How many bytes of a product may be fetched to the medium while memory has no room for them.
    var storeAheadLimit: Int64 { get }
    /// Answers whether the cache has the response to the request. The server may still have to confirm it.
    func isStored(_ request: TransferRequest, _ answer: @escaping @Sendable (Bool) -> Void)
}

extension ServiceNetwork {
    package var storeAheadLimit: Int64 { 0 }

    package func isStored(_ request: TransferRequest, _ answer: @escaping @Sendable (Bool) -> Void) { answer(false) }

    package func waitForServer(atMost nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        schedule(after: nanoseconds, action)
    }
}

/// A transfer that has begun.
package protocol OngoingTransfer: AnyObject, Sendable {
    func cancel()
    /// Delivers again after the sink has answered `.enough`.
    func resume()
}

extension Transfer: OngoingTransfer {}

extension Network: ServiceNetwork {
    package func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer {
        start(request, into: sink)
    }
}
