/// Reads numbers of a packet, little endian; zeros after its end.
struct PacketReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next number of `count` bytes, at most 8.
    mutating func next(_ count: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<count where offset + index < bytes.count {
            value |= UInt64(bytes[offset + index]) << UInt64(8 * index)
        }
        offset += count
        return value
    }
}

/// A packet of numbers with the bytes of each, little endian.
func packet(_ numbers: [(value: UInt64, count: Int)]) -> [UInt8] {
    var bytes: [UInt8] = []
    for number in numbers {
        for index in 0..<number.count { bytes.append(UInt8(truncatingIfNeeded: number.value >> UInt64(8 * index))) }
    }
    return bytes
}
