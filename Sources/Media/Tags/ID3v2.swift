/// ID3v2.2, 2.3 and 2.4 (id3.org), as far as this player shows it. Only the texts are read, also in a tag of many
/// megabytes.
enum ID3v2 {
    private static let headerSize: Int64 = 10
    private static let mostTags = 16
    private static let mostFrames = 10_000

    /// The header of a tag (ID3v2.4 structure, 3.1).
    private struct Header {
        let version: UInt8
        let flags: UInt8
        /// Bytes after the header, with the footer.
        let size: Int64

        init?(_ bytes: [UInt8]) {
            guard bytes.count == 10, bytes[..<3].elementsEqual([0x49, 0x44, 0x33]), bytes[3] != 0xFF, bytes[4] != 0xFF,
                let size = ID3v2.synchsafe(bytes[6...])
            else { return nil }
            version = bytes[3]
            flags = bytes[5]
            self.size = size + (bytes[3] >= 4 && bytes[5] & 0x10 != 0 ? 10 : 0)
        }
    }

    /// The offset after the tags that begin at `offset`; `offset` itself when there are none.
    static func end(of source: any ByteSource, at offset: Int64) throws(Interruption) -> Int64 {
        var offset = offset
        for _ in 0..<mostTags {
            guard let header = Header(try SourceReader(source).bytes(Int(headerSize), at: offset)) else { break }
            offset += headerSize + header.size
        }
        return offset
    }

    /// Reads the tags from `start` to `end`. When several tags have a field, the first one counts.
    static func read(from source: any ByteSource, from start: Int64, upTo end: Int64) throws(Interruption)
        -> TrackMetadata
    {
        var metadata = TrackMetadata()
        var offset = start
        for _ in 0..<mostTags {
            guard offset < end, let header = Header(try SourceReader(source).bytes(Int(headerSize), at: offset)) else {
                break
            }
            metadata = try read(from: source, at: offset).overridden(by: metadata)
            offset += headerSize + header.size
        }
        return metadata
    }

    /// Reads the tag at `offset`. Parts that are cut off or not valid are left out.
    static func read(from source: any ByteSource, at offset: Int64) throws(Interruption) -> TrackMetadata {
        var fields = TagFields()
        guard let header = Header(try SourceReader(source).bytes(Int(headerSize), at: offset)),
            2...4 ~= header.version
        else { return fields.result }
        // In 2.2 the flag for an extended header means a compression that was never defined.
        let hasExtendedHeader = header.flags & 0x40 != 0
        guard header.version > 2 || !hasExtendedHeader else { return fields.result }

        var content = ID3v2Content(
            SourceCursor(source, from: offset + headerSize, to: offset + headerSize + header.size),
            // From 2.4 on each frame has its own flag.
            isUnsynchronised: header.version < 4 && header.flags & 0x80 != 0)
        if hasExtendedHeader {
            guard let size = try content.bytes(4) else { return fields.result }
            // In 2.3 the size does not include itself, in 2.4 it does.
            let rest = header.version == 3 ? plain(size) : (synchsafe(size[...]) ?? 4) - 4
            guard try content.skip(rest) else { return fields.result }
        }
        var pictures: [TagPicture] = []
        var gapless: GaplessTag?
        for _ in 0..<mostFrames {
            guard let frame = try ID3v2Frame(&content, version: header.version) else { break }
            guard frame.kind.hasTexts else {
                if case .picture = frame.kind, pictures.count < TagPicture.most,
                    let picture = try frame.picture(content)
                {
                    pictures.append(picture)
                }
                guard try content.skip(frame.size) else { break }
                continue
            }
            let read = min(frame.size, Int64(TagFields.longestText))
            guard let bytes = try content.bytes(Int(read)) else { break }
            gapless = gapless ?? frame.gapless(of: bytes)
            frame.addTexts(of: bytes, to: &fields)
            guard try content.skip(frame.size - read) else { break }
        }
        var metadata = fields.result
        metadata.pictures = pictures
        metadata.gapless = gapless
        return metadata
    }

    /// Four times seven bits.
    static func synchsafe(_ bytes: ArraySlice<UInt8>) -> Int64? {
        guard bytes.count == 4, bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        return bytes.reduce(0) { $0 << 7 | Int64($1) }
    }

    static func plain(_ bytes: [UInt8]) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// The bytes of a tag with the unsynchronisation undone: a zero was inserted after 0xFF, so that no player mistakes it
/// for the start of an MPEG frame.
struct ID3v2Content {
    private var cursor: SourceCursor
    var isUnsynchronised: Bool
    private var lastWasFF = false
    /// Unsynchronised bytes can be skipped only by reading them. This limits the reading.
    private var readThroughLimit = 4_194_304

    init(_ cursor: SourceCursor, isUnsynchronised: Bool) {
        self.cursor = cursor
        self.isUnsynchronised = isUnsynchronised
    }

    /// The offset of the next byte in the source.
    var offset: Int64 { cursor.offset }

    mutating func bytes(_ count: Int) throws(Interruption) -> [UInt8]? {
        guard isUnsynchronised else { return try cursor.bytes(count) }
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let byte = try nextByte() else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// Up to `count` bytes, fewer at the end of the tag.
    mutating func prefix(_ count: Int) throws(Interruption) -> [UInt8] {
        guard isUnsynchronised else { return try cursor.bytes(Int(min(Int64(count), cursor.remaining))) ?? [] }
        var bytes: [UInt8] = []
        while bytes.count < count, let byte = try nextByte() { bytes.append(byte) }
        return bytes
    }

    /// - Returns: false when the tag ends before.
    mutating func skip(_ count: Int64) throws(Interruption) -> Bool {
        guard count >= 0, count <= cursor.remaining else { return false }
        guard isUnsynchronised else {
            cursor.skip(count)
            return true
        }
        for _ in 0..<count {
            guard try nextByte() != nil else { return false }
        }
        return true
    }

    /// Whether a frame, padding or the end of the tag is `count` bytes further on.
    func isFrameBoundary(after count: Int64) throws(Interruption) -> Bool {
        var ahead = self
        guard try ahead.skip(count) else { return false }
        if ahead.cursor.remaining == 0 { return true }
        guard let first = try ahead.bytes(1) else { return false }
        if first[0] == 0 { return true }
        guard let rest = try ahead.bytes(9) else { return false }
        let header = first + rest
        let size = ID3v2.synchsafe(header[4..<8]) ?? ID3v2.plain(Array(header[4..<8]))
        let name = header[..<4]
        return size <= ahead.cursor.remaining
            && (ID3v2Frame.isShort(name) ? name.dropLast() : name)
                .allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) }
    }

    private mutating func nextByte() throws(Interruption) -> UInt8? {
        guard readThroughLimit > 0, var byte = try cursor.byte() else { return nil }
        readThroughLimit -= 1
        if lastWasFF, byte == 0 {
            guard let next = try cursor.byte() else { return nil }
            byte = next
        }
        lastWasFF = byte == 0xFF
        return byte
    }
}
