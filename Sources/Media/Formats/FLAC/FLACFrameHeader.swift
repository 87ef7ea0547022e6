/// The header of a FLAC frame (RFC 9639, 9.1).
struct FLACFrameHeader: Equatable {
    /// Whether the frames differ in size, so that each is numbered by its first sample.
    let hasVariableSize: Bool
    let blockSize: Int
    /// The rate in Hz; nil: that of STREAMINFO.
    let sampleRate: Int?
    let channelCount: Int
    /// The bit depth; nil: that of STREAMINFO.
    let bitDepth: Int?
    /// With `hasVariableSize` the number of the first sample, else of the frame.
    let number: Int64

    /// The longest header.
    static let mostBytes = 16

    /// The number of the first sample.
    var firstSample: Int64 { hasVariableSize ? number : number * Int64(blockSize) }

    /// Parses the header at the beginning of `bytes`.
    /// - Returns: nil for other bytes, and for a header with a wrong checksum.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 6 else { return nil }
        let start = bytes.startIndex
        guard bytes[start] == 0xFF, bytes[start + 1] & 0xFE == 0xF8, bytes[start + 3] & 1 == 0 else { return nil }
        hasVariableSize = bytes[start + 1] & 1 != 0
        let sizeCode = bytes[start + 2] >> 4
        let rateCode = bytes[start + 2] & 0xF
        let channelCode = Int(bytes[start + 3] >> 4)
        let depthCode = bytes[start + 3] >> 1 & 7
        guard sizeCode != 0, rateCode != 15, channelCode <= 10, depthCode != 3 else { return nil }
        channelCount = channelCode < 8 ? channelCode + 1 : 2
        bitDepth = [nil, 8, 12, nil, 16, 20, 24, 32][Int(depthCode)]

        var reader = ByteReader(Array(bytes.prefix(Self.mostBytes)))
        reader.skip(4)
        guard let number = Self.codedNumber(&reader) else { return nil }
        self.number = number
        switch sizeCode {
        case 1: blockSize = 192
        case 2...5: blockSize = 144 << Int(sizeCode)
        case 6:
            guard let size = reader.bigEndian(UInt8.self) else { return nil }
            blockSize = Int(size) + 1
        case 7:
            guard let size = reader.bigEndian(UInt16.self), size < .max else { return nil }
            blockSize = Int(size) + 1
        default: blockSize = 1 << Int(sizeCode)
        }
        switch rateCode {
        case 12:
            guard let rate = reader.bigEndian(UInt8.self), rate > 0 else { return nil }
            sampleRate = Int(rate) * 1000
        case 13, 14:
            guard let rate = reader.bigEndian(UInt16.self), rate > 0 else { return nil }
            sampleRate = Int(rate) * (rateCode == 14 ? 10 : 1)
        default: sampleRate = Self.sampleRates[Int(rateCode)]
        }
        let headerSize = reader.position
        guard let checksum = reader.bigEndian(UInt8.self),
            FLACChecksum.crc8(bytes[start..<(start + headerSize)]) == checksum
        else { return nil }
    }

    private static let sampleRates: [Int?] = [
        nil, 88_200, 176_400, 192_000, 8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000,
    ]

    /// A number of up to 36 bits, coded like UTF-8.
    private static func codedNumber(_ reader: inout ByteReader) -> Int64? {
        guard let first = reader.bigEndian(UInt8.self) else { return nil }
        if first < 0x80 { return Int64(first) }
        let length = (~first).leadingZeroBitCount
        guard 2...7 ~= length else { return nil }
        var value = length == 7 ? 0 : Int64(first & (0x7F >> UInt8(length)))
        for _ in 1..<length {
            guard let next = reader.bigEndian(UInt8.self), next & 0xC0 == 0x80 else { return nil }
            value = value << 6 | Int64(next & 0x3F)
        }
        return value
    }
}

/// The checksums of FLAC frames (RFC 9639, 9.1.8 and 9.3).
enum FLACChecksum {
    static func crc8(_ bytes: some Sequence<UInt8>) -> UInt8 {
        bytes.reduce(0) { checksum, byte in
            (0..<8).reduce(checksum ^ byte) { value, _ in value & 0x80 != 0 ? value << 1 ^ 0x07 : value << 1 }
        }
    }

    /// The checksum with one more byte. Over a whole frame with its footer it is 0.
    static func crc16(_ checksum: UInt16, _ byte: UInt8) -> UInt16 {
        (0..<8).reduce(checksum ^ UInt16(byte) << 8) { value, _ in
            value & 0x8000 != 0 ? value << 1 ^ 0x8005 : value << 1
        }
    }
}
