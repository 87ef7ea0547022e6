/// The chunks of a WAV file, in any order: RIFF, and with sizes of 64 bits RF64 (EBU Tech 3306) and BW64 (ITU-R
/// BS.2088).
struct WAVHeader {
    private(set) var format: WAVFormat?
    /// The position of the samples. Without a count they reach to the end of the file.
    private(set) var data: (offset: Int64, byteCount: Int64?)?
    private(set) var tags = TrackMetadata()

    /// A 32-bit size from here on may mean "unknown" when the file is shorter.
    private static let unknownSizes: Int64 = 0x7FFF_F000
    /// These sizes mean "unknown" for a file of any length: 2^32 - 1 from most programs, and the size that SoX writes
    /// to a pipe.
    private static let openSizes: [Int64] = [0xFFFF_FFFF, 0x7FFF_F000]
    private static let mostChunks = 4096
    private static let largestFormat: Int64 = 1024

    /// The end of the source, as far as it is known.
    private let end: Int64
    private let hasSizes64: Bool
    private let riffSize: Int64
    private var dataSize64: Int64?
    // The first one of several chunks with a field counts.
    private var infoTags = TrackMetadata()
    private var id3Tags = TrackMetadata()

    init(_ source: any ByteSource) throws(Interruption) {
        var head = ByteReader(try SourceReader(source).bytes(12, at: 0))
        end = source.length ?? .max
        let name = head.code()
        hasSizes64 = name == "RF64" || name == "BW64"
        riffSize = Int64(head.littleEndian(UInt32.self) ?? 0)

        var offset: Int64? = 12
        for _ in 0..<Self.mostChunks {
            guard let start = offset, start <= end - 8 else { break }
            do throws(Interruption) { offset = try readChunk(of: source, at: start) } catch {
                // Tags are no reason to wait for the end of a download.
                guard error == .notYet, format != nil, data != nil else { throw error }
                offset = nil
            }
        }
        tags = infoTags.overridden(by: id3Tags)
    }

    /// Where the sound data of a WAV file is that has MPEG audio in it, as old encoders wrote it.
    /// - Parameters:
    ///   - start: of the file.
    ///   - head: its first bytes.
    /// - Returns: nil for any other file.
    static func startOfMPEG(in source: any ByteSource, at start: Int64, _ head: [UInt8]) throws(Interruption) -> Int64?
    {
        guard head.count >= 22, head[12..<16].elementsEqual("fmt ".utf8), head[20] == 0x50 || head[20] == 0x55,
            head[21] == 0
        else { return nil }
        var offset = start + 12
        for _ in 0..<mostChunks {
            var chunk = ByteReader(try SourceReader(source).bytes(8, at: offset))
            guard let name = chunk.code(), let size = chunk.littleEndian(UInt32.self) else { return nil }
            if name == "data" { return offset + 8 }
            offset += 8 + Int64(size) + Int64(size & 1)
        }
        return nil
    }

    /// - Returns: the offset of the next chunk; nil at the end.
    private mutating func readChunk(of source: any ByteSource, at offset: Int64) throws(Interruption) -> Int64? {
        let reader = SourceReader(source)
        var chunk = ByteReader(try reader.bytes(8, at: offset))
        guard let name = chunk.code(), let declared = chunk.littleEndian(UInt32.self) else { return nil }
        let content = offset + 8
        var size = Int64(declared)
        switch name {
        case "ds64" where hasSizes64:
            var sizes = ByteReader(try reader.bytes(16, at: content))
            sizes.skip(8)
            dataSize64 = sizes.littleEndian(UInt64.self).flatMap {
                $0 <= UInt64(AudioLimits.largestData) ? Int64($0) : nil
            }
        case "fmt " where format == nil:
            format = try WAVFormat(try reader.bytes(Int(min(size, Self.largestFormat)), at: content))
        case "data" where data == nil:
            let isFromSizes64 = hasSizes64 && declared == .max && dataSize64 != nil
            if isFromSizes64, let dataSize64 { size = dataSize64 }
            let isOpen =
                size == 0
                ? riffSize + 8 != end
                : !isFromSizes64
                    && (Self.openSizes.contains(size) || size >= Self.unknownSizes && size > end - content)
            if !isOpen, !hasSizes64 { size += try wrapped(size, at: content, of: source) }
            data = (content, isOpen ? nil : size)
            if isOpen { return nil }
        case "LIST":
            infoTags = try RIFFInfo.read(from: source, in: content..<(content + size)).overridden(by: infoTags)
        case "id3 ", "ID3 ":
            id3Tags = try ID3v2.read(from: source, at: content).overridden(by: id3Tags)
        default:
            break
        }
        guard size < end - content else { return nil }
        return try ChunkPadding.next(after: content + size, size: size, of: source)
    }

    /// The bytes to add to a size in a file with more than 4 GiB, whose sizes have only 32 bits.
    private func wrapped(_ size: Int64, at content: Int64, of source: any ByteSource) throws(Interruption) -> Int64 {
        guard end < .max, end - content - size >= Self.sizeLimit else { return 0 }
        let next = content + size + size & 1
        if try ChunkPadding.isChunk(at: next, of: source) { return 0 }
        return (end - content - size) / Self.sizeLimit * Self.sizeLimit
    }

    private static let sizeLimit: Int64 = 1 << 32
}
