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
        /// It may not be stored, or did not arrive.
        case failed
    }

    private let sink: Sink
    private let transfer: any OngoingTransfer

    /// Begins at once.
    init(_ request: TransferRequest, over network: any ServiceNetwork) {
        sink = Sink(request)
        transfer = network.begin(request, into: sink)
    }

    deinit { transfer.cancel() }

    var outcome: Outcome { sink.outcome }

    private final class Sink: TransferSink {
        private let request: TransferRequest
        private let state = Atomic(Outcome.arriving.rawValue)

        init(_ request: TransferRequest) { self.request = request }

        var outcome: Outcome { Outcome(rawValue: state.load(ordering: .acquiring)) ?? .failed }

        private func become(_ outcome: Outcome) { state.store(outcome.rawValue, ordering: .releasing) }

        func began(_ head: ResponseHead) {
            if head.isFromCache { return become(.stored) }
            let isStored = CachedResponse(storing: head, of: request, body: [], requested: 0, received: 0) != nil
            if !isStored { become(.failed) }
        }

        /// What is in the cache already, or will not be, is not taken.
        func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer { outcome == .arriving ? .more : .enough }

        func ended(_ error: TransferError?) {
            if outcome == .arriving { become(error == nil ? .stored : .failed) }
        }
    }
}
