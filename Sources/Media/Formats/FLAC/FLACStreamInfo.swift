import PCM

/// The STREAMINFO block (RFC 9639, 8.2).
struct FLACStreamInfo {
    static let byteCount = 34

    let format: PCMFormat
    /// Samples of one channel, or nil when the encoder did not know it.
    let frameCount: Int64?
    /// Frames of the smallest block except the last one, as the encoder declares it.
    private(set) var smallestBlock: Int64
    /// Frames of the largest block, as the encoder declares it.
    private(set) var largestBlock: Int64
    /// Bytes of the largest frame, as the encoder declares it, or 0 when it did not know.
    private let largestFrame: Int64
    /// The block in the form for libFLAC.
    private(set) var raw: [UInt8]

    init(_ block: [UInt8]) throws(Interruption) {
        var reader = ByteReader(block)
        let smallestBlock = reader.bigEndian(UInt16.self)
        let largestBlock = reader.bigEndian(UInt16.self)
        reader.skip(2)
        // 8 bits of the smallest frame's size, which is not needed, then 24 of the largest one's.
        let frameSizes = reader.bigEndian(UInt32.self)
        guard block.count == Self.byteCount, let smallestBlock, let largestBlock, let frameSizes,
            let packed = reader.bigEndian(UInt64.self)
        else {
            throw .damaged(what: "FLAC with a STREAMINFO of the wrong size")
        }
        // 20 bits sample rate, 3 bits channels - 1, 5 bits depth - 1, 36 bits total samples.
        format = PCMFormat(
            sampleRate: Int(packed >> 44),
            channelCount: Int(packed >> 41 & 0x7) + 1,
            bitDepth: Int(packed >> 36 & 0x1F) + 1)
        let total = Int64(packed & 0xF_FFFF_FFFF)
        frameCount = total == 0 ? nil : total
        self.smallestBlock = Int64(smallestBlock)
        self.largestBlock = Int64(largestBlock)
        largestFrame = Int64(frameSizes & 0xFF_FFFF)
        raw = block
        guard format.sampleRate > 0 else { throw .unsupported(what: "FLAC without a sample rate") }
        guard AudioLimits.bitDepths ~= format.bitDepth else {
            throw .damaged(what: "FLAC with \(format.bitDepth) bits per sample")
        }
    }

    /// Derived from a frame, for a stream without a STREAMINFO block.
    /// - Parameter frame: any frame except a shorter last one.
    /// - Returns: nil for a frame without its format.
    init?(_ frame: FLACFrameHeader) {
        guard let sampleRate = frame.sampleRate, let bitDepth = frame.bitDepth else { return nil }
        format = PCMFormat(sampleRate: sampleRate, channelCount: frame.channelCount, bitDepth: bitDepth)
        frameCount = nil
        smallestBlock = Int64(frame.hasVariableSize ? 16 : frame.blockSize)
        largestBlock = Int64(frame.hasVariableSize ? 65_535 : frame.blockSize)
        largestFrame = 0
        let packed =
            UInt64(sampleRate) << 44 | UInt64(frame.channelCount - 1) << 41 | UInt64(bitDepth - 1) << 36
        raw =
            Self.blockSizes(smallestBlock, largestBlock) + [UInt8](repeating: 0, count: 6)
            + (0..<8).map { UInt8(truncatingIfNeeded: packed >> UInt64(56 - 8 * $0)) }
            + [UInt8](repeating: 0, count: 16)
    }

    /// The MD5 of all samples, or nil when the encoder did not know it.
    var sampleDigest: [UInt8]? {
        let digest = Array(raw[18...])
        return digest.allSatisfy { $0 == 0 } ? nil : digest
    }

    /// The most bytes of all frames, from the sizes that the encoder declares; nil when it did not know them.
    var mostBytes: Int64? {
        guard let frameCount, smallestBlock > 0, largestFrame > 0 else { return nil }
        return (frameCount / smallestBlock + 1) * largestFrame
    }

    /// libFLAC multiplies the numbers of fixed-size frames with the size in STREAMINFO. When that is wrong, the size of
    /// the first frame is right, unless it is also the last frame.
    mutating func correct(by frame: FLACFrameHeader) {
        let size = Int64(frame.blockSize)
        guard !frame.hasVariableSize, size != smallestBlock || size != largestBlock,
            frame.number * largestBlock + size != frameCount
        else { return }
        smallestBlock = size
        largestBlock = size
        raw.replaceSubrange(..<4, with: Self.blockSizes(size, size))
    }

    private static func blockSizes(_ smallest: Int64, _ largest: Int64) -> [UInt8] {
        [smallest, largest].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }
}
