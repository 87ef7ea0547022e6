/// The tags of a file (`Tags`; RFC 9559, 5.1.8; "Matroska Tags").
enum MatroskaTags {
    private static let mostTags = 256
    private static let album: UInt64 = 50
    private static let trackLevel: UInt64 = 30

    /// - Parameter track: tags of other tracks are left out.
    static func read(
        _ element: EBMLElement, _ reader: EBMLReader, _ track: MatroskaTrack
    ) throws(Interruption) -> TrackMetadata {
        let prefersR128 = if case .ogg(.opus) = track.codec { true } else { false }
        var ofTrack = TagFields(prefersR128: prefersR128)
        var ofAlbum = TagFields(prefersR128: prefersR128)
        var tags = reader.children(of: element)
        for _ in 0..<mostTags {
            guard let tag = try tags.next() else { break }
            guard tag.id == MatroskaID.tag else { continue }
            var level: UInt64?
            var isOurs = true
            var fields = reader.children(of: tag)
            while let field = try fields.next() {
                switch field.id {
                case MatroskaID.targets:
                    var targets = reader.children(of: field)
                    while let target = try targets.next() {
                        let value = try reader.unsigned(target)
                        if target.id == MatroskaID.targetLevel { level = value }
                        if target.id == MatroskaID.targetTrack { isOurs = value == 0 || value == track.uid }
                    }
                case MatroskaID.simpleTag where isOurs:
                    guard let tag = try simpleTag(field, reader) else { continue }
                    // Many programs write the tags of a song without a level.
                    if level == album {
                        add(tag, to: &ofAlbum)
                    } else if level ?? trackLevel == trackLevel {
                        add(tag, to: &ofTrack)
                    }
                default: break
                }
            }
        }
        return merged(ofTrack.result, ofAlbum.result)
    }

    private typealias SimpleTag = (name: [UInt8], text: String, isCut: Bool)

    private static func simpleTag(
        _ element: EBMLElement, _ reader: EBMLReader
    ) throws(Interruption) -> SimpleTag? {
        var name: [UInt8] = []
        var text: String?
        var isCut = false
        var fields = reader.children(of: element)
        while let field = try fields.next() {
            if field.id == MatroskaID.tagName { name = try reader.bytes(field, limit: 64) }
            if field.id == MatroskaID.tagString {
                text = TagText.utf8(try reader.bytes(field, limit: TagFields.longestText))
                isCut = field.size ?? 0 > Int64(TagFields.longestText)
            }
        }
        return text.map { (name, $0, isCut) }
    }

    /// Names of Matroska; the others are those of Vorbis comments.
    private static let names: [(name: StaticString, field: TagField)] = [
        ("PARTNUMBER", .trackNumber), ("TOTALPARTS", .trackTotal), ("DATERELEASED", .date),
    ]

    private static func add(_ tag: SimpleTag, to fields: inout TagFields) {
        if let known = names.first(where: { TagFields.isName(tag.name, $0.name) }) {
            fields.add(.field(known.field), tag.text, isCut: tag.isCut)
        } else if let meaning = TagFields.meaning(of: tag.name) {
            fields.add(meaning, tag.text, isCut: tag.isCut)
        }
    }

    /// The title, the artist and the numbers of an album are fields of their own.
    private static func merged(_ track: TrackMetadata, _ album: TrackMetadata) -> TrackMetadata {
        var base = album
        base.title = nil
        base.artist = nil
        base.album = album.album ?? album.title
        base.albumArtist = album.albumArtist ?? album.artist
        base.discNumber = album.discNumber ?? album.trackNumber
        if base[.discTotal].isEmpty { base[.discTotal] = album[.trackTotal] }
        for field in [TagField.trackNumber, .trackTotal] { base[field] = [] }
        var result = base.overridden(by: track)
        result.artist = result.artist ?? album.artist
        return result
    }
}
