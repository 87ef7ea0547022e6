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
                    guard let (name, text) = try simpleTag(field, reader) else { continue }
                    // Many programs write the tags of a song without a level.
                    if level == album {
                        add(name, text, to: &ofAlbum)
                    } else if level ?? trackLevel == trackLevel {
                        add(name, text, to: &ofTrack)
                    }
                default: break
                }
            }
        }
        return merged(ofTrack.result, ofAlbum.result)
    }

    private static func simpleTag(
        _ element: EBMLElement, _ reader: EBMLReader
    ) throws(Interruption) -> (name: [UInt8], text: String)? {
        var name: [UInt8] = []
        var text: String?
        var fields = reader.children(of: element)
        while let field = try fields.next() {
            if field.id == MatroskaID.tagName { name = try reader.bytes(field, limit: 64) }
            if field.id == MatroskaID.tagString { text = try reader.text(field) }
        }
        return text.map { (name, $0) }
    }

    /// Names of Matroska; the others are those of Vorbis comments.
    private static let names: [(name: StaticString, field: TagField)] = [
        ("PARTNUMBER", .trackNumber), ("TOTALPARTS", .trackTotal), ("DATERELEASED", .date),
    ]

    private static func add(_ name: [UInt8], _ text: String, to fields: inout TagFields) {
        if let known = names.first(where: { TagFields.isName(name, $0.name) }) {
            fields.add(known.field, text)
        } else if let meaning = TagFields.meaning(of: name) {
            fields.add(meaning, text)
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
