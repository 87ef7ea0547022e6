import Platform

/// The pictures among the files in a file (`Attachments`; RFC 9559, 5.1.6 and 21).
enum MatroskaAttachments {
    private static let mostFiles = 256

    static func pictures(_ element: EBMLElement, _ reader: EBMLReader) throws(Interruption) -> [TagPicture] {
        var pictures: [TagPicture] = []
        var files = reader.children(of: element)
        for _ in 0..<mostFiles where pictures.count < TagPicture.most {
            guard let file = try files.next() else { break }
            guard file.id == MatroskaID.attachedFile else { continue }
            var (name, type): ([UInt8], [UInt8]) = ([], [])
            var data: EBMLElement?
            var fields = reader.children(of: file)
            while let field = try fields.next() {
                switch field.id {
                case MatroskaID.fileName: name = try reader.bytes(field, limit: 64)
                case MatroskaID.fileMediaType: type = try reader.bytes(field, limit: 64)
                case MatroskaID.fileData: data = field
                default: break
                }
            }
            guard let data, let end = data.end, end > data.content, end <= reader.source.length ?? .max else {
                continue
            }
            // Some programs write `application/octet-stream` for every file.
            let seen = try TagPicture.mediaType(of: reader.source, at: data.content)
            let named = TagPicture.mediaType(named: TagText.trimmed(type)).flatMap {
                $0.utf8.starts(with: "image/".utf8) ? $0 : nil
            }
            guard let mediaType = seen ?? named else { continue }
            pictures.append(
                TagPicture(
                    offset: data.content, length: end - data.content, mediaType: mediaType, kind: kind(of: name)))
        }
        return pictures
    }

    /// `cover.jpg` and `cover_land.png` are covers, `small_cover.jpg` is an icon.
    private static func kind(of name: [UInt8]) -> TagPicture.Kind {
        let name = name.map { $0.uppercased }
        if name.starts(with: "COVER".utf8) { return .frontCover }
        return name.starts(with: "SMALL_COVER".utf8) ? .icon : .other
    }
}
