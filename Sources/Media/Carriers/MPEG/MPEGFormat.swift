extension AudioProperties.Container {
    public static var mp3: Self { Self(5, "mp3", mediaType: "audio/mpeg") }
}

extension AudioFormat {
    /// Frames of MPEG audio, one after the other.
    static let mp3 = AudioFormat(.mp3, suffixes: ["mp3", "mp2", "mpga"], mediaTypes: ["audio/mpeg"]) {
        input throws(Interruption) in
        try MP3Container(input.source, tags: input.tags, base: input.start).decoder(input.steps)
    } encodedBytes: { input throws(Interruption) in
        let head = try SourceReader(input.file).bytes(AudioFormat.headSize, at: input.start)
        let first = try WAVHeader.startOfMPEG(in: input.file, at: input.start, head) ?? input.start
        return try input.bytesUntilTags(from: first + MPEGInfo.size(in: input.file, at: first))
    }
}

extension MP3Container {
    /// The decoder of its frames, at the first one.
    func decoder(_ steps: StepSource) throws(Interruption) -> TrackDecoder {
        TrackDecoder(track, self, try MP3Codec(self, track.properties.format), steps)
    }
}

extension MPEGInfo {
    /// Returns the size of a first frame of MPEG audio that only describes the file; 0 for one with sound.
    fileprivate static func size(in source: any ByteSource, at offset: Int64) throws(Interruption) -> Int64 {
        guard let header = try MPEGSync(source).header(at: offset), let size = header.byteCount(freeSize: nil),
            MPEGInfo(try SourceReader(source).bytes(size, at: offset), header) != nil
        else { return 0 }
        return Int64(size)
    }
}
