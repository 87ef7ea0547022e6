/// Vorbis comments: `NAME=value` in UTF-8, with a count and lengths, little-endian.
enum VorbisComments {
    /// Longer ones are not titles (lyrics, pictures in base64) and are skipped unread.
    private static let longestComment = 4096
    private static let mostComments = 10_000

    /// Reads the comments in `range`. Parts that are cut off or not valid are left out.
    /// - Parameter prefersR128: as of `TagFields`.
    static func read(
        from source: any ByteSource, in range: Range<Int64>, prefersR128: Bool = false
    ) throws(Interruption) -> TrackMetadata {
        var fields = TagFields(prefersR128: prefersR128)
        try forEach(in: source, range, longest: longestComment) { comment in
            guard let equals = comment.firstIndex(of: 0x3D), let field = TagFields.field(named: comment[..<equals]),
                let text = TagText.utf8(comment[(equals + 1)...])
            else { return }
            fields.add(field, text)
        }
        return fields.result
    }

    /// The text of the comment `CUESHEET`, which may be long.
    static func cueSheet(in source: any ByteSource, _ range: Range<Int64>) throws(Interruption) -> [UInt8]? {
        let name = Array("CUESHEET=".utf8)
        var text: [UInt8]?
        try forEach(in: source, range, longest: CueSheet.mostBytes) { comment in
            let start = comment.prefix(name.count).map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
            if text == nil, start.elementsEqual(name) { text = Array(comment.dropFirst(name.count)) }
        }
        return text
    }

    private static func forEach(
        in source: any ByteSource, _ range: Range<Int64>, longest: Int, _ use: ([UInt8]) -> Void
    ) throws(Interruption) {
        var cursor = SourceCursor(source, from: range.lowerBound, to: range.upperBound)
        guard let vendorLength = try cursor.littleEndianLength() else { return }
        cursor.skip(vendorLength)
        guard let count = try cursor.littleEndianLength() else { return }
        for _ in 0..<min(count, Int64(mostComments)) {
            guard let length = try cursor.littleEndianLength(), length <= cursor.remaining else { break }
            guard length <= Int64(longest) else {
                cursor.skip(length)
                continue
            }
            guard let comment = try cursor.bytes(Int(length)) else { break }
            use(comment)
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
