/// The header of a block (WavPack 4 and 5 file format, 2.0).
struct WavPackHeader: Equatable {
    static let size = 32
    /// Bytes of the whole block.
    let byteCount: Int
    /// The number of the block's first frame.
    let index: Int64
    /// Frames of the file; nil when the encoder did not know it.
    let total: Int64?
    /// 0 in a block without sound.
    let frameCount: Int
    private let flags: UInt32

    /// The versions of streams that the decoder supports. Earlier versions had another format.
    private static let versions: ClosedRange<UInt16> = 0x402...0x410
    private static let largestBlock: UInt32 = 1_048_576
    static let mostFrames: UInt32 = 196_608

    /// - Returns: nil for bytes that begin no block.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard bytes.count >= Self.size, reader.code() == "wvpk",
            let rest = reader.littleEndian(UInt32.self), rest >= UInt32(Self.size - 8), rest < Self.largestBlock,
            rest & 1 == 0,
            let version = reader.littleEndian(UInt16.self), Self.versions.contains(version),
            let indexTop = reader.littleEndian(UInt8.self), let totalTop = reader.littleEndian(UInt8.self),
            let total = reader.littleEndian(UInt32.self), let index = reader.littleEndian(UInt32.self),
            let frameCount = reader.littleEndian(UInt32.self), frameCount < Self.mostFrames,
            let flags = reader.littleEndian(UInt32.self)
        else { return nil }
        byteCount = Int(rest) + 8
        self.index = Int64(indexTop) << 32 | Int64(index)
        // All bits of the lower part mean "not known", so that each step of the upper one counts for one less. ffmpeg
        // writes 0 in streams.
        let isKnown = total != .max && (total > 0 || totalTop > 0)
        self.total = isKnown ? Int64(totalTop) << 32 + Int64(total) - Int64(totalTop) : nil
        self.frameCount = Int(frameCount)
        self.flags = flags
    }

    /// Whether it is the first one, or the last one, of those with the channels of the same frames.
    var isFirst: Bool { flags & 0x800 != 0 }
    var isLast: Bool { flags & 0x1000 != 0 }
    var channelCount: Int { flags & 4 != 0 ? 1 : 2 }

    /// Whether a block has DSD.
    static func isDSD(_ block: UnsafeRawBufferPointer) -> Bool { block.count >= size && block[27] & 0x80 != 0 }
}
