import Network
import Platform

/// Writes a body to the medium as fast as it arrives, and delivers it from there to a slower receiver. So the rest of a
/// product arrives before it is needed, and uses little memory.
///
/// Thread: network.
/// `@unchecked Sendable` is safe because only the network thread uses the mutable state.
final class SpooledDelivery: @unchecked Sendable {
    private enum Reader {
        /// The receiver has answered `.enough`. The associated bytes are those that it did not take.
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
    /// The offset in the body of the next byte for the receiver.
    private var offset: Int64
    /// The offset in the body after the last appended byte.
    private var appended: Int64
    /// The result of the transfer; nil until it has ended.
    private var end: TransferError??

    /// Begins paused: nothing is delivered before `resume`.
    /// - Parameters:
    ///   - offset: the offset of the first byte that the receiver has not taken.
    ///   - receive: gets the bytes.
    ///   - proceed: called when the medium takes bytes again, after `append` has returned `.enough`.
    ///   - finished: called once after the last byte, unless `stop` is called before. The argument is the transfer's
    ///     error, or `.truncated` when the medium has lost the rest.
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
            // More bytes would be lost. The receiver gets the recorded bytes, and requests the rest itself.
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

    /// Delivers again after the receiver has answered `.enough`.
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
        // More bytes may have arrived since the read was posted.
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
