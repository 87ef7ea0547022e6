/// The four fields that loudness normalization needs (docs/playback.md, 9.1). Any of them may be missing.
public struct ReplayGain: Equatable, Sendable {
    /// The gain of the track, in dB.
    public var trackGain: Double?
    /// Linear, 1 is full scale; may exceed 1.
    public var trackPeak: Double?
    /// The gain of the album, in dB.
    public var albumGain: Double?
    /// Linear, 1 is full scale; may exceed 1.
    public var albumPeak: Double?

    public init(trackGain: Double? = nil, trackPeak: Double? = nil, albumGain: Double? = nil, albumPeak: Double? = nil)
    {
        self.trackGain = trackGain
        self.trackPeak = trackPeak
        self.albumGain = albumGain
        self.albumPeak = albumPeak
    }
}
