import PCM

/// The rules for the headers of successive frames of one FLAC stream: the same format, the same blocking strategy, and
/// numbers without a gap (RFC 9639, 9.1).
struct FLACFrameNumbering {
    let format: PCMFormat
    /// Samples of a channel in the stream; nil when STREAMINFO does not give their number.
    let totalSamples: Int64?
    /// Whether all frames but the last have one size; nil before the first frame.
    private var isFixed: Bool?
    /// The number of samples in all frames but the last; nil when it varies.
    private var fixedSize: Int?

    init(_ info: FLACStreamInfo) {
        format = info.format
        totalSamples = info.frameCount
    }

    /// Takes the blocking strategy from the first frame.
    /// - Parameter sample: the number of the frame's first sample, which may be in the middle of the stream.
    mutating func begin(with header: FLACFrameHeader, at sample: Int64) {
        guard isFixed == nil else { return }
        isFixed = !header.hasVariableSize
        if !header.hasVariableSize {
            fixedSize = header.number > 0 ? Int(sample / header.number) : header.blockSize
        }
    }

    /// Whether a frame with this header may hold the samples from `sample` on.
    func admits(_ header: FLACFrameHeader, at sample: Int64) -> Bool {
        guard header.channelCount == format.channelCount, (header.sampleRate ?? format.sampleRate) == format.sampleRate,
            (header.bitDepth ?? format.bitDepth) == format.bitDepth,
            isFixed == nil || isFixed == !header.hasVariableSize
        else { return false }
        if let totalSamples, sample + Int64(header.blockSize) > totalSamples { return false }
        if header.hasVariableSize { return header.number == sample }
        guard let fixedSize else { return sample == 0 ? header.number == 0 : header.number > 0 }
        // Only the last frame may be shorter.
        return header.number * Int64(fixedSize) == sample && header.blockSize <= fixedSize
    }

    /// Whether the stream may end before `sample`.
    func mayEnd(before sample: Int64) -> Bool { totalSamples == nil || totalSamples == sample }
}
