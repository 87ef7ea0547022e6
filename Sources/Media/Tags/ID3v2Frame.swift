/// The header of one frame of a tag (ID3v2.2, 3.2; ID3v2.3, 3.3; ID3v2.4, 4).
struct ID3v2Frame {
    /// Bytes behind the header.
    let size: Int64
    /// The field of the frame, if it is one that is shown.
    let field: TagFields.Field?
    /// Whether it has texts that are read.
    var hasTexts: Bool { field != nil || isUserText || isComment }
    let isPicture: Bool

    /// TXXX: the text begins with the name of the field.
    private let isUserText: Bool
    /// COMM: a language, then as TXXX.
    private let isComment: Bool
    /// Names are three letters long, and pictures have a format in place of a media type.
    private let isVersion2: Bool
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
        isComment = name.elementsEqual(Self.bytes("COM")) || name.elementsEqual(Self.bytes("COMM"))
        isPicture = name.elementsEqual(Self.bytes("PIC")) || name.elementsEqual(Self.bytes("APIC"))
        isVersion2 = version == 2

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

    /// What follows the fields of the frame's header; nil when it is compressed or encrypted.
    private func content(_ bytes: [UInt8]) -> [UInt8]? {
        guard !isPacked, bytes.count > prefixSize else { return nil }
        let content = Array(bytes[prefixSize...])
        return isUnsynchronised ? Self.resynchronised(content) : content
    }

    /// Adds the texts in the frame's `bytes`. Compressed and encrypted frames are ignored.
    func addTexts(of bytes: [UInt8], to fields: inout TagFields) {
        guard !isComment, let content = content(bytes) else { return }
        let texts = Self.texts(content)
        if isUserText {
            guard texts.count >= 2, let field = TagFields.field(named: Array(texts[0].utf8)) else { return }
            addTrimmed(texts[1], field, to: &fields)
        } else if let field {
            // Only artists are a list.
            for text in field == .artist ? texts[...] : texts.prefix(1) { addTrimmed(text, field, to: &fields) }
        }
    }

    /// What iTunes says of the frames that it added, in a comment or a text of that name.
    func gapless(of bytes: [UInt8]) -> GaplessTag? {
        guard isComment || isUserText, var content = content(bytes), content.count > 4 else { return nil }
        if isComment { content.removeSubrange(1..<4) }
        let texts = Self.texts(content)
        guard texts.count >= 2, texts[0].utf8.elementsEqual("iTunSMPB".utf8) else { return nil }
        return GaplessTag(texts[1])
    }

    /// Where the picture of the frame is.
    /// - Parameter content: at the first byte behind the frame's header.
    /// - Returns: nil when it does not lie in the file as it is.
    func picture(_ content: ID3v2Content) throws(Interruption) -> TagPicture? {
        guard !isPacked, !isUnsynchronised, !content.isUnsynchronised, size > Int64(prefixSize) else { return nil }
        var content = content
        guard try content.skip(Int64(prefixSize)) else { return nil }
        let start = content.offset
        let head = try content.bytes(Int(min(size - Int64(prefixSize), Self.longestPictureHead))) ?? []
        guard let encoding = head.first else { return nil }
        var place = 1
        var mediaType: [UInt8]
        if isVersion2 {
            guard head.count > 4 else { return nil }
            mediaType = Array("image/".utf8) + head[1..<4].map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
            if mediaType.suffix(3).elementsEqual("jpg".utf8) { mediaType = Array("image/jpeg".utf8) }
            place = 4
        } else {
            guard let end = head[1...].firstIndex(of: 0) else { return nil }
            mediaType = Array(head[1..<end])
            place = end + 1
        }
        guard place < head.count else { return nil }
        let kind = head[place]
        guard let end = Self.terminator(in: head, from: place + 1, isWide: 1...2 ~= encoding),
            Int64(end) < size - Int64(prefixSize)
        else { return nil }
        return TagPicture(
            offset: start + Int64(end), length: size - Int64(prefixSize) - Int64(end),
            mediaType: TagText.latin1(mediaType), isFront: kind == 3)
    }

    /// Media type, kind and description of a picture. Longer ones are not read.
    private static let longestPictureHead: Int64 = 1024

    /// Behind the NUL of a text.
    private static func terminator(in bytes: [UInt8], from start: Int, isWide: Bool) -> Int? {
        var place = start
        let step = isWide ? 2 : 1
        while place + step <= bytes.count {
            if bytes[place] == 0, !isWide || bytes[place + 1] == 0 { return place + step }
            place += step
        }
        return nil
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
