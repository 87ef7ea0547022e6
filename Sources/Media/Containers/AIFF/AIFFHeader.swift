/// The chunks of an AIFF file, in whatever order they come.
struct AIFFHeader {
    private(set) var common: AIFFCommon?
    /// Where the samples lie. No count means: as far as the file goes.
    private(set) var data: (offset: Int64, byteCount: Int64?)?
    private(set) var tags = TrackMetadata()

    private static let mostChunks = 4096
    private static let largestCommon: Int64 = 1024
    private static let longestText: Int64 = 4096

    init(_ source: any ByteSource) throws(Interruption) {
        let reader = SourceReader(source)
        let end = source.length ?? .max
        var head = ByteReader(try reader.bytes(12, at: 0))
        head.skip(8)
        let isAIFC = head.code() == "AIFC"
        var texts = TagFields()
        var id3Tags = TrackMetadata()

        var offset: Int64 = 12
        for _ in 0..<Self.mostChunks where offset <= end - 8 {
            var chunk = ByteReader(try reader.bytes(8, at: offset))
            guard let name = chunk.code(), let declared = chunk.bigEndian(UInt32.self) else { break }
            let content = offset + 8
            var size = Int64(declared)
            switch name {
            case "COMM" where common == nil:
                let bytes = try reader.bytes(Int(min(size, Self.largestCommon)), at: content)
                common = try AIFFCommon(bytes, isAIFC: isAIFC)
            case "SSND" where data == nil:
                var sound = ByteReader(try reader.bytes(4, at: content))
                let gap = Int64(sound.bigEndian(UInt32.self) ?? 0)
                let isOpen = declared == 0 || declared == .max
                data = (content + 8 + gap, isOpen ? nil : size - 8 - gap)
                if isOpen { size = end - content }
            case "NAME" where size <= Self.longestText:
                if let text = TagText.guessed(try reader.bytes(Int(size), at: content)) { texts.add(.title, text) }
            case "AUTH" where size <= Self.longestText:
                if let text = TagText.guessed(try reader.bytes(Int(size), at: content)) { texts.add(.artist, text) }
            case "ID3 ", "id3 ":
                id3Tags = id3Tags.overridden(by: try ID3v2.read(from: source, at: content))
            default:
                break
            }
            guard size < end - content else { break }
            offset = content + size + size & 1
        }
        tags = texts.result.overridden(by: id3Tags)
    }
}
