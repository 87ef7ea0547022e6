/// A box (ISO/IEC 14496-12, 4.2): its type, and where its content is.
struct MP4Box {
    let type: FourCharacterCode
    /// The offset of the box itself.
    let offset: Int64
    /// The range after the header, within the box around it. In a box of type `uuid` it begins with the 16 bytes of the
    /// type.
    let content: Range<Int64>
    /// Whether the box claims to be longer than the one around it.
    let isCutShort: Bool

    var end: Int64 { content.upperBound }

    /// The first bytes of the content, up to `limit`.
    func bytes(of source: any ByteSource, limit: Int = 1024) throws(Interruption) -> [UInt8] {
        let count = Int(min(Int64(limit), content.upperBound - content.lowerBound))
        return try SourceReader(source).bytes(count, at: content.lowerBound)
    }

    /// The boxes inside, after `headerSize` bytes of fields.
    func children(of source: any ByteSource, after headerSize: Int64 = 0) -> MP4Boxes {
        MP4Boxes(source, from: min(content.lowerBound + headerSize, end), to: end)
    }

    /// The first box of that type inside.
    func child(
        _ type: FourCharacterCode, of source: any ByteSource, after headerSize: Int64 = 0
    ) throws(Interruption) -> MP4Box? {
        var boxes = children(of: source, after: headerSize)
        while let box = try boxes.next() {
            if box.type == type { return box }
        }
        return nil
    }
}

/// The boxes in a part of a source, one after the other.
struct MP4Boxes {
    /// The offset of the next box.
    private(set) var offset: Int64

    private let source: any ByteSource
    private let end: Int64
    private var boxesLeft = Self.mostBoxes

    /// The most boxes on one level. Even the fragments of a whole day are fewer.
    private static let mostBoxes = 1_000_000

    /// - Parameter end: `Int64.max` when it is not known.
    init(_ source: any ByteSource, from offset: Int64, to end: Int64) {
        self.source = source
        self.offset = offset
        self.end = end
    }

    /// The next box; nil at the end, and where the bytes are not a box.
    @inline(never)
    mutating func next() throws(Interruption) -> MP4Box? {
        guard boxesLeft > 0, offset <= end - 8 else { return nil }
        var header = ByteReader(try SourceReader(source).bytes(Int(min(16, end - offset)), at: offset))
        guard let size32 = header.bigEndian(UInt32.self), let type = header.code() else { return nil }
        var size = Int64(size32)
        if size32 == 1 {
            guard let size64 = header.bigEndian(UInt64.self), size64 <= UInt64(AudioLimits.largestData) else {
                return nil
            }
            size = Int64(size64)
        }
        let headerSize: Int64 = size32 == 1 ? 16 : 8
        // A size of 0 extends to the end of the file.
        if size32 == 0 { size = end - offset }
        guard size >= headerSize else { return nil }
        let boxEnd = size < end - offset ? offset + size : end
        let box = MP4Box(
            type: type, offset: offset, content: (offset + headerSize)..<boxEnd, isCutShort: size > end - offset)
        offset = boxEnd
        boxesLeft -= 1
        return box
    }
}

/// The fields of a box with a version and flags (ISO/IEC 14496-12, 4.2.2).
struct MP4Fields {
    let version: UInt8
    let flags: UInt32
    private var reader: ByteReader

    /// - Returns: nil when even these fields are missing.
    init?(_ content: [UInt8]) {
        reader = ByteReader(content)
        guard let head = reader.bigEndian(UInt32.self) else { return nil }
        version = UInt8(head >> 24)
        flags = head & 0xFF_FFFF
    }

    /// The bytes of version and flags.
    static let headerSize: Int64 = 4

    var remaining: Int { reader.remaining }

    mutating func skip(_ count: Int) { reader.skip(count) }

    /// Skips the times when the box was made and changed.
    mutating func skipTimes() { reader.skip(version > 0 ? 16 : 8) }

    mutating func bytes(_ count: Int) -> [UInt8]? { reader.bytes(count).map(Array.init) }

    mutating func integer<Integer: FixedWidthInteger & UnsignedInteger>(_ type: Integer.Type) -> Integer? {
        reader.bigEndian(type)
    }

    mutating func code() -> FourCharacterCode? { reader.code() }

    /// A time or a duration: 64 bits in version 1, else 32.
    /// - Returns: nil also for a number that is not plausible.
    mutating func time() -> Int64? {
        guard version > 0 else { return reader.bigEndian(UInt32.self).map(Int64.init) }
        return reader.bigEndian(UInt64.self).flatMap { $0 <= UInt64(AudioLimits.largestTime) ? Int64($0) : nil }
    }
}
