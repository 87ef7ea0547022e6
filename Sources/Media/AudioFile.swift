/// The way in: bytes that may be audio.
public enum AudioFile {
    /// Finds out by the content, never by a name, what `source` holds, reads the headers and tags, and gives the
    /// decoder for it, which stands at the first frame.
    ///
    /// FLAC, WAV (RIFF and RF64) and AIFF (also AIFF-C) are recognised, each also behind ID3v2 tags.
    /// - Throws: `.empty`; `.notAudio` for everything that is none of these; `.unsupported` or `.damaged` when the
    ///   headers tell that it cannot be decoded; `.source` when the bytes cannot be had.
    ///
    /// Thread: the decoder thread. It blocks in `source`.
    public static func open(_ source: any ByteSource) throws(MediaError) -> any AudioDecoder {
        let start = try ID3v2.end(of: source, at: 0)
        let head = try SourceReader(source).bytes(Signature.byteCount, at: start)
        if start == 0, head.isEmpty { throw .empty }
        let tags = start > 0 ? try ID3v2.read(from: source, at: 0) : TrackMetadata()
        let audio: any ByteSource = start > 0 ? SourceSlice(source, from: start) : source
        switch Signature.container(of: head) {
        case .flac: return try FLACDecoder(audio, tags: tags)
        case .wav: return try WAVDecoder(audio, tags: tags)
        case .aiff: return try AIFFDecoder(audio, tags: tags)
        case nil: throw .notAudio(looksLike: Signature.name(of: head) ?? (start > 0 ? "MP3" : nil))
        }
    }
}
