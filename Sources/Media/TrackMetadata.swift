import PCM

/// What a container's tags tell about a track. Text is UTF-8 as found, trimmed of trailing NULs and blanks.
public struct TrackMetadata: Equatable, Sendable {
    public var title: String?
    public var artist: String?
    public var album: String?
    /// From 1.
    public var trackNumber: Int?
    /// From 1.
    public var discNumber: Int?
    public var replayGain = ReplayGain()

    public init() {}
}
