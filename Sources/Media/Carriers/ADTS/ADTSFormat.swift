extension AudioProperties.Container {
    public static var adts: Self { Self(4, "adts", mediaType: "audio/aac") }
}

extension AudioFormat {
    /// Packets of AAC, each with a header.
    static let adts = AudioFormat(.adts, suffixes: ["aac"], mediaTypes: ["audio/aac", "audio/aacp"]) {
        input throws(Interruption) in
        try ADTSContainer(input.source, tags: input.tags, base: input.start).decoder(input.steps)
    } encodedBytes: { input throws(Interruption) in
        try input.bytesUntilTags(from: input.start)
    }
}

extension ADTSContainer {
    /// The decoder of its packets, at the first frame.
    func decoder(_ steps: StepSource) throws(Interruption) -> TrackDecoder {
        #if AAC
            let stream = try AACStream(config, self)
            decode(to: stream.format, packetFrameCount: stream.packetFrameCount, preroll: stream.preroll)
            let codec = try AACCodec(self, stream)
            _ = try seek(toFrame: 0)
            return TrackDecoder(track.with(stream), self, codec, steps)
        #else
            throw .unsupported(what: AACSupport.missing)
        #endif
    }
}
