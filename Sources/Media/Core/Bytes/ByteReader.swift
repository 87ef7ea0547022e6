/// Reads fields from bytes in memory, in order. Every read is checked, and returns nil beyond the end.
package struct ByteReader {
    let bytes: [UInt8]
    private(set) var position = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var remaining: Int { bytes.count - position }

    package mutating func skip(_ count: Int) {
        position += min(max(0, count), remaining)
    }

    package mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= remaining else { return nil }
        defer { position += count }
        return bytes[position..<(position + count)]
    }

    // Not inline: headers are read once, and have many fields.
    @inline(never)
    package mutating func bigEndian<Integer: FixedWidthInteger & UnsignedInteger>(_ type: Integer.Type) -> Integer? {
        guard let field = bytes(Integer.bitWidth / 8) else { return nil }
        return field.reduce(0) { value, byte in value << 8 | Integer(byte) }
    }

    package mutating func littleEndian<Integer: FixedWidthInteger & UnsignedInteger>(_ type: Integer.Type) -> Integer? {
        bigEndian(type)?.byteSwapped
    }

    /// A four-character code, as containers name their chunks.
    mutating func code() -> FourCharacterCode? {
        bigEndian(UInt32.self).map(FourCharacterCode.init(rawValue:))
    }
}

/// The name of a chunk: four ASCII characters.
struct FourCharacterCode: RawRepresentable, Equatable, ExpressibleByStringLiteral {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    init(stringLiteral text: StaticString) {
        precondition(text.utf8CodeUnitCount == 4)
        rawValue = text.withUTF8Buffer { $0.reduce(0) { value, byte in value << 8 | UInt32(byte) } }
    }

    /// The code as text, for messages.
    var text: String {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> UInt32($0)) }
        return String(decoding: bytes.map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
    }
}
