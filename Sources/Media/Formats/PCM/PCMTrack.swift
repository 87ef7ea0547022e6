import PCM

extension AudioProperties.Codec {
    public static var pcm: Self { Self(2, "pcm", .lossless) }
    public static var alaw: Self { Self(3, "alaw", .lossy) }
    public static var ulaw: Self { Self(4, "ulaw", .lossy) }
}

extension PCMPackets {
    /// The decoder of these packets.
    func decoder(_ track: TrackDescription, _ steps: StepSource) -> TrackDecoder {
        TrackDecoder(track, self, PCMCodec(self, layout, channelCount: format.channelCount), steps)
    }
}
