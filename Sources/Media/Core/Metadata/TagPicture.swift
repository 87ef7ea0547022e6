import Platform

/// A picture in a tag: where its bytes are. They are never loaded here (docs/decisions/tags-and-pictures.md).
public struct TagPicture: Equatable, Sendable {
    /// The offset in the file.
    public var offset: Int64
    /// The bytes from `offset` on that have the picture, without headers of Ogg pages between them.
    public var length: Int64
    /// "image/jpeg", from the tag or the first bytes; nil when neither contains it.
    public var mediaType: String?
    public var kind: Kind
    public var encoding: Encoding
    /// The offset of the Ogg page that has the byte at `offset`, if the picture continues in other pages of that
    /// stream.
    public var page: Int64?

    /// How the bytes of the file represent those of the picture.
    public enum Encoding: Equatable, Sendable {
        /// The bytes in the file are the picture.
        case plain
        /// ID3v2, 6.1 (2.4) or 5 (2.3): a zero after 0xFF does not belong to the picture.
        case unsynchronised
        /// RFC 4648, 4. The picture begins after `dropped` decoded bytes.
        case base64(dropped: Int)
    }

    /// The kinds of ID3v2 (4.14) and FLAC (RFC 9639, 8.8), in the order of their numbers.
    public enum Kind: String, CaseIterable, Sendable {
        case other, icon, otherIcon, frontCover, backCover, leaflet, medium, leadArtist, artist, conductor, band
        case composer, lyricist, location, recording, performance, video, fish, illustration, bandLogo, publisherLogo

        init(number: UInt32) {
            self = number < UInt32(Self.allCases.count) ? Self.allCases[Int(number)] : .other
        }
    }

    /// Pictures of one tag; more are left out.
    static let most = 32

    public init(
        offset: Int64, length: Int64, mediaType: String?, kind: Kind, encoding: Encoding = .plain, page: Int64? = nil
    ) {
        self.offset = offset
        self.length = length
        self.mediaType = mediaType
        self.kind = kind
        self.encoding = encoding
        self.page = page
    }

    public var isFront: Bool { kind == .frontCover }

    mutating func move(by distance: Int64) {
        offset += distance
        if let page { self.page = page + distance }
    }
}

// MARK: Media types

extension TagPicture {
    /// The media type that a tag names: `image/png`, `PNG`, `image/jpg`. nil for none.
    static func mediaType(named name: some BidirectionalCollection<UInt8>) -> String? {
        guard let text = TagText.latin1(name).map { $0.lowercasedASCII }, text.utf8.count <= 64 else { return nil }
        if text.utf8.elementsEqual("image/".utf8) { return nil }
        let isWhole = text.utf8.contains(0x2F)
        if text.utf8.elementsEqual("jpg".utf8) || text.utf8.elementsEqual("image/jpg".utf8) { return "image/jpeg" }
        return isWhole ? text : "image/" + text
    }

    /// Whether a tag has the address of a picture instead of the picture.
    static func isLink(_ mediaType: some Collection<UInt8>) -> Bool { mediaType.elementsEqual("-->".utf8) }

    /// The media type of the picture at `offset`, by its first bytes.
    static func mediaType(of source: any ByteSource, at offset: Int64) throws(Interruption) -> String? {
        mediaType(ofHead: try SourceReader(source).bytes(4, at: offset))
    }

    private static func mediaType(ofHead head: some Collection<UInt8>) -> String? {
        if head.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if head.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "image/png" }
        return head.starts(with: [0x47, 0x49, 0x46, 0x38]) ? "image/gif" : nil
    }
}

// MARK: FLAC

extension TagPicture {
    /// Bytes of a block that are read to find the picture in it.
    static let blockHead = 2048

    /// The picture in a PICTURE block of FLAC (RFC 9639, 8.8).
    /// - Parameters:
    ///   - head: the first bytes of the block's content. With a description longer than that the picture is left out.
    ///   - size: of the content.
    /// - Returns: the picture, with an offset in the content; nil for none.
    init?(blockHead head: [UInt8], size: Int64) {
        var reader = ByteReader(head)
        guard let kind = reader.bigEndian(UInt32.self), let mediaType = reader.sized(),
            !TagPicture.isLink(mediaType), reader.sized() != nil, reader.bytes(16) != nil,
            let length = reader.bigEndian(UInt32.self)
        else { return nil }
        let start = Int64(reader.position)
        guard length > 0, start < size else { return nil }
        self.init(
            offset: start, length: min(Int64(length), size - start), mediaType: Self.mediaType(named: mediaType),
            kind: Kind(number: kind))
    }

    /// The picture of a block in base64, of which `text` is a part.
    /// - Parameters:
    ///   - text: the first characters.
    ///   - range: of all characters.
    init?(base64 text: ArraySlice<UInt8>, in range: Range<Int64>) {
        let count = range.upperBound - range.lowerBound
        let text = text.prefix(text.count / 4 * 4)
        // Line breaks would make the positions of its characters unknown.
        guard !text.contains(where: { $0 <= 0x20 }), let head = Base64.bytes(text),
            var picture = TagPicture(blockHead: head, size: count / 4 * 3)
        else { return nil }
        let dropped = picture.offset % 3
        picture.encoding = .base64(dropped: Int(dropped))
        picture.offset = range.lowerBound + picture.offset / 3 * 4
        picture.length = min((picture.length + dropped + 2) / 3 * 4, range.upperBound - picture.offset)
        self = picture
    }

    /// A picture in base64, without a block around it.
    /// - Parameters:
    ///   - text: the first characters.
    ///   - range: of all characters.
    init?(plainBase64 text: ArraySlice<UInt8>, in range: Range<Int64>) {
        guard let head = Base64.bytes(text.prefix(8)), let mediaType = Self.mediaType(ofHead: head) else { return nil }
        self.init(
            offset: range.lowerBound, length: range.upperBound - range.lowerBound, mediaType: mediaType, kind: .other,
            encoding: .base64(dropped: 0))
    }
}

extension ByteReader {
    /// Takes bytes that follow their number.
    fileprivate mutating func sized() -> ArraySlice<UInt8>? {
        guard let count = bigEndian(UInt32.self), count <= TagPicture.blockHead else { return nil }
        return bytes(Int(count))
    }
}
