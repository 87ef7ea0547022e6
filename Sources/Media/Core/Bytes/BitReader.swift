/// Reads fields of single bits from bytes in memory, the highest bit first. Every read is checked, and returns nil
/// beyond the end.
struct BitReader {
    private let bytes: [UInt8]
    /// The position of the next bit, in bits.
    private(set) var position = 0

    /// - Parameter bytes: not more than a header.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var remaining: Int { bytes.count * 8 - position }

    /// - Parameter count: 0 to 32.
    mutating func bits(_ count: Int) -> UInt32? {
        guard 0...32 ~= count, count <= remaining else { return nil }
        var value: UInt32 = 0
        for _ in 0..<count {
            value = value << 1 | UInt32(bytes[position >> 3] >> UInt8(7 - position & 7) & 1)
            position += 1
        }
        return value
    }

    mutating func flag() -> Bool? { bits(1).map { $0 == 1 } }

    /// - Returns: whether there were so many bits.
    mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, count <= remaining else { return false }
        position += count
        return true
    }

    /// Skips the rest of a byte that is begun.
    mutating func alignToByte() { position = (position + 7) & ~7 }
}
