/// The texts of a `LIST` chunk of type `INFO` in a RIFF file.
enum RIFFInfo {
    private static let mostTexts = 1000

    /// Reads the content of a `LIST` chunk in `range`. Lists of other types are ignored.
    static func read(from source: any ByteSource, in range: Range<Int64>) throws(Interruption) -> TrackMetadata {
        var cursor = SourceCursor(source, from: range.lowerBound, to: range.upperBound)
        var fields = TagFields()
        guard let type = try cursor.bytes(4), type == Array("INFO".utf8) else { return fields.result }
        for _ in 0..<mostTexts {
            guard let head = try cursor.bytes(8) else { break }
            var reader = ByteReader(head)
            guard let name = reader.code(), let declared = reader.littleEndian(UInt32.self) else { break }
            let size = Int64(declared)
            guard size <= cursor.remaining else { break }
            let end = cursor.offset + size + size & 1
            if let field = field(named: name) {
                // Some writers leave bytes after the terminator.
                let bytes = try cursor.bytes(Int(min(size, Int64(TagFields.longestText)))) ?? []
                let known = bytes.prefix { $0 != 0 }
                let isCut = Int64(known.count) < size && known.count == TagFields.longestText
                if let text = TagText.guessed(known, isCut: isCut) { fields.add(.field(field), text, isCut: isCut) }
            }
            cursor.skip(end - cursor.offset)
        }
        return fields.result
    }

    private static func field(named name: FourCharacterCode) -> TagField? {
        switch name {
        case "INAM": .title
        case "IART": .artist
        case "IPRD": .album
        case "ITRK", "IPRT": .trackNumber
        case "ICRD": .date
        case "IGNR": .genre
        case "IMUS": .composer
        default: nil
        }
    }
}
