import PCM

/// The STREAMINFO block (RFC 9639, 8.2).
struct FLACStreamInfo {
    static let byteCount = 34

    let format: PCMFormat
    /// Samples of one channel, or nil where the encoder did not know.
    let frameCount: Int64?
    /// Frames that the largest block has, as the encoder says.
    let largestBlock: Int64
    /// Bytes that the frames take at most, as the encoder says, or nil where it did not know.
    let mostBytes: Int64?
    /// The block as it stands in the file.
    let raw: [UInt8]

    init(_ block: [UInt8]) throws(MediaError) {
        var reader = ByteReader(block)
        let smallestBlock = reader.bigEndian(UInt16.self)
        let largestBlock = reader.bigEndian(UInt16.self)
        reader.skip(2)
        // 8 bits of the smallest frame's size, which nobody needs, then 24 of the largest one's.
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
        self.largestBlock = Int64(largestBlock)
        let largestFrame = Int64(frameSizes & 0xFF_FFFF)
        let isKnown = total > 0 && smallestBlock > 0 && largestFrame > 0
        mostBytes = isKnown ? (total / Int64(max(smallestBlock, 1)) + 1) * largestFrame : nil
        raw = block
        guard format.sampleRate > 0 else { throw .unsupported(what: "FLAC without a sample rate") }
        guard format.bitDepth >= 4 else { throw .damaged(what: "FLAC with \(format.bitDepth) bits per sample") }
    }
}
