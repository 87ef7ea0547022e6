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
    /// Whether what has no room in memory may be fetched all the same, because it goes to the medium.
    var storesAhead: Bool { get }
}

extension ServiceNetwork {
    var storesAhead: Bool { false }

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
