/// The header of a frame of MPEG audio, layer II or III (ISO/IEC 11172-3, 2.4.1.3; ISO/IEC 13818-3, 2.4.2.3).
///
/// Layer I is left out: music is neither sold nor stored in it.
struct MPEGAudioHeader: Equatable {
    /// The bytes of the header, without a checksum.
    static let size = 4
    /// libmpg123 takes no frame with more bytes.
    static let mostBytes = 3460

    private let word: UInt32

    /// - Parameter word: the four bytes of a header, the first one at the top.
    /// - Returns: nil when the word is no header.
    init?(_ word: UInt32) {
        guard word >> 21 == 0x7FF, word >> 19 & 3 != 1, 1...2 ~= word >> 17 & 3, word >> 12 & 15 != 15,
            word >> 10 & 3 != 3
        else { return nil }
        self.word = word
    }

    /// Whether two frames can belong to one stream: version, layer, sample rate, mono or stereo, free format.
    func isSameStream(as other: MPEGAudioHeader) -> Bool {
        (word ^ other.word) & 0xFFFE_0C00 == 0 && isMono == other.isMono && isFreeFormat == other.isFreeFormat
    }

    /// The layer: 2 or 3.
    var layer: Int { 4 - Int(word >> 17 & 3) }
    /// MPEG 2 and 2.5: half the sample rates, or a quarter of them, and half the frames in a frame of layer III.
    var isLowRate: Bool { word >> 19 & 1 == 0 }
    private var isMPEG25: Bool { word >> 19 & 3 == 0 }
    private var isMono: Bool { word >> 6 & 3 == 3 }
    private var hasChecksum: Bool { word >> 16 & 1 == 0 }

    var channelCount: Int { isMono ? 1 : 2 }
    var isFreeFormat: Bool { bitRateIndex == 0 }
    var isPadded: Bool { word >> 9 & 1 == 1 }
    private var bitRateIndex: Int { Int(word >> 12 & 15) }

    var sampleRate: Int {
        let base: Int =
            switch word >> 10 & 3 {
            case 0: 44_100
            case 1: 48_000
            default: 32_000
            }
        return base >> (isMPEG25 ? 2 : isLowRate ? 1 : 0)
    }

    /// Frames of sound in this frame of MPEG.
    var frameCount: Int { layer == 3 && isLowRate ? 576 : 1152 }

    /// The bit rate in bits per second; 0 in free format.
    var bitRate: Int {
        let table: StaticString =
            switch (isLowRate, layer) {
            case (false, 3): "\u{0}\u{4}\u{5}\u{6}\u{7}\u{8}\u{a}\u{c}\u{e}\u{10}\u{14}\u{18}\u{1c}\u{20}\u{28}"
            case (false, _): "\u{0}\u{4}\u{6}\u{7}\u{8}\u{a}\u{c}\u{e}\u{10}\u{14}\u{18}\u{1c}\u{20}\u{28}\u{30}"
            default: "\u{0}\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\u{a}\u{c}\u{e}\u{10}\u{12}\u{14}"
            }
        // In units of 8 kbit/s.
        return table.withUTF8Buffer { Int($0[bitRateIndex]) } * 8000
    }

    /// With the header.
    /// - Parameter freeSize: of a frame of free format without padding; nil when it is not known.
    /// - Returns: nil when the size is not known, or no frame has it.
    func byteCount(freeSize: Int?) -> Int? {
        let size: Int
        if isFreeFormat {
            guard let freeSize else { return nil }
            size = freeSize + (isPadded ? 1 : 0)
        } else {
            size = frameCount / 8 * bitRate / sampleRate + (isPadded ? 1 : 0)
        }
        return leastBytes...Self.mostBytes ~= size ? size : nil
    }

    /// The offset of the bytes after the fixed fields of the frame: in layer III the main data, or a Xing header.
    var leastBytes: Int { sideInfoOffset + (layer == 3 ? sideInfoSize : 0) }

    /// The offset of the side information in layer III. Its first bits contain the distance from the main data to the
    /// frame.
    var sideInfoOffset: Int { Self.size + (hasChecksum ? 2 : 0) }

    /// The bits of the field for the distance to the main data, in layer III.
    var reservoirBits: Int { isLowRate ? 8 : 9 }
    /// Main data begins at most so many bytes in front of a frame.
    var largestReservoir: Int { layer == 3 ? 1 << reservoirBits - 1 : 0 }

    private var sideInfoSize: Int { isLowRate ? (isMono ? 9 : 17) : (isMono ? 17 : 32) }

    /// The offsets where a Xing header may be, in layer III. Most encoders ignore the checksum.
    var infoOffsets: StrideThrough<Int> { stride(from: Self.size + sideInfoSize, through: leastBytes, by: 2) }

    /// The name of the layer, for messages.
    var name: String { layer == 3 ? "MP3" : "MP2" }
}
