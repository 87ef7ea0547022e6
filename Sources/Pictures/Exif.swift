/// Reads the orientation in EXIF metadata: a TIFF file with a list of tags.
struct Exif {
    /// Upright when the metadata has no orientation, or is damaged.
    let orientation: Orientation

    /// - Parameter bytes: from the byte order on, `II` or `MM`.
    init(_ bytes: ArraySlice<UInt8>) {
        orientation = Self.orientation(in: TIFFReader(bytes)) ?? .upright
    }

    private static let orientationTag = 0x0112
    /// The type of 16-bit numbers.
    private static let short = 3

    private static func orientation(in reader: TIFFReader?) -> Orientation? {
        guard let reader, let list = reader.number(4, at: 4), let count = reader.number(2, at: list) else { return nil }
        for index in 0..<count {
            let entry = list + 2 + index * 12
            guard let tag = reader.number(2, at: entry) else { return nil }
            guard tag == orientationTag else { continue }
            guard reader.number(2, at: entry + 2) == short, let value = reader.number(2, at: entry + 8) else { break }
            return Orientation(rawValue: UInt16(value))
        }
        return nil
    }
}

/// The numbers of a TIFF file.
private struct TIFFReader {
    private let bytes: ArraySlice<UInt8>
    private let isLittleEndian: Bool

    /// nil for other bytes.
    init?(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        switch bytes.prefix(2) {
        case [0x49, 0x49]: isLittleEndian = true
        case [0x4D, 0x4D]: isLittleEndian = false
        default: return nil
        }
        guard number(2, at: 2) == 42 else { return nil }
    }

    /// The number of `size` bytes at `offset`; nil beyond the end, and for more than 31 bits.
    func number(_ size: Int, at offset: Int) -> Int? {
        guard offset <= bytes.count - size else { return nil }
        var value: UInt32 = 0
        for index in 0..<size {
            let byte = bytes[bytes.startIndex + offset + (isLittleEndian ? size - 1 - index : index)]
            value = value << 8 | UInt32(byte)
        }
        // Offsets that are added to each other stay in 32 bits.
        return value < 1 << 30 ? Int(value) : nil
    }
}
