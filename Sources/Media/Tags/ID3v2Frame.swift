/// The header of one frame of a tag (ID3v2.2, 3.2; ID3v2.3, 3.3; ID3v2.4, 4).
struct ID3v2Frame {
    /// Bytes behind the header.
    let size: Int64
    /// The field of the frame, if it is one that is shown.
    let field: TagFields.Field?
    /// TXXX: the text begins with the name of the field.
    let isUserText: Bool

    private let isUnsynchronised: Bool
    private let isPacked: Bool
    private let prefixSize: Int

    /// Takes the header of the next frame; nil at the end of the frames.
    init?(_ content: inout ID3v2Content, version: UInt8) throws(Interruption) {
        let nameSize = version == 2 ? 3 : 4
        guard let header = try content.bytes(version == 2 ? 6 : 10), header[0] != 0 else { return nil }
        let name = header[..<nameSize]
        let sizeBytes = header[nameSize..<(2 * nameSize)]
        let plainSize = ID3v2.plain(Array(sizeBytes))
        if version == 4, let synchsafeSize = ID3v2.synchsafe(sizeBytes) {
            // Old iTunes wrote plain sizes into 2.4. The right size leads to another frame or to the end.
            var size = synchsafeSize
            if synchsafeSize != plainSize, try !content.isFrameBoundary(after: synchsafeSize),
                try content.isFrameBoundary(after: plainSize)
            {
                size = plainSize
            }
            self.size = size
        } else {
            size = plainSize
        }
        field = Self.field(named: name)
        isUserText = name.elementsEqual(Self.bytes("TXX")) || name.elementsEqual(Self.bytes("TXXX"))

        let flags = version == 2 ? 0 : header[9]
        switch version {
        case 3:
            isPacked = flags & 0xC0 != 0
            isUnsynchronised = false
            prefixSize = flags & 0x20 != 0 ? 1 : 0
        case 4:
            isPacked = flags & 0x0C != 0
            isUnsynchronised = flags & 0x02 != 0
            prefixSize = (flags & 0x40 != 0 ? 1 : 0) + (flags & 0x01 != 0 ? 4 : 0)
        default:
            isPacked = false
            isUnsynchronised = false
            prefixSize = 0
        }
    }

    /// Adds the texts in the frame's `bytes`. Compressed and encrypted frames are ignored.
    func addTexts(of bytes: [UInt8], to fields: inout TagFields) {
        guard !isPacked, bytes.count > prefixSize else { return }
        var content = Array(bytes[prefixSize...])
        if isUnsynchronised { content = Self.resynchronised(content) }
        let texts = Self.texts(content)
        if isUserText {
            guard texts.count >= 2, let field = TagFields.field(named: Array(texts[0].utf8)) else { return }
            addTrimmed(texts[1], field, to: &fields)
        } else if let field {
            // Only artists are a list.
            for text in field == .artist ? texts[...] : texts.prefix(1) { addTrimmed(text, field, to: &fields) }
        }
    }

    private func addTrimmed(_ text: String, _ field: TagFields.Field, to fields: inout TagFields) {
        if let trimmed = TagText.utf8(Array(text.utf8)) { fields.add(field, trimmed) }
    }

    private static let names: [(StaticString, TagFields.Field)] = [
        ("TIT2", .title), ("TPE1", .artist), ("TALB", .album), ("TPE2", .albumArtist), ("TRCK", .trackNumber),
        ("TPOS", .discNumber),
        ("TT2", .title), ("TP1", .artist), ("TAL", .album), ("TP2", .albumArtist), ("TRK", .trackNumber),
        ("TPA", .discNumber),
    ]

    private static func field(named name: ArraySlice<UInt8>) -> TagFields.Field? {
        names.first { name.elementsEqual(bytes($0.0)) }?.1
    }

    private static func bytes(_ text: StaticString) -> [UInt8] {
        text.withUTF8Buffer { Array($0) }
    }

    private static func resynchronised(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var lastWasFF = false
        for byte in bytes {
            if !(lastWasFF && byte == 0) { result.append(byte) }
            lastWasFF = byte == 0xFF
        }
        return result
    }

    /// The texts of a text frame: an encoding, then strings with a NUL between them.
    private static func texts(_ content: [UInt8]) -> [String] {
        guard let encoding = content.first else { return [] }
        let bytes = content[1...]
        let text: String
        switch encoding {
        case 0: text = String(decoding: bytes.map { UInt16($0) }, as: UTF16.self)
        case 1, 2: text = utf16(Array(bytes), isBigEndian: encoding == 2)
        default: text = String(decoding: bytes, as: UTF8.self)
        }
        return text.utf8.split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// A byte order mark overrides the frame's encoding; each string of a frame has its own mark.
    private static func utf16(_ bytes: [UInt8], isBigEndian: Bool) -> String {
        var isBigEndian = isBigEndian
        var units: [UInt16] = []
        var index = 0
        while index + 1 < bytes.count {
            let unit = UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
            index += 2
            switch unit {
            case 0xFEFF: isBigEndian = true
            case 0xFFFE: isBigEndian = false
            default: units.append(isBigEndian ? unit : unit.byteSwapped)
            }
        }
        return String(decoding: units, as: UTF16.self)
    }
}
