import CFLAC
import PCM

/// libFLAC's stream decoder: one block of frames at a time.
///
/// Thread: only the decoder thread; libFLAC calls back on the calling thread.
final class FLACLibrary {
    /// Frames as libFLAC decoded them.
    struct Block {
        /// The number in the frame header, minus `firstSample`.
        var firstFrame: Int64
        var frameCount: Int
        var format: PCMFormat
        /// False for a frame with a wrong checksum: its samples are zero and its header is doubtful.
        var isIntact: Bool
        /// Whether the samples were written to the caller's buffer; otherwise they are in `receiver.kept`.
        var isDelivered: Bool

        var endFrame: Int64 { firstFrame + Int64(frameCount) }
    }

    /// The next block is decoded directly into the caller's buffer if it matches this.
    struct Expectation {
        /// The number of the first frame; nil: any.
        var firstFrame: Int64? = nil
        var format: PCMFormat
    }

    struct Complaints {
        var count = 0
        /// Frames whose only fault was their checksum.
        var badChecksums = 0
    }

    /// The decoded blocks, and the errors between them.
    var receiver: FLACBlockReceiver

    private let handle: UnsafeMutablePointer<FLAC__StreamDecoder>
    private let input: any FLACInput
    /// Why the input returned no bytes.
    private var interruption: Interruption?
    /// Whether libFLAC cannot continue here after an interruption: it needs a seek or restart first.
    private(set) var isLost = false

    init(_ input: any FLACInput, firstSample: Int64 = 0) throws(Interruption) {
        guard let handle = FLAC__stream_decoder_new() else { throw .damaged(what: "FLAC: out of memory") }
        self.handle = handle
        self.input = input
        receiver = FLACBlockReceiver(firstSample: firstSample)
        let status = FLAC__stream_decoder_init_stream(
            handle, readCallback, seekCallback, tellCallback, lengthCallback, endCallback, writeCallback,
            nil, errorCallback, Unmanaged.passUnretained(self).toOpaque())
        let isReady =
            status == FLAC__STREAM_DECODER_INIT_STATUS_OK
            && FLAC__stream_decoder_process_until_end_of_metadata(handle) != 0
        if let interruption { throw interruption }
        guard isReady else { throw .damaged(what: "FLAC: libFLAC refuses the stream") }
    }

    deinit { FLAC__stream_decoder_delete(handle) }

    /// Decodes until there is a block.
    /// - Parameter buffer: gets the samples of the block if it matches `expected` and fits.
    /// - Returns: nil at the end of the stream.
    /// - Throws: an interruption of the input. The same call then continues, unless `isLost`.
    func decodeBlock(
        into buffer: UnsafeMutableBufferPointer<Int32>, expected: Expectation?
    ) throws(Interruption) -> Block? {
        receiver.expect(expected, in: buffer)
        defer { receiver.endDelivery() }
        let complaintsBefore = receiver.complaints
        var restartedAt: Int64?
        while receiver.block == nil {
            let start = position
            receiver.beginCall()
            let isRunning = FLAC__stream_decoder_process_single(handle) != 0
            if let interruption {
                // libFLAC cannot wait inside a frame. It starts the frame again.
                receiver.undoCall(complaintsBefore)
                if let start { restart(at: start) } else { isLost = true }
                self.interruption = nil
                throw interruption
            }
            if receiver.blocksInCall > 1, let start, start != restartedAt {
                // libFLAC 1.4 inserts its own silence for lost frames, into the buffers of the next frame, which is
                // then lost too. A flush makes it forget the lost frames.
                receiver.discardBlock()
                restartedAt = start
                restart(at: start)
                continue
            }
            let state = FLAC__stream_decoder_get_state(handle)
            if receiver.block == nil, state == FLAC__STREAM_DECODER_END_OF_STREAM { return nil }
            guard isRunning || receiver.block != nil || state == FLAC__STREAM_DECODER_SEARCH_FOR_FRAME_SYNC else {
                throw .damaged(what: "FLAC: " + String(cString: FLAC__stream_decoder_get_resolved_state_string(handle)))
            }
        }
        return receiver.block
    }

