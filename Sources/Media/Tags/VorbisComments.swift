import Platform

/// Vorbis comments: `NAME=value` in UTF-8, with a count and lengths, little-endian.
enum VorbisComments {
    private static let mostComments = 10_000

    private static let picture: StaticString = "METADATABLOCKPICTURE"
    /// The field of older programs: the picture itself.
    private static let plainPicture: StaticString = "COVERART"

    /// Reads the comments in `range`. Parts that are cut off or not valid are left out.
    /// - Parameter prefersR128: as of `TagFields`.
    static func read(
        from source: any ByteSource, in range: Range<Int64>, prefersR128: Bool = false
    ) throws(Interruption) -> TrackMetadata {
        var fields = TagFields(prefersR128: prefersR128)
        var pictures: [TagPicture] = []
        try forEach(in: source, range, longest: TagFields.longestText) { comment in
            guard let equals = comment.head.firstIndex(of: 0x3D) else { return }
            let value = comment.head[(equals + 1)...]
            let name = comment.head[..<equals]
            let isPlain = TagFields.isName(name, plainPicture)
            if isPlain || TagFields.isName(name, picture) {
                let text = (comment.range.lowerBound + Int64(equals) + 1)..<comment.range.upperBound
                let found = isPlain ? TagPicture(plainBase64: value, in: text) : TagPicture(base64: value, in: text)
                if pictures.count < TagPicture.most, let found { pictures.append(found) }
            } else if let meaning = TagFields.meaning(of: name), let text = TagText.utf8(value) {
                fields.add(meaning, text, isCut: !comment.isWhole)
            }
        }
        var metadata = fields.result
        metadata.pictures = pictures
        return metadata
    }

    /// The text of the comment `CUESHEET`, which may be long.
    static func cueSheet(in source: any ByteSource, _ range: Range<Int64>) throws(Interruption) -> [UInt8]? {
        let name = Array("CUESHEET=".utf8)
        var text: [UInt8]?
        try forEach(in: source, range, longest: EmbeddedCueSheet.mostBytes) { comment in
            let start = comment.head.prefix(name.count).map { $0.uppercased }
            if text == nil, comment.isWhole, start.elementsEqual(name) {
                text = Array(comment.head.dropFirst(name.count))
            }
        }
        return text
    }

    /// Returns the size of the comments at `offset` by their own lengths; nil for bytes that are no comments.
    static func size(in source: any ByteSource, at offset: Int64) throws(Interruption) -> Int64? {
        var cursor = SourceCursor(source, from: offset, to: source.length ?? .max)
        guard let vendorLength = try cursor.littleEndianLength(), vendorLength <= cursor.remaining else { return nil }
        cursor.skip(vendorLength)
        guard let count = try cursor.littleEndianLength(), count <= Int64(mostComments) else { return nil }
        for _ in 0..<count {
            guard let length = try cursor.littleEndianLength(), length <= cursor.remaining,
                let head = try cursor.bytes(Int(min(length, longestName))),
                let name = head.firstIndex(of: 0x3D).map({ head[..<$0] }),
                name.allSatisfy({ (0x20...0x7D).contains($0) })
            else { return nil }
            cursor.skip(length - Int64(head.count))
        }
        return cursor.offset - offset
    }

    private static let longestName: Int64 = 64

    private struct Comment {
        /// The whole comment, or the first bytes of a long one.
        var head: [UInt8]
        var range: Range<Int64>
        var isWhole: Bool { Int64(head.count) == range.upperBound - range.lowerBound }
    }

    private static func forEach(
        in source: any ByteSource, _ range: Range<Int64>, longest: Int, _ use: (Comment) -> Void
    ) throws(Interruption) {
        var cursor = SourceCursor(source, from: range.lowerBound, to: range.upperBound)
        guard let vendorLength = try cursor.littleEndianLength() else { return }
        cursor.skip(vendorLength)
        guard let count = try cursor.littleEndianLength() else { return }
        for _ in 0..<min(count, Int64(mostComments)) {
            guard let length = try cursor.littleEndianLength(), length <= cursor.remaining else { break }
            let range = cursor.offset..<(cursor.offset + length)
            // Only the beginning of a longer one: a name, a title, or the head of a picture.
            let read = length <= Int64(longest) ? length : Int64(TagFields.longestText)
            guard let head = try cursor.bytes(Int(read)) else { break }
            use(Comment(head: head, range: range))
            cursor.skip(length - read)
        }
    }
}

extension SourceCursor {
    fileprivate mutating func littleEndianLength() throws(Interruption) -> Int64? {
        guard let bytes = try bytes(4) else { return nil }
        var reader = ByteReader(bytes)
        return reader.littleEndian(UInt32.self).map(Int64.init)
    }
}
