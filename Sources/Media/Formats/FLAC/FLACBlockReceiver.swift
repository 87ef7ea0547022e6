import CFLAC
import PCM

/// Receives the blocks that libFLAC decodes: in the caller's buffer where possible, else in a store.
///
/// Thread: only the decoder thread.
struct FLACBlockReceiver: ~Copyable {
    /// The number of the sample that is counted as 0.
    let firstSample: Int64
    /// The samples of the last block that was not delivered: interleaved, left-justified.
    var kept = SampleStore()
    /// The errors that libFLAC reported since this was last cleared.
    var complaints = FLACLibrary.Complaints()
    /// The last block; nil when none has come since `expect` or `discardBlock`.
    private(set) var block: FLACLibrary.Block?
    /// Blocks since `beginCall`.
    private(set) var blocksInCall = 0

    private var checksumFailed = false
    private var target = UnsafeMutableBufferPointer<Int32>(start: nil, count: 0)
    private var expectation: FLACLibrary.Expectation?

    init(firstSample: Int64) { self.firstSample = firstSample }

    /// Prepares for the next block.
    /// - Parameter buffer: gets the samples of the block if it matches `expectation` and fits; valid until
    ///   `endDelivery`.
    mutating func expect(
        _ expectation: FLACLibrary.Expectation?,
        in buffer: UnsafeMutableBufferPointer<Int32> = .init(start: nil, count: 0)
    ) {
        target = buffer
        self.expectation = expectation
        block = nil
    }

    /// Uses the caller's buffer no more.
    mutating func endDelivery() { target = UnsafeMutableBufferPointer(start: nil, count: 0) }

    /// Counts blocks from here on.
    mutating func beginCall() { blocksInCall = 0 }

    mutating func discardBlock() { block = nil }

    /// Returns to the state before a call that libFLAC has to begin again.
    mutating func undoCall(_ complaintsBefore: FLACLibrary.Complaints) {
        block = nil
        kept.drop(.max)
        complaints = complaintsBefore
        checksumFailed = false
    }

    /// Takes a decoded frame from libFLAC. The pointers are valid only during the call.
    mutating func write(
        _ frame: UnsafePointer<FLAC__Frame>?, _ channels: UnsafePointer<UnsafePointer<Int32>?>?
    ) -> FLAC__StreamDecoderWriteStatus {
        guard let header = frame?.pointee.header, let channels else { return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT }
        let frameCount = Int(header.blocksize)
        let format = PCMFormat(
            sampleRate: Int(header.sample_rate), channelCount: Int(header.channels),
            bitDepth: Int(header.bits_per_sample))
        guard frameCount > 0, AudioLimits.channelCounts ~= format.channelCount,
            AudioLimits.bitDepths ~= format.bitDepth, AudioLimits.sampleRates ~= format.sampleRate,
            let number = Int64(exactly: header.number.sample_number), number < Int64.max / 2
        else { return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE }
        let firstFrame = number - firstSample

        let sampleCount = frameCount * format.channelCount
        let isExpected = expectation.map { ($0.firstFrame ?? firstFrame) == firstFrame && $0.format == format } ?? false
        let isDelivered = isExpected && sampleCount <= target.count
        let destination = isDelivered ? target : kept.replace(count: sampleCount)
        interleave(
            channels, channelCount: format.channelCount, frameCount: frameCount,
            shift: Int32(32 - format.bitDepth), into: destination.baseAddress!)

        blocksInCall += 1
        // libFLAC before 1.4 returns a frame with a wrong checksum as zeros, right after the error. Later versions drop
        // it, so this is another frame.
        let isIntact = !checksumFailed || destination.prefix(sampleCount).contains { $0 != 0 }
        checksumFailed = false
        block = FLACLibrary.Block(
            firstFrame: firstFrame, frameCount: frameCount, format: format, isIntact: isIntact,
            isDelivered: isDelivered)
        return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE
    }

    /// Counts an error that libFLAC reports.
    mutating func complain(_ status: FLAC__StreamDecoderErrorStatus) {
        complaints.count += 1
        guard status == FLAC__STREAM_DECODER_ERROR_STATUS_FRAME_CRC_MISMATCH else { return }
        complaints.badChecksums += 1
        checksumFailed = true
    }
}
