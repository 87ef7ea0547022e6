/// The tags that iTunes defined (`meta` with `ilst`). All programs write them.
struct MP4Tags {
    private(set) var metadata = TrackMetadata()
    /// Frames that the encoder added (`iTunSMPB`).
    private(set) var gapless: GaplessTag?

    private static let mostItems = 4096

    /// - Parameter box: `meta`. In files of QuickTime it has no version and flags.
    /// - Returns: nil without tags.
    init?(_ box: MP4Box, of source: any ByteSource) throws(Interruption) {
        let head = try box.bytes(of: source, limit: 8)
        let hasFields = head.count == 8 && !head[4...].elementsEqual("hdlr".utf8)
        guard let list = try box.child("ilst", of: source, after: hasFields ? MP4Fields.headerSize : 0) else {
            return nil
        }
        var fields = TagFields()
        var pictures: [TagPicture] = []
        var items = list.children(of: source)
        for _ in 0..<Self.mostItems {
            guard let item = try items.next() else { break }
            switch item.type {
            case "----": try addFreeform(item, of: source, to: &fields)
            case "covr": try Self.addPictures(item, of: source, to: &pictures)
            case "gnre":
                // The number counts from 1; that of ID3v1 counts from 0.
                if let number = try Self.values(of: item, source).first?.number(at: 0), number > 0 {
                    fields.add(.genre, "\(number - 1)")
                }
            default:
                guard let field = Self.field(item.type) else { continue }
                for value in try Self.values(of: item, source) {
                    if field == .trackNumber || field == .discNumber {
                        // 16 unused bits, the number, how many there are.
                        guard let number = value.number(at: 2) else { continue }
                        fields.add(field, "\(number)/\(value.number(at: 4) ?? 0)")
                    } else if field == .compilation {
                        fields.add(field, "\(value.bytes.last ?? 0)")
                    } else if let text = value.text {
                        fields.add(.field(field), text, isCut: value.isCut)
                    }
                }
            }
        }
        metadata = fields.result
        metadata.pictures = pictures
    }

    /// A value with a free name, as in other formats: REPLAYGAIN_TRACK_GAIN.
    private mutating func addFreeform(
        _ item: MP4Box, of source: any ByteSource, to fields: inout TagFields
    ) throws(Interruption) {
        guard let box = try item.child("name", of: source) else { return }
        let name = try box.bytes(of: source, limit: 64).dropFirst(Int(MP4Fields.headerSize))
        let isGapless = name.elementsEqual("iTunSMPB".utf8)
        guard let meaning = TagFields.meaning(of: name) else {
            if isGapless, let text = try Self.values(of: item, source).first?.text { gapless = GaplessTag(text) }
            return
        }
        for value in try Self.values(of: item, source) {
            if let text = value.text { fields.add(meaning, text, isCut: value.isCut) }
        }
    }

    /// Each value is a picture. The tag has no kinds; the first one is the cover.
    private static func addPictures(
        _ item: MP4Box, of source: any ByteSource, to pictures: inout [TagPicture]
    ) throws(Interruption) {
        var boxes = item.children(of: source)
        while pictures.count < TagPicture.most, let box = try boxes.next() {
            let (start, length) = (box.content.lowerBound + 8, box.end - box.content.lowerBound - 8)
            guard box.type == "data", length > 0, !box.isCutShort else { continue }
            pictures.append(
                TagPicture(
                    offset: start, length: length, mediaType: try TagPicture.mediaType(of: source, at: start),
                    kind: pictures.isEmpty ? .frontCover : .other))
        }
    }

    private struct Value {
        var bytes: [UInt8]
        /// The value as text; nil when it is not text.
        var text: String?
        /// Whether they are the beginning of a longer value.
        var isCut = false

        /// 16 bits.
        func number(at place: Int) -> Int? {
            bytes.count >= place + 2 ? Int(bytes[place]) << 8 | Int(bytes[place + 1]) : nil
        }
    }

    /// All values of an item.
    private static func values(of item: MP4Box, _ source: any ByteSource) throws(Interruption) -> [Value] {
        var values: [Value] = []
        var boxes = item.children(of: source)
        while values.count < mostValues, let box = try boxes.next() {
            if box.type == "data", let value = try value(box, source) { values.append(value) }
        }
        return values
    }

    private static let mostValues = 64

    /// The type of the bytes, a locale, and the bytes.
    private static func value(_ box: MP4Box, _ source: any ByteSource) throws(Interruption) -> Value? {
        let content = try box.bytes(of: source, limit: TagFields.longestText)
        guard content.count >= 8 else { return nil }
        let bytes = Array(content[8...])
        let isCut = Int64(content.count) < box.end - box.content.lowerBound
        switch content[3] {
        case 0, 1: return Value(bytes: bytes, text: TagText.utf8(bytes), isCut: isCut)
        case 2:
            let units = stride(from: 0, to: bytes.count - 1, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
            let text = TagText.utf8(Array(String(decoding: units, as: UTF16.self).utf8))
            return Value(bytes: bytes, text: text, isCut: isCut)
        default: return Value(bytes: bytes, text: nil)
        }
    }

    private static func field(_ type: FourCharacterCode) -> TagField? {
        switch type {
        // The first byte of these is the copyright sign of Mac OS Roman.
        case FourCharacterCode(rawValue: 0xA96E_616D): .title
        case FourCharacterCode(rawValue: 0xA941_5254): .artist
        case FourCharacterCode(rawValue: 0xA961_6C62): .album
        case FourCharacterCode(rawValue: 0xA967_656E): .genre
        case FourCharacterCode(rawValue: 0xA964_6179): .date
        case FourCharacterCode(rawValue: 0xA977_7274): .composer
        case FourCharacterCode(rawValue: 0xA967_7270): .grouping
        case FourCharacterCode(rawValue: 0xA977_726B): .work
        case "aART": .albumArtist
        case "soar": .artistSort
        case "soal": .albumSort
        case "soaa": .albumArtistSort
        case "soco": .composerSort
        case "trkn": .trackNumber
        case "disk": .discNumber
        case "cpil": .compilation
        default: nil
        }
    }
}
