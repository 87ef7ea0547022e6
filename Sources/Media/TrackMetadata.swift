import PCM

/// The values of a container's tags for a track. UTF-8, without trailing NULs and blanks.
public struct TrackMetadata: Equatable, Sendable {
    public var title: String?
    public var artist: String?
    public var album: String?
    /// Whom the album is by, where tracks have artists of their own.
    public var albumArtist: String?
    /// From 1.
    public var trackNumber: Int?
    /// From 1.
    public var discNumber: Int?
    public var replayGain = ReplayGain()
    /// The front cover, or the first picture of another kind. Only tags of ID3v2 and APE are searched.
    public var picture: TagPicture?
    /// The frames that an encoder added, if a tag says it.
    var gapless: GaplessTag?

    public init() {}
}
