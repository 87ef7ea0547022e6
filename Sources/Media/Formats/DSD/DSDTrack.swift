import PCM

extension TrackDecoder {
    /// A track of DSD, which is decoded to PCM or read as words.
    /// - Parameters:
    ///   - words: the same track as words of DSD.
    ///   - packets: of DSD, one byte of each channel in turn.
    convenience init(
        _ track: TrackDescription, words: TrackDescription, _ packets: any TimedPacketSource, _ steps: StepSource
    ) {
        let channelCount = track.properties.format.channelCount
        let words = TrackDecoder(words, packets, DSDWordCodec(packets, channelCount: channelCount), steps)
        self.init(track, packets, DSDCodec(packets, channelCount: channelCount, words: words), steps)
    }
}
