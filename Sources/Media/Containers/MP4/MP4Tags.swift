/// The tags that iTunes defined (`meta` with `ilst`), which everybody writes.
struct MP4Tags: Equatable {
    private(set) var metadata = TrackMetadata()
    /// Frames that the encoder added (`iTunSMPB`).
    private(set) var gapless: GaplessTag?

    private static let longestText = 4096
    private static let mostItems = 4096

    init() {}

    /// - Parameter box: `meta`. In files of QuickTime it has no version and flags.
    init(_ box: MP4Box, of source: any ByteSource) throws(Interruption) {
        let head = try box.bytes(of: source, limit: 8)
        let hasFields = head.count == 8 && !head[4...].elementsEqual("hdlr".utf8)
        guard let list = try box.child("ilst", of: source, behind: hasFields ? MP4Fields.headerSize : 0) else { return }
        var fields = TagFields()
        var items = list.children(of: source)
        for _ in 0..<Self.mostItems {
            guard let item = try items.next() else { break }
            if item.type == "----" {
                try addFreeform(item, of: source, to: &fields)
            } else if let field = Self.field(item.type), let data = try Self.value(of: item, source) {
                if field == .trackNumber || field == .discNumber {
                    // 16 unused bits, the number, how many there are.
                    guard data.bytes.count >= 4 else { continue }
                    fields.add(field, "\(Int(data.bytes[2]) << 8 | Int(data.bytes[3]))")
                } else if field == .artist {
                    for value in try Self.values(of: item, source) {
                        if let text = value.text { fields.add(field, text) }
                    }
                } else if let text = data.text {
                    fields.add(field, text)
                }
            }
        }
        metadata = fields.result
    }

    /// A value with a name: what other formats call REPLAYGAIN_TRACK_GAIN, too.
    private mutating func addFreeform(
        _ item: MP4Box, of source: any ByteSource, to fields: inout TagFields
    ) throws(Interruption) {
        guard let box = try item.child("name", of: source) else { return }
        let name = try box.bytes(of: source, limit: 64).dropFirst(Int(MP4Fields.headerSize))
        if name.elementsEqual("iTunSMPB".utf8) {
            if let text = try Self.value(of: item, source)?.text { gapless = GaplessTag(text) }
        } else if let field = TagFields.field(named: name), let text = try Self.value(of: item, source)?.text {
            fields.add(field, text)
        }
    }

    private struct Value {
        var bytes: [UInt8]
        /// nil when it is not text.
        var text: String?
    }

    /// The first value.
    private static func value(of item: MP4Box, _ source: any ByteSource) throws(Interruption) -> Value? {
        guard let box = try item.child("data", of: source) else { return nil }
        return try value(box, source)
    }

    /// All values, of an item that several people share.
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
        guard box.end - box.content.lowerBound <= Int64(longestText) else { return nil }
        let content = try box.bytes(of: source, limit: longestText)
        guard content.count >= 8 else { return nil }
        let bytes = Array(content[8...])
        switch content[3] {
        case 0, 1: return Value(bytes: bytes, text: TagText.utf8(bytes))
        case 2:
            let units = stride(from: 0, to: bytes.count - 1, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
            return Value(bytes: bytes, text: TagText.utf8(Array(String(decoding: units, as: UTF16.self).utf8)))
        default: return Value(bytes: bytes, text: nil)
        }
    }

    private static func field(_ type: FourCharacterCode) -> TagFields.Field? {
        switch type {
        // The first byte is the copyright sign of Mac OS Roman.
        case FourCharacterCode(rawValue: 0xA96E_616D): .title
        case FourCharacterCode(rawValue: 0xA941_5254): .artist
        case FourCharacterCode(rawValue: 0xA961_6C62): .album
        case "aART": .albumArtist
        case "trkn": .trackNumber
        case "disk": .discNumber
        default: nil
        }
    }
}
