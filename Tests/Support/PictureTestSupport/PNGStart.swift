/// The start of a PNG file, whose header may say any size.
public enum PNGStart {
    public static func file(width: UInt32, height: UInt32) -> [UInt8] {
        let header = Array("IHDR".utf8) + big(width) + big(height) + [8, 6, 0, 0, 0]
        let data = Array("IDAT".utf8)
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + big(13) + header + big(checksum(header)) + big(0) + data + big(checksum(data))
    }

    /// In four bytes, the highest first.
    private static func big(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    /// CRC-32.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return ~value
    }
}
