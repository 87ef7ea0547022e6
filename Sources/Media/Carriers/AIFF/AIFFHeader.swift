/// The chunks of an AIFF file, in any order.
struct AIFFHeader {
    private(set) var common: AIFFCommon?
    /// The position of the samples. Without a count they reach to the end of the file.
    private(set) var data: (offset: Int64, byteCount: Int64?)?
    private(set) var tags = TrackMetadata()

    private static let mostChunks = 4096
    private static let largestCommon: Int64 = 1024

    /// The end of the source, as far as it is known.
    private let end: Int64
    private let isAIFC: Bool
    private var texts = TagFields()
    private var id3Tags = TrackMetadata()

    init(_ source: any ByteSource) throws(Interruption) {
        var head = ByteReader(try SourceReader(source).bytes(12, at: 0))
        end = source.length ?? .max
        head.skip(8)
        isAIFC = head.code() == "AIFC"

        var offset: Int64? = 12
        for _ in 0..<Self.mostChunks {
            guard let start = offset, start <= end - 8 else { break }
            do throws(Interruption) { offset = try readChunk(of: source, at: start) } catch {
                // Tags are no reason to wait for the end of a download.
                guard error == .notYet, common != nil, data != nil else { throw error }
                offset = nil
            }
        }
        tags = texts.result.overridden(by: id3Tags)
    }

    /// - Returns: the offset of the next chunk; nil at the end.
    private mutating func readChunk(of source: any ByteSource, at offset: Int64) throws(Interruption) -> Int64? {
        let reader = SourceReader(source)
        var chunk = ByteReader(try reader.bytes(8, at: offset))
        guard let name = chunk.code(), let declared = chunk.bigEndian(UInt32.self) else { return nil }
        let content = offset + 8
        let size = Int64(declared)
        switch name {
        case "COMM" where common == nil:
            let bytes = try reader.bytes(Int(min(size, Self.largestCommon)), at: content)
            common = try AIFFCommon(bytes, isAIFC: isAIFC)
        case "SSND" where data == nil:
            var sound = ByteReader(try reader.bytes(4, at: content))
            let gap = Int64(sound.bigEndian(UInt32.self) ?? 0)
            let isOpen = declared == 0 || declared == .max
            data = (content + 8 + gap, isOpen ? nil : size - 8 - gap)
            if isOpen { return nil }
        case "NAME", "AUTH":
            let bytes = try reader.bytes(Int(min(size, Int64(TagFields.longestText))), at: content)
            let isCut = Int64(bytes.count) < size
            if let text = TagText.guessed(bytes, isCut: isCut) {
                texts.add(.field(name == "NAME" ? .title : .artist), text, isCut: isCut)
            }
        case "ID3 ", "id3 ":
            id3Tags = try ID3v2.read(from: source, at: content).overridden(by: id3Tags)
        default:
            break
        }
        guard size < end - content else { return nil }
        return try ChunkPadding.next(after: content + size, size: size, of: source)
    }
}
