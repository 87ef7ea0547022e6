/// The byte that fills a chunk of RIFF or AIFF up to an even size. Some programs leave it out.
enum ChunkPadding {
    private static let names: [StaticString] = [
        "fmt ", "data", "LIST", "fact", "id3 ", "ID3 ", "bext", "cue ", "smpl", "inst", "PEAK", "junk", "JUNK", "PAD ",
        "COMM", "SSND", "NAME", "AUTH", "ANNO", "(c) ", "COMT", "MARK", "INST", "FVER",
    ]

    /// Where the next chunk begins.
    /// - Parameter end: of the chunk, without the byte.
    static func next(after end: Int64, size: Int64, of source: any ByteSource) throws(Interruption) -> Int64 {
        guard size & 1 == 1 else { return end }
        return try isChunk(at: end, of: source) ? end : end + 1
    }

    /// Whether a chunk of a known name begins there.
    static func isChunk(at offset: Int64, of source: any ByteSource) throws(Interruption) -> Bool {
        let bytes = try SourceReader(source).bytes(4, at: offset)
        return names.contains { name in name.withUTF8Buffer { $0.elementsEqual(bytes) } }
    }
}
