import Platform

/// The header or footer of an APE tag, version 1 or 2. Its items have UTF-8 names and little-endian lengths.
struct APETag {
    static let headerSize = 32
    private static let longestName = 255
    private static let mostItems = 1000

    /// Bytes of the items and the footer.
    let size: Int64
    /// Whether this is the header, in front of the items.
    let isHeader: Bool
    private let hasHeader: Bool
    private let itemCount: Int

    /// - Parameter bytes: a header or a footer.
    /// - Returns: nil for anything else.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headerSize, MPEGTags.begins(bytes, with: "APETAGEX") else { return nil }
        var reader = ByteReader(Array(bytes[8..<Self.headerSize]))
        guard let version = reader.littleEndian(UInt32.self), let size = reader.littleEndian(UInt32.self),
            let count = reader.littleEndian(UInt32.self), let flags = reader.littleEndian(UInt32.self),
            version == 1000 || version == 2000, size >= Self.headerSize
        else { return nil }
        self.size = Int64(size)
        itemCount = Int(min(count, UInt32(Self.mostItems)))
        isHeader = version == 2000 && flags & 0x2000_0000 != 0
        hasHeader = version == 2000 && flags & 0x8000_0000 != 0
    }

    /// The bytes of the whole tag, with its header if there is one.
    var wholeSize: Int64 { size + (hasHeader ? Int64(Self.headerSize) : 0) }

    /// Reads the items in `range`. Parts that are cut off or not valid are left out.
    func read(from source: any ByteSource, in range: Range<Int64>) throws(Interruption) -> TrackMetadata {
        var cursor = SourceCursor(source, from: range.lowerBound, to: range.upperBound)
        var fields = TagFields()
        var pictures: [TagPicture] = []
        for _ in 0..<itemCount {
            guard let head = try cursor.bytes(8) else { break }
            var reader = ByteReader(head)
            guard let length = reader.littleEndian(UInt32.self), let flags = reader.littleEndian(UInt32.self),
                let name = try Self.terminated(&cursor, limit: Self.longestName), Int64(length) <= cursor.remaining
            else { break }
            let isText = flags & 6 == 0
            let end = cursor.offset + Int64(length)
            if isText, let meaning = TagFields.meaning(of: name) {
                let read = min(Int64(length), Int64(TagFields.longestText))
                guard let bytes = try cursor.bytes(Int(read)) else { break }
                // A list of values has NULs between them.
                for value in bytes.split(separator: 0) {
                    if let text = TagText.utf8(value) {
                        fields.add(meaning, text, isCut: read < Int64(length) && value.endIndex == bytes.endIndex)
                    }
                }
                cursor.skip(end - cursor.offset)
                continue
            }
            if !isText, pictures.count < TagPicture.most, let kind = Self.kind(ofPicture: name) {
                // The name of a file is in front of the picture.
                var inner = SourceCursor(source, from: cursor.offset, to: end)
                if try Self.terminated(&inner, limit: Self.longestName) != nil, inner.offset < end {
                    pictures.append(
                        TagPicture(
                            offset: inner.offset, length: end - inner.offset,
                            mediaType: try TagPicture.mediaType(of: source, at: inner.offset), kind: kind))
                }
            }
            cursor.skip(Int64(length))
        }
        var metadata = fields.result
        metadata.pictures = pictures
        return metadata
    }

    private static func terminated(_ cursor: inout SourceCursor, limit: Int) throws(Interruption) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count <= limit, let byte = try cursor.byte() {
            if byte == 0 { return bytes }
            bytes.append(byte)
        }
        return nil
    }

    private static func kind(ofPicture name: [UInt8]) -> TagPicture.Kind? {
        let name = name.map { $0.uppercased }
        if name.elementsEqual("COVER ART (FRONT)".utf8) { return .frontCover }
        if name.elementsEqual("COVER ART (BACK)".utf8) { return .backCover }
        return name.starts(with: "COVER ART (".utf8) ? .other : nil
    }
}
