import Network

/// The use of the cache, besides answering from it.
package enum CacheUse: Sendable {
    /// Nothing new is stored.
    case reading
    /// Answers are stored. While `mayReadAhead` returns true, a body continues to the medium after its receiver has
    /// answered `.enough`, and is delivered from there later. `mayReadAhead` is called on any thread.
    case recording(mayReadAhead: @Sendable () -> Bool)

    var mayReadAhead: Bool { if case .recording(let mayReadAhead) = self { mayReadAhead() } else { false } }
}

/// A network that answers requests from the cache where HTTP allows it (docs/decisions/http-cache.md). Requests without
/// a scope bypass the cache.
///
/// Thread: any.
package final class CachingNetwork: ServiceNetwork {
    /// How long a request waits for the index, in nanoseconds. A memory card may stall for seconds, and music must not
    /// wait for it.
    private static let patience: Int64 = 500_000_000

    private let network: any ServiceNetwork
    private let store: CacheStore
    private let use: CacheUse
    private let clock: any CertificateClock
    private let newBody: @Sendable () -> [UInt8]

    /// - Parameters:
    ///   - clock: gives the age of responses.
    ///   - newBody: returns an identity for a body, 16 random bytes.
    package init(
        _ network: any ServiceNetwork, _ store: CacheStore, _ use: CacheUse, clock: any CertificateClock,
        newBody: @escaping @Sendable () -> [UInt8]
    ) {
        self.network = network
        self.store = store
        self.use = use
        self.clock = clock
        self.newBody = newBody
    }

    package func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer {
        guard let key = CacheKey(of: request) else { return network.begin(request, into: sink) }
        let transfer = CachedTransfer(request, into: sink, network, store, use, clock: clock, body: newBody())
        store.find(key) { [network] stored in
            network.schedule(after: 0) { transfer.start(stored) }
        }
        network.schedule(after: Self.patience) { transfer.start(nil) }
        return transfer
    }

    /// A larger read-ahead would remove the next products from the cache.
    package var storeAheadLimit: Int64 { use.mayReadAhead ? store.limits.largestBody : 0 }

    package func isStored(_ request: TransferRequest, _ answer: @escaping @Sendable (Bool) -> Void) {
        guard let key = CacheKey(of: request) else { return answer(false) }
        store.find(key) { [clock] stored in
            switch CacheDecision(request, stored: stored, at: clock.now()) {
            case .serve, .revalidate: answer(stored?.isComplete ?? false)
            case .fetch, .resume, .pass: answer(false)
            }
        }
    }

    package func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        network.schedule(after: nanoseconds, action)
    }

    package func waitForLink(atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void) {
        network.waitForLink(atMost: nanoseconds, action)
    }

    package func waitForServer(atMost nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        network.waitForServer(atMost: nanoseconds, action)
    }
}
