/// The tags before, between and after frames of MPEG audio.
enum MPEGTags {
    /// How many bytes show a tag.
    static let markerSize = 11

    private static let markers: [StaticString] = ["TAG", "APETAGEX", "ID3", "LYRICSBEGIN", "3DI"]

    /// Whether these bytes begin a tag.
    static func isMarker(_ bytes: [UInt8]) -> Bool { markers.contains { begins(bytes, with: $0) } }

    static func begins(_ bytes: some Collection<UInt8>, with text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes.starts(with: $0) }
    }

    /// The offset after the tags that begin at `offset`; `offset` itself when there are none.
    static func end(of source: any ByteSource, at offset: Int64) throws(Interruption) -> Int64 {
        var offset = offset
        for _ in 0..<mostTags {
            let next = try endOfOne(source, at: offset)
            if next == offset { break }
            offset = next
        }
        return offset
    }

    private static let mostTags = 32

    private static func endOfOne(_ source: any ByteSource, at offset: Int64) throws(Interruption) -> Int64 {
        let head = try SourceReader(source).bytes(APETag.headerSize, at: offset)
        if begins(head, with: "ID3") { return try ID3v2.end(of: source, at: offset) }
        if begins(head, with: "TAG+") { return offset + ID3v1.extensionSize }
        if begins(head, with: "TAG") { return offset + ID3v1.size }
        if begins(head, with: "LYRICSBEGIN") { return try Lyrics3.end(of: source, at: offset) }
        if let tag = APETag(head) { return offset + (tag.isHeader ? tag.size + Int64(APETag.headerSize) : tag.size) }
        return offset
    }
}

/// The tags at the end of a file: ID3v1, APE, Lyrics3 and ID3v2 with a footer, in any order.
struct TrailingTags {
    /// The offset of the first of them.
    private(set) var start: Int64
    /// The fields of the APE tag; nil without such a tag.
    private(set) var ape: TrackMetadata?
    private(set) var id3v2: TrackMetadata?
    private(set) var id3v1: TrackMetadata?

    private static let mostTags = 16
    /// The most bytes of a text of Lyrics3, version 1.
    private static let longestLyrics: Int64 = 5120

    /// - Parameters:
    ///   - length: of the source.
    ///   - base: where the source begins in the file.
    init(of source: any ByteSource, length: Int64, base: Int64) throws(Interruption) {
        start = length
        for _ in 0..<Self.mostTags {
            let end = start
            try takeID3v1(source)
            try takeAPE(source)
            try takeLyrics(source)
            try takeID3v2(source)
            if start == end { break }
        }
        ape = ape.map { TrackMetadata().overridden(by: $0, at: base) }
        id3v2 = id3v2.map { TrackMetadata().overridden(by: $0, at: base) }
    }

    /// Returns the fields of all tags: APE counts before ID3v2, in front of the audio before at its end, before ID3v1,
    /// and all before `base`.
    /// - Parameter front: the tags in front of the audio.
    static func merged(_ front: TrackMetadata, _ trailing: TrailingTags?, base: TrackMetadata = TrackMetadata())
        -> TrackMetadata
    {
        base.overridden(by: trailing?.id3v1).overridden(by: trailing?.id3v2).overridden(by: front)
            .overridden(by: trailing?.ape)
    }

    /// The bytes before `start`, fewer at the front of the source.
    private func tail(_ count: Int, _ source: any ByteSource) throws(Interruption) -> [UInt8] {
        let count = min(Int64(count), start)
        return try SourceReader(source).bytes(Int(count), at: start - count)
    }

    private mutating func takeID3v1(_ source: any ByteSource) throws(Interruption) {
        let bytes = try tail(Int(ID3v1.size), source)
        guard bytes.count == Int(ID3v1.size), MPEGTags.begins(bytes, with: "TAG") else { return }
        start -= ID3v1.size
        if id3v1 == nil { id3v1 = ID3v1.read(bytes) }
        let extended = try tail(Int(ID3v1.extensionSize), source)
        if extended.count == Int(ID3v1.extensionSize), MPEGTags.begins(extended, with: "TAG+") {
            start -= ID3v1.extensionSize
        }
    }

    private mutating func takeAPE(_ source: any ByteSource) throws(Interruption) {
        guard let tag = APETag(try tail(APETag.headerSize, source)), !tag.isHeader, tag.wholeSize <= start else {
            return
        }
        let items = (start - tag.size)..<(start - Int64(APETag.headerSize))
        start -= tag.wholeSize
        if ape == nil { ape = try tag.read(from: source, in: items) }
    }

    private mutating func takeLyrics(_ source: any ByteSource) throws(Interruption) {
        let bytes = try tail(15, source)
        guard bytes.count == 15 else { return }
        if MPEGTags.begins(bytes[6...], with: "LYRICS200"), bytes[..<6].allSatisfy({ (0x30...0x39).contains($0) }) {
            // Six digits: the bytes in front of them.
            let size = bytes[..<6].reduce(0 as Int64) { $0 * 10 + Int64($1 - 0x30) } + 15
            if size <= start { start -= size }
        } else if MPEGTags.begins(bytes[6...], with: "LYRICSEND") {
            let text = try tail(Int(Self.longestLyrics), source)
            let places = stride(from: text.count - 11, through: 0, by: -1)
            if let place = places.first(where: { MPEGTags.begins(text[$0...], with: "LYRICSBEGIN") }) {
                start -= Int64(text.count - place)
            }
        }
    }

    private mutating func takeID3v2(_ source: any ByteSource) throws(Interruption) {
        let footer = try tail(10, source)
        guard footer.count == 10, MPEGTags.begins(footer, with: "3DI"), let size = ID3v2.synchsafe(footer[6...]),
            size + 20 <= start
        else { return }
        start -= size + 20
        if id3v2 == nil { id3v2 = try ID3v2.read(from: source, at: start) }
    }
}
