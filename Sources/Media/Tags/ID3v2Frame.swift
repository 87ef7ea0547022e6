/// The header of one frame of a tag (ID3v2.2, 3.2; ID3v2.3, 3.3; ID3v2.4, 4).
struct ID3v2Frame {
    /// Bytes after the header.
    let size: Int64
    let kind: Kind

    /// The use of a frame.
    enum Kind {
        case text(TagFields.Name)
        /// The text begins with the name of the field.
        case userText
        /// A language, then the fields of a user text.
        case comment
        /// The address of a database, and an identifier there.
        case identifier
        case picture, other

        var hasTexts: Bool {
            switch self {
            case .text, .userText, .comment, .identifier: true
            case .picture, .other: false
            }
        }
    }

    /// Names are three letters long, and pictures have a format instead of a media type.
    let isVersion2: Bool
    let isUnsynchronised: Bool
    let isPacked: Bool
    /// Fields between the header and the content.
    let prefixSize: Int64

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
        kind = Self.kind(named: Self.isShort(name) ? name.dropLast() : name)
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

    /// The content after the fields of the frame's header; nil when it is compressed or encrypted.
    private func content(_ bytes: [UInt8]) -> [UInt8]? {
        guard !isPacked, Int64(bytes.count) > prefixSize else { return nil }
        let content = Array(bytes[Int(prefixSize)...])
        return isUnsynchronised ? Self.resynchronised(content) : content
    }

    /// Adds the texts in the frame's first `bytes`. Compressed and encrypted frames are ignored.
    func addTexts(of bytes: [UInt8], to fields: inout TagFields) {
        guard let content = content(bytes) else { return }
        let isCut = Int64(bytes.count) < size
        switch kind {
        case .text(let name): add(Self.texts(content)[...], name, isCut, to: &fields)
        case .userText:
            let texts = Self.texts(content)
            guard let name = texts.first, let meaning = TagFields.meaning(of: name.utf8) else { return }
            add(texts.dropFirst(), meaning, isCut, to: &fields)
        case .identifier:
            let parts = content.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].elementsEqual("http://musicbrainz.org".utf8) else { return }
            fields.add(.recordingID, String(decoding: parts[1], as: UTF8.self))
        case .comment, .picture, .other: break
        }
    }

    /// The frames that iTunes added, from a comment or a text of that name.
    func gapless(of bytes: [UInt8]) -> GaplessTag? {
        guard var content = content(bytes), content.count > 4 else { return nil }
        switch kind {
        case .comment: content.removeSubrange(1..<4)
        case .userText: break
        case .text, .identifier, .picture, .other: return nil
        }
        let texts = Self.texts(content)
        guard texts.count >= 2, texts[0].utf8.elementsEqual("iTunSMPB".utf8) else { return nil }
        return GaplessTag(texts[1])
    }

    private func add(
        _ texts: ArraySlice<String>, _ name: TagFields.Name, _ isCut: Bool, to fields: inout TagFields
    ) {
        for index in texts.indices {
            guard let trimmed = TagText.utf8(Array(texts[index].utf8)) else { continue }
            fields.add(name, trimmed, isCut: isCut && index == texts.indices.last)
        }
    }

    private static let names: [(StaticString, Kind)] = [
        ("TIT2", .text(.field(.title))), ("TT2", .text(.field(.title))),
        ("TPE1", .text(.field(.artist))), ("TP1", .text(.field(.artist))),
        ("TALB", .text(.field(.album))), ("TAL", .text(.field(.album))),
        ("TPE2", .text(.field(.albumArtist))), ("TP2", .text(.field(.albumArtist))),
        ("TRCK", .text(.field(.trackNumber))), ("TRK", .text(.field(.trackNumber))),
        ("TPOS", .text(.field(.discNumber))), ("TPA", .text(.field(.discNumber))),
        ("TCON", .text(.field(.genre))), ("TCO", .text(.field(.genre))),
        ("TCOM", .text(.field(.composer))), ("TCM", .text(.field(.composer))),
        ("TSOP", .text(.field(.artistSort))), ("TSP", .text(.field(.artistSort))),
        ("TSOA", .text(.field(.albumSort))), ("TSA", .text(.field(.albumSort))),
        ("TSO2", .text(.field(.albumArtistSort))), ("TS2", .text(.field(.albumArtistSort))),
        ("TSOC", .text(.field(.composerSort))), ("TSC", .text(.field(.composerSort))),
        ("TPE3", .text(.field(.conductor))), ("TP3", .text(.field(.conductor))),
        ("TIT1", .text(.field(.grouping))), ("TT1", .text(.field(.grouping))),
        ("TCMP", .text(.field(.compilation))), ("TCP", .text(.field(.compilation))),
        ("TPUB", .text(.field(.label))), ("TPB", .text(.field(.label))),
        ("TDOR", .text(.field(.originalDate))), ("TORY", .text(.field(.originalDate))),
        ("TOR", .text(.field(.originalDate))),
        ("TDRC", .text(.field(.date))), ("TYER", .text(.field(.date))), ("TYE", .text(.field(.date))),
        ("TDAT", .text(.dayAndMonth)), ("TDA", .text(.dayAndMonth)),
        ("TXXX", .userText), ("TXX", .userText), ("COMM", .comment), ("COM", .comment),
        ("UFID", .identifier), ("UFI", .identifier), ("APIC", .picture), ("PIC", .picture),
    ]

    /// Whether a name has three letters and a NUL or a blank, as iTunes 12.1 wrote those of 2.2 into 2.3.
    static func isShort(_ name: ArraySlice<UInt8>) -> Bool { name.count == 4 && (name.last == 0 || name.last == 0x20) }

    private static func kind(named name: ArraySlice<UInt8>) -> Kind {
        names.first { name.elementsEqual(bytes($0.0)) }?.1 ?? .other
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
