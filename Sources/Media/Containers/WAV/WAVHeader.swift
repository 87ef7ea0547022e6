/// The chunks of a WAV file, in whatever order they come.
struct WAVHeader {
    private(set) var format: WAVFormat?
    /// Where the samples lie. No count means: as far as the file goes.
    private(set) var data: (offset: Int64, byteCount: Int64?)?
    private(set) var tags = TrackMetadata()

    /// From here on a 32-bit size may be what a program writes that cannot know it, if the file is shorter.
    private static let unknownSizes: Int64 = 0x7FFF_F000
    /// What means "unknown" however long the file is: 2^32 - 1 of most programs, and what SoX writes to a pipe.
    private static let openSizes: [Int64] = [0xFFFF_FFFF, 0x7FFF_F000]
    private static let mostChunks = 4096
    private static let largestFormat: Int64 = 1024

    init(_ source: any ByteSource) throws(Interruption) {
        let reader = SourceReader(source)
        let end = source.length ?? .max
        var head = ByteReader(try reader.bytes(12, at: 0))
        let isRF64 = head.code() == "RF64"
        let riffSize = Int64(head.littleEndian(UInt32.self) ?? 0)
        var dataSize64: Int64?
        var id3Tags = TrackMetadata()

        var offset: Int64 = 12
        for _ in 0..<Self.mostChunks where offset <= end - 8 {
            var chunk = ByteReader(try reader.bytes(8, at: offset))
            guard let name = chunk.code(), let declared = chunk.littleEndian(UInt32.self) else { break }
            let content = offset + 8
            var size = Int64(declared)
            switch name {
            case "ds64" where isRF64:
                var sizes = ByteReader(try reader.bytes(16, at: content))
                sizes.skip(8)
                dataSize64 = sizes.littleEndian(UInt64.self).flatMap {
                    $0 <= UInt64(AudioLimits.largestData) ? Int64($0) : nil
                }
            case "fmt " where format == nil:
                format = try WAVFormat(try reader.bytes(Int(min(size, Self.largestFormat)), at: content))
            case "data" where data == nil:
                let isFromSizes64 = isRF64 && declared == .max && dataSize64 != nil
                if isFromSizes64, let dataSize64 { size = dataSize64 }
                let isOpen =
                    size == 0
                    ? riffSize + 8 != end
                    : !isFromSizes64
                        && (Self.openSizes.contains(size) || size >= Self.unknownSizes && size > end - content)
                data = (content, isOpen ? nil : size)
                if isOpen { size = end - content }
            case "LIST":
                tags = tags.overridden(by: try RIFFInfo.read(from: source, in: content..<(content + size)))
            case "id3 ", "ID3 ":
                id3Tags = id3Tags.overridden(by: try ID3v2.read(from: source, at: content))
            default:
                break
            }
            guard size < end - content else { break }
            offset = content + size + size & 1
        }
        tags = tags.overridden(by: id3Tags)
    }
}