    /// Moves to `frame` with libFLAC's own search.
    /// - Returns: the rest of the block from `frame` on, in `receiver.kept`; nil when libFLAC did not find it. The
    ///   position is then undefined.
    func seek(toFrame frame: Int64) throws(Interruption) -> Block? {
        clearFailure()
        receiver.expect(nil)
        let found = FLAC__stream_decoder_seek_absolute(handle, UInt64(max(0, frame + receiver.firstSample))) != 0
        if let interruption {
            self.interruption = nil
            throw interruption
        }
        guard found, let block = receiver.block, block.firstFrame == frame else { return nil }
        return block
    }

    /// Decodes from this position of the input on.
    func restart(at position: Int64) {
        interruption = nil
        isLost = false
        input.seek(to: position)
        _ = FLAC__stream_decoder_flush(handle)
    }

    /// Drops input that was read and not decoded.
    func flush() { _ = FLAC__stream_decoder_flush(handle) }

    /// The offset of the first byte that libFLAC has not used yet; nil inside a frame.
    var position: Int64? {
        var position: UInt64 = 0
        return FLAC__stream_decoder_get_decode_position(handle, &position) != 0 ? Int64(position) : nil
    }

    /// After a failed seek or a failed source libFLAC needs a flush.
    private func clearFailure() {
        interruption = nil
        isLost = false
        let state = FLAC__stream_decoder_get_state(handle)
        if state == FLAC__STREAM_DECODER_SEEK_ERROR || state == FLAC__STREAM_DECODER_ABORTED {
            _ = FLAC__stream_decoder_flush(handle)
        }
    }
}

// Callbacks of libFLAC. The pointers are valid only during the call.
extension FLACLibrary {
    fileprivate static func of(_ client: UnsafeMutableRawPointer?) -> FLACLibrary {
        Unmanaged<FLACLibrary>.fromOpaque(client!).takeUnretainedValue()
    }

    fileprivate func read(
        _ buffer: UnsafeMutablePointer<UInt8>?, _ count: UnsafeMutablePointer<Int>?
    ) -> FLAC__StreamDecoderReadStatus {
        guard let buffer, let count, count.pointee > 0 else { return FLAC__STREAM_DECODER_READ_STATUS_ABORT }
        do throws(Interruption) {
            let wanted = UnsafeMutableRawBufferPointer(start: buffer, count: count.pointee)
            count.pointee = try input.read(into: wanted)
        } catch {
            // Never report the end of the file: `decodeBlock` throws the interruption.
            interruption = error
            return FLAC__STREAM_DECODER_READ_STATUS_ABORT
        }
        return count.pointee > 0
            ? FLAC__STREAM_DECODER_READ_STATUS_CONTINUE : FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM
    }

    fileprivate func seek(to position: UInt64) -> FLAC__StreamDecoderSeekStatus {
        guard let position = Int64(exactly: position) else { return FLAC__STREAM_DECODER_SEEK_STATUS_ERROR }
        input.seek(to: position)
        return FLAC__STREAM_DECODER_SEEK_STATUS_OK
    }

    fileprivate var inputPosition: UInt64 { UInt64(input.position) }
    fileprivate var inputLength: UInt64? { input.length.map(UInt64.init) }
    fileprivate var isInputAtEnd: Bool { input.isAtEnd }
}

private let readCallback: FLAC__StreamDecoderReadCallback = { _, buffer, count, client in
    FLACLibrary.of(client).read(buffer, count)
}

private let seekCallback: FLAC__StreamDecoderSeekCallback = { _, position, client in
    FLACLibrary.of(client).seek(to: position)
}

private let tellCallback: FLAC__StreamDecoderTellCallback = { _, position, client in
    position?.pointee = FLACLibrary.of(client).inputPosition
    return FLAC__STREAM_DECODER_TELL_STATUS_OK
}

private let lengthCallback: FLAC__StreamDecoderLengthCallback = { _, length, client in
    guard let known = FLACLibrary.of(client).inputLength else { return FLAC__STREAM_DECODER_LENGTH_STATUS_UNSUPPORTED }
    length?.pointee = known
    return FLAC__STREAM_DECODER_LENGTH_STATUS_OK
}

private let endCallback: FLAC__StreamDecoderEofCallback = { _, client in
    FLACLibrary.of(client).isInputAtEnd ? 1 : 0
}

private let writeCallback: FLAC__StreamDecoderWriteCallback = { _, frame, channels, client in
    FLACLibrary.of(client).receiver.write(frame, channels)
}

private let errorCallback: FLAC__StreamDecoderErrorCallback = { _, status, client in
    FLACLibrary.of(client).receiver.complain(status)
}
