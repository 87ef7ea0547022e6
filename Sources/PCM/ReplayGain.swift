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

    /// Whether all four fields are known.
    public var isComplete: Bool { hasTrack && hasAlbum }

    private var hasTrack: Bool { trackGain != nil && trackPeak != nil }
    private var hasAlbum: Bool { albumGain != nil && albumPeak != nil }

    /// Returns these values; a track or an album without both of its fields has those of `other`, if that has both.
    public func completed(by other: ReplayGain) -> ReplayGain {
        var result = self
        if !hasTrack, other.hasTrack { (result.trackGain, result.trackPeak) = (other.trackGain, other.trackPeak) }
        if !hasAlbum, other.hasAlbum { (result.albumGain, result.albumPeak) = (other.albumGain, other.albumPeak) }
        return result
    }

    /// Returns these values as the tags of a file count: a missing gain is the other one with its peak, and a peak that
    /// is missing or not possible is full scale. Without any gain nothing changes.
    public var filled: ReplayGain {
        guard trackGain != nil || albumGain != nil else { return self }
        var result = self
        if trackGain == nil { (result.trackGain, result.trackPeak) = (albumGain, albumPeak) }
        if albumGain == nil { (result.albumGain, result.albumPeak) = (trackGain, trackPeak) }
        result.trackPeak = Self.possible(result.trackPeak)
        result.albumPeak = Self.possible(result.albumPeak)
        return result
    }

    private static func possible(_ peak: Double?) -> Double {
        if let peak, peak.isFinite, peak > 0 { peak } else { 1 }
    }
}
