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
        let (container, start) = try recognise(source)
        let tags = start > 0 ? try ID3v2.read(from: source, at: 0) : TrackMetadata()
        let audio: any ByteSource = start > 0 ? SourceSlice(source, from: start) : source
        switch container {
        case .flac: return try FLACDecoder(audio, tags: tags)
        case .wav: return try WAVDecoder(audio, tags: tags)
        case .aiff: return try AIFFDecoder(audio, tags: tags)
        }
    }

    /// What `source` holds, by its first bytes alone: the quick question before `open`, which may still find that it
    /// cannot be decoded.
    /// - Throws: `.empty`, `.notAudio`, or `.source`.
    ///
    /// Thread: any. It blocks in `source`.
    public static func container(of source: any ByteSource) throws(MediaError) -> AudioProperties.Container {
        try recognise(source).container
    }

    /// - Returns: also where it begins, behind the tags.
    private static func recognise(
        _ source: any ByteSource
    ) throws(MediaError) -> (container: AudioProperties.Container, start: Int64) {
        let start = try ID3v2.end(of: source, at: 0)
        let head = try SourceReader(source).bytes(Signature.byteCount, at: start)
        if start == 0, head.isEmpty { throw .empty }
        guard let container = Signature.container(of: head) else {
            throw .notAudio(looksLike: Signature.name(of: head) ?? (start > 0 ? "MP3" : nil))
        }
        return (container, start)
    }
}
