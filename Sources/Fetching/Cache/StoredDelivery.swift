import Crypto
import Network

/// Delivers a part of a stored body as a transfer would: chunk by chunk, and the receiver may pause it.
///
/// Thread: network.
/// `@unchecked Sendable` is safe because only the network thread uses the mutable state.
final class StoredDelivery: @unchecked Sendable {
    private let body: StoredBody
    private let network: any ServiceNetwork
    private let end: Int64
    private let receive: (UnsafeRawBufferPointer) -> SinkAnswer
    private let finished: (Bool) -> Void
    private var offset: Int64
    /// Bytes that the receiver has not taken.
    private var held: ArraySlice<UInt8>?
    private var isStopped = false

    /// - Parameters:
    ///   - range: the part of the body, in bytes.
    ///   - receive: gets the bytes.
    ///   - finished: called once with whether the whole part was delivered, unless `stop` is called before.
    init(
        _ body: StoredBody, _ range: Range<Int64>, over network: any ServiceNetwork,
        receive: @escaping (UnsafeRawBufferPointer) -> SinkAnswer, finished: @escaping (Bool) -> Void
    ) {
        self.body = body
        self.network = network
        self.receive = receive
        self.finished = finished
        offset = range.lowerBound
        end = range.upperBound
    }

    func start() {
        guard !isStopped else { return }
        guard offset < end else { return finished(true) }
        let (chunk, place) = SealedLayout.chunk(at: offset)
        body.read(chunk) { [self] bytes in network.schedule(after: 0) { [self] in arrived(bytes, place) } }
    }

    /// Delivers again after the receiver has answered `.enough`.
    func resume() {
        guard let held else { return }
        self.held = nil
        deliver(held)
    }

    func stop() { isStopped = true }

    private func arrived(_ bytes: [UInt8]?, _ place: Int) {
        guard !isStopped else { return }
        guard let bytes, place < bytes.count else { return finished(false) }
        deliver(bytes[place...].prefix(Int(clamping: end - offset)))
    }

    private func deliver(_ bytes: ArraySlice<UInt8>) {
        guard !isStopped else { return }
        switch bytes.withUnsafeBytes({ receive($0) }) {
        case .enough: held = bytes
        case .more:
            offset += Int64(bytes.count)
            start()
        }
    }
}
