/// The header of a page of Ogg (RFC 3533, 6).
struct OggPage: Equatable {
    /// Bytes before the lacing values.
    static let fixedSize = 27
    static let mostSegments = 255
    /// The bytes of a whole page.
    static let mostBytes = fixedSize + mostSegments + mostSegments * 255
    /// `OggS`, the first byte at the top.
    static let marker: UInt32 = 0x4F67_6753
    /// The offsets of the checksum in the header.
    static let checksumPlace = 22..<26

    /// The offset of the page.
    let offset: Int64
    /// Whether its first bytes continue a packet of an earlier page.
    let isContinued: Bool
    /// Whether it begins a logical stream.
    let isFirst: Bool
    /// Whether it ends a logical stream.
    let isLast: Bool
    /// The time at the end of the last packet that ends here, in the codec's units; nil when the page does not contain
    /// it.
    let granule: Int64?
    /// Which logical stream it belongs to.
    let serial: UInt32
    /// Counts the pages of a logical stream.
    let sequence: UInt32
    let checksum: UInt32
    let segmentCount: Int
    /// The bytes in the segments.
    var bodySize = 0

    var headerSize: Int { Self.fixedSize + segmentCount }
    var byteCount: Int { headerSize + bodySize }
    /// The offset of the next page.
    var end: Int64 { offset + Int64(byteCount) }

    /// - Parameter bytes: `fixedSize` of them.
    /// - Returns: nil for other bytes.
    init?(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        func field(_ place: Int, _ count: Int) -> UInt64 {
            (0..<count).reduce(0) { $0 | UInt64(bytes[place + $1]) << UInt64(8 * $1) }
        }
        guard bytes.count >= Self.fixedSize, UInt32(field(0, 4)).byteSwapped == Self.marker, bytes[4] == 0,
            bytes[5] < 8
        else { return nil }
        self.offset = offset
        isContinued = bytes[5] & 1 != 0
        isFirst = bytes[5] & 2 != 0
        isLast = bytes[5] & 4 != 0
        let time = Int64(bitPattern: field(6, 8))
        granule = 0..<AudioLimits.largestData ~= time ? time : nil
        serial = UInt32(field(14, 4))
        sequence = UInt32(field(18, 4))
        checksum = UInt32(field(22, 4))
        segmentCount = Int(bytes[26])
    }
}

/// The checksum of pages of Ogg (RFC 3533, 6).
enum OggChecksum {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte) << 24) { value, _ in
            value & 0x8000_0000 != 0 ? value << 1 ^ 0x04C1_1DB7 : value << 1
        }
    }

    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            var value: UInt32 = 0
            for byte in bytes { value = value << 8 ^ table[Int(value >> 24) ^ Int(byte)] }
            return value
        }
    }
}
