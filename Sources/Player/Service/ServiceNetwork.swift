import Network

/// The part of `Network` that the service uses; tests answer for it.
///
/// Thread: any. Sinks and actions are called on one thread, the network's.
protocol ServiceNetwork: AnyObject, Sendable {
    func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer
    /// Calls `action` once, `nanoseconds` from now. Never, when the network was stopped.
    func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void)
    /// The same, and at once when there is another link.
    func waitForLink(atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void)
    /// The same as `schedule`, and at once when offline mode begins.
    func waitForServer(atMost nanoseconds: Int64, _ action: @escaping @Sendable () -> Void)
    /// So many bytes of a product may be fetched although memory has no room for them, because they go to the medium.
    var storeAheadLimit: Int64 { get }
    /// Whether the cache would answer the request now, at most after a question to the server.
    func isStored(_ request: TransferRequest, _ answer: @escaping @Sendable (Bool) -> Void)
}

extension ServiceNetwork {
    var storeAheadLimit: Int64 { 0 }

    func isStored(_ request: TransferRequest, _ answer: @escaping @Sendable (Bool) -> Void) { answer(false) }

    func waitForServer(atMost nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        schedule(after: nanoseconds, action)
    }
}

/// A transfer that was begun.
protocol OngoingTransfer: AnyObject, Sendable {
    func cancel()
    /// The sink, which had enough, wants more.
    func resume()
}

extension Transfer: OngoingTransfer {}

extension Network: ServiceNetwork {
    func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer {
        start(request, into: sink)
    }
}
