/// The `fmt ` chunk of a WAV file.
struct WAVFormat {
    let layout: SampleLayout
    let channelCount: Int
    let sampleRate: Int

    private enum Code {
        static let pcm: UInt16 = 0x0001
        static let float: UInt16 = 0x0003
        static let aLaw: UInt16 = 0x0006
        static let muLaw: UInt16 = 0x0007
        static let extensible: UInt16 = 0xFFFE
    }

    /// The bytes after the code in the GUID of a sub-format (KSDATAFORMAT_SUBTYPE_WAVEFORMATEX).
    private static let subFormatTail: [UInt8] = [
        0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xAA, 0x00, 0x38, 0x9B, 0x71,
    ]

    /// The bytes before those of a codec.
    static let extendedSize = 18

    /// The code of the codec; 0 for none.
    static func code(_ chunk: [UInt8]) -> UInt16 {
        var reader = ByteReader(chunk)
        return reader.littleEndian(UInt16.self) ?? 0
    }

    /// - Parameter container: for messages.
    init(_ chunk: [UInt8], of container: StaticString = "WAV") throws(Interruption) {
        var reader = ByteReader(chunk)
        guard var code = reader.littleEndian(UInt16.self), let channels = reader.littleEndian(UInt16.self),
            let rate = reader.littleEndian(UInt32.self), reader.littleEndian(UInt32.self) != nil,
            let blockAlign = reader.littleEndian(UInt16.self), let bits = reader.littleEndian(UInt16.self)
        else { throw .damaged(what: "\(container) with a format that is cut off") }

        var validBits = Int(bits)
        if code == Code.extensible {
            guard reader.littleEndian(UInt16.self) != nil, let valid = reader.littleEndian(UInt16.self),
                reader.littleEndian(UInt32.self) != nil, let subFormat = reader.littleEndian(UInt16.self),
                let tail = reader.bytes(Self.subFormatTail.count)
            else { throw .damaged(what: "\(container) with a format that is cut off") }
            guard tail.elementsEqual(Self.subFormatTail) else {
                throw .unsupported(what: "\(container) with an unknown sub-format")
            }
            code = subFormat
            // Some writers leave it at 0.
            if valid > 0 { validBits = Int(valid) }
        }
        guard code == Code.pcm || code == Code.float || code == Code.aLaw || code == Code.muLaw else {
            throw .unsupported(what: "\(container) with \(Self.name(ofCodec: code))")
        }
        guard AudioLimits.channelCounts ~= Int(channels) else {
            throw .unsupported(what: "\(container) with \(channels) channels")
        }
        sampleRate = try AudioLimits.sampleRate(UInt64(rate), of: container)
        channelCount = Int(channels)
        if code != Code.pcm {
            layout = try Self.layout(ofCodec: code, bits: Int(bits), container)
            guard blockAlign == 0 || Int(blockAlign) == layout.byteCount * channelCount else {
                throw .damaged(what: "\(container) with \(blockAlign) bytes for \(channels) samples of \(bits) bits")
            }
            return
        }
        guard AudioLimits.bitDepths ~= Int(bits), AudioLimits.bitDepths ~= validBits else {
            throw .unsupported(what: "\(container) with \(validBits) bits per sample")
        }
        let smallest = (Int(bits) + 7) / 8
        let byteCount = blockAlign == 0 ? smallest : Int(blockAlign) / Int(channels)
        guard byteCount >= smallest, byteCount <= 4, blockAlign == 0 || Int(blockAlign) % Int(channels) == 0 else {
            throw .damaged(what: "\(container) with \(blockAlign) bytes for \(channels) samples of \(bits) bits")
        }
        layout = SampleLayout(
            byteCount: byteCount, bitDepth: min(validBits, byteCount * 8), isBigEndian: false,
            isUnsigned: byteCount == 1)
    }

    /// The layout of samples that are not integers.
    private static func layout(
        ofCodec code: UInt16, bits: Int, _ container: StaticString
    ) throws(Interruption) -> SampleLayout {
        switch (code, bits) {
        case (Code.float, 32), (Code.float, 64): return .float(bits: bits, isBigEndian: false)
        case (Code.aLaw, 8): return .aLaw
        case (Code.muLaw, 8): return .muLaw
        default: throw .unsupported(what: "\(container) with \(name(ofCodec: code)) of \(bits) bits")
        }
    }

    private static func name(ofCodec code: UInt16) -> String {
        switch code {
        case Code.float: return "floating-point samples"
        case Code.aLaw: return "A-law"
        case Code.muLaw: return "mu-law"
        case 0x0002, 0x0011, 0x0017, 0x0040, 0x0045: return "ADPCM"
        case 0x0031: return "GSM 6.10"
        case 0x0055: return "MP3 inside"
        case 0x00FF, 0x1600, 0x1610: return "AAC inside"
        case 0x0092, 0x2000: return "AC-3"
        case 0x2001: return "DTS"
        case 0x0160, 0x0161, 0x0162, 0x0163: return "Windows Media Audio"
        case 0x566F, 0x674F, 0x6750, 0x6751: return "Vorbis inside"
        default:
            let digits = Array("0123456789ABCDEF".utf8)
            let hex = [12, 8, 4, 0].map { digits[Int(code >> UInt16($0)) & 0xF] }
            return "codec 0x" + String(decoding: hex, as: UTF8.self)
        }
    }
}
