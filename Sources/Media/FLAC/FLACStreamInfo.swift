import PCM

/// The STREAMINFO block (RFC 9639, 8.2).
struct FLACStreamInfo {
    static let byteCount = 34

    let format: PCMFormat
    /// Samples of one channel, or nil where the encoder did not know.
    let frameCount: Int64?
    /// Frames that the largest block has, as the encoder says.
    let largestBlock: Int64
    /// The block as it stands in the file.
    let raw: [UInt8]

    init(_ block: [UInt8]) throws(MediaError) {
        var reader = ByteReader(block)
        reader.skip(2)
        let largestBlock = reader.bigEndian(UInt16.self)
        reader.skip(6)
        guard block.count == Self.byteCount, let largestBlock, let packed = reader.bigEndian(UInt64.self) else {
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
        raw = block
        guard format.sampleRate > 0 else { throw .unsupported(what: "FLAC without a sample rate") }
        guard format.bitDepth >= 4 else { throw .damaged(what: "FLAC with \(format.bitDepth) bits per sample") }
    }
}
