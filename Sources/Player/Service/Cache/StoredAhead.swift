import Network
import Platform
import Synchronization

/// A segment for which memory has no room, on its way into the cache. Its bytes are dropped here: when the segment is
/// wanted, the cache answers. The end of this object ends its transfer.
///
/// Thread: any; the network's calls the sink.
final class StoredAhead: Sendable {
    enum Outcome: Int {
        case arriving
        /// It is in the cache.
        case stored
        /// It did not arrive.
        case failed
        /// It has arrived and is not in the cache, nor will others be.
        case useless
    }

    private let sink: Sink
    private let transfer: any OngoingTransfer

    /// Begins at once.
    init(_ request: TransferRequest, over network: any ServiceNetwork) {
        sink = Sink(request, network)
        transfer = network.begin(request, into: sink)
    }

    deinit { transfer.cancel() }

    var outcome: Outcome { sink.outcome }

    /// Bytes that have arrived.
    var count: Int64 { sink.count.load(ordering: .relaxed) }

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

        /// What is in the cache already, or will not be, is not taken.
        func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
            guard outcome == .arriving else { return .enough }
            count.wrappingAdd(Int64(bytes.count), ordering: .relaxed)
            return .more
        }

        func ended(_ error: TransferError?) {
            guard outcome == .arriving else { return }
            if error != nil { return become(.failed) }
            // The medium may not have taken it, or the cache may have no room for it.
            network.isStored(request) { [self] isStored in become(isStored ? .stored : .useless) }
        }
    }
}
