extension AudioProperties.Container {
    public static var wavpack: Self { Self(7, "wavpack", mediaType: "audio/x-wavpack") }
}

extension AudioProperties.Codec {
    public static var wavpack: Self { Self(10, "wavpack", .lossless) }
    /// WavPack without its correction file.
    public static var wavpackLossy: Self { Self(12, "wavpack-lossy", .lossy) }
}

extension AudioFormat {
    static let wavpack = AudioFormat(
        .wavpack, suffixes: ["wv"], mediaTypes: ["audio/x-wavpack", "audio/wavpack"], begins: { $0.has("wvpk") }
    ) { input throws(Interruption) in
        let container = try WavPackContainer(input.source, tags: input.tags, base: input.start)
        if let words = container.words {
            let packets = WavPackDSDPackets(container, container.setup)
            return TrackDecoder(container.track, words: words, packets, input.steps)
        }
        let codec = WavPackCodec(container, container.setup, container.track.properties.format)
        return TrackDecoder(container.track, container, codec, input.steps)
    } encodedBytes: { input throws(Interruption) in
        try input.bytesUntilTags(from: input.start)
    }
}
