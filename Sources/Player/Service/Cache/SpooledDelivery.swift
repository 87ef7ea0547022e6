import Network
import Platform

/// A body that goes to the medium as fast as it arrives, and from there to a receiver that takes it later. So the rest
/// of a product is here before it is needed, and memory holds little of it.
///
/// Thread: network.
/// `@unchecked Sendable` is safe because the network thread alone uses what changes.
final class SpooledDelivery: @unchecked Sendable {
    private enum Reader {
        /// The receiver has had enough. The bytes are those that it did not take.
        case paused([UInt8])
        case reading
        /// Everything that has arrived was delivered.
        case hungry
        case stopped
    }

    private let recording: BodyRecording
    private let network: any ServiceNetwork
    private let receive: (UnsafeRawBufferPointer) -> SinkAnswer
    private let finished: (TransferError?) -> Void
    private let proceed: () -> Void
    private var reader = Reader.paused([])
    /// In the body, of the next byte for the receiver.
    private var offset: Int64
    /// In the body, after the last byte that was appended.
    private var appended: Int64
    /// How the transfer has ended; nil before.
    private var end: TransferError??

    /// The receiver has had enough: nothing is delivered before `resume`.
    /// - Parameters:
    ///   - offset: of the first byte that the receiver has not taken.
    ///   - receive: gets the bytes.
    ///   - proceed: called when the medium takes bytes again, after `append` has answered `.enough`.
    ///   - finished: called once after the last byte, unless `stop` comes before; with the transfer's error, or
    ///     `.truncated` when the medium has lost the rest.
    init(
        _ recording: BodyRecording, from offset: Int64, over network: any ServiceNetwork,
        receive: @escaping (UnsafeRawBufferPointer) -> SinkAnswer, proceed: @escaping () -> Void,
        finished: @escaping (TransferError?) -> Void
    ) {
        self.recording = recording
        self.offset = offset
        appended = offset
        self.network = network
        self.receive = receive
        self.proceed = proceed
        self.finished = finished
    }

    // MARK: From the transfer

    func append(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        guard recording.isReadable else {
            // The rest would be lost. The receiver gets what was recorded, and asks for the rest.
            if case .hungry = reader { read() }
            return .enough
        }
        if recording.isBehind {
            recording.afterWriting { [self] in network.schedule(after: 0) { [self] in proceed() } }
            return .enough
        }
        recording.append(copiedBytes(bytes))
        appended += Int64(bytes.count)
        if case .hungry = reader { read() }
        return .more
    }

    func ended(_ error: TransferError?) {
        end = .some(error)
        recording.end(isComplete: error == nil, staysReadable: true)
        if case .hungry = reader { read() }
    }

    // MARK: To the receiver

    /// The receiver, which had enough, wants more.
    func resume() {
        guard case .paused(let bytes) = reader else { return }
        deliver(bytes)
    }

    func stop() { reader = .stopped }

    private func read() {
        reader = .reading
        let isLast = end != nil
        recording.read(at: offset) { [self] bytes in
            network.schedule(after: 0) { [self] in arrived(bytes, isLast: isLast) }
        }
    }

    /// - Parameter isLast: whether nothing is appended after these bytes.
    private func arrived(_ bytes: [UInt8]?, isLast: Bool) {
        guard case .reading = reader else { return }
        guard let bytes else {
            reader = .stopped
            return finished(.truncated)
        }
        if !bytes.isEmpty { return deliver(bytes) }
        if isLast, let end {
            reader = .stopped
            return finished(offset < appended ? .truncated : end)
        }
        // More may have come since the read was posted.
        reader = .hungry
        if offset < appended || end != nil { read() }
    }

    private func deliver(_ bytes: [UInt8]) {
        switch bytes.withUnsafeBytes({ bytes.isEmpty ? .more : receive($0) }) {
        case .enough: reader = .paused(bytes)
        case .more:
            offset += Int64(bytes.count)
            read()
        }
    }
}
