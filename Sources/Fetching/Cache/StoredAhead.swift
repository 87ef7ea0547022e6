import Network
import Platform
import Synchronization

/// A transfer that stores a segment in the cache while memory has no room for it. Its bytes are dropped here: the cache
/// answers when the segment is needed. Deinitialisation cancels the transfer.
///
/// Thread: any; the network's thread calls the sink.
package final class StoredAhead: Sendable {
    package enum Outcome: Int {
        case arriving
        /// The segment is in the cache.
        case stored
        /// The segment did not arrive.
        case failed
        /// The segment has arrived but was not stored, and other segments will not be either.
        case useless
    }

    private let sink: Sink
    private let transfer: any OngoingTransfer

    /// Begins the transfer.
    package init(_ request: TransferRequest, over network: any ServiceNetwork) {
        sink = Sink(request, network)
        transfer = network.begin(request, into: sink)
    }

    deinit { transfer.cancel() }

    package var outcome: Outcome { sink.outcome }

    /// How many bytes have arrived.
    package var count: Int64 { sink.count.load(ordering: .relaxed) }

    private final class Sink: TransferSink {
        let count = Atomic<Int64>(0)
        private let request: TransferRequest
        private let network: any ServiceNetwork
        private let state = Atomic(Outcome.arriving.rawValue)

        init(_ request: TransferRequest, _ network: any ServiceNetwork) {
            (self.request, self.network) = (request, network)
        }

        var outcome: Outcome { Outcome(rawValue: state.load(ordering: .acquiring)) ?? .failed }

        private func become(_ outcome: Outcome) { state.store(outcome.rawValue, ordering: .releasing) }

        func began(_ head: ResponseHead) {
            if head.isFromCache { return become(.stored) }
            let isStored = CachedResponse(storing: head, of: request, body: [], requested: 0, received: 0) != nil
            if !isStored { become(head.status < 400 ? .useless : .failed) }
        }

        /// Refuses the body when it is already in the cache, or will not be stored.
        func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
            guard outcome == .arriving else { return .enough }
            count.wrappingAdd(Int64(bytes.count), ordering: .relaxed)
            return .more
        }

        func ended(_ error: TransferError?) {
            guard outcome == .arriving else { return }
            if error != nil { return become(.failed) }
            // The medium may have refused the body, or the cache may have no room for it.
            network.isStored(request) { [self] isStored in become(isStored ? .stored : .useless) }
        }
    }
}
