import PCM

/// The properties of the actual playback (docs/playback.md, 1.1). The product may be a replacement of the requested
/// one.
public struct PlaybackContext: Equatable, Sendable {
    public var productId: String
    public var streamType: StreamType
    public var assetPresentation: AssetPresentation
    public var audioMode: AudioMode?
    public var audioQuality: AudioQuality?
    /// Bits per second.
    public var audioBitRate: Int?
    /// Bits per sample.
    public var audioBitDepth: Int?
    /// The codec's name in lower case: "flac", "pcm".
    public var audioCodec: String?
    /// The sample rate in Hz.
    public var audioSampleRate: Int?
    /// The rate to which the audio is converted for the device, in Hz; nil when it is played at its own rate
    /// (docs/playback.md, 8).
    public var convertedSampleRate: Int?
    /// Whether the device gets DSD over PCM (docs/playback.md, 8). `audioSampleRate` and `audioBitDepth` are then those
    /// of the DSD.
    public var isDSDOverPCM = false
    public var videoQuality: VideoQuality?
    /// How the device's channels differ from those of the audio; nil when they are the same, and while no device is
    /// open (docs/playback.md, 8).
    public var adaptation: ChannelAdaptation?
    /// The length in seconds; nil when the source does not provide it.
    public var duration: Double?
    /// Where playback starts, in seconds.
    public var startAssetPosition: Double
    /// Identifies this playback in events and at the service.
    public var playbackSessionId: String
    /// The requested product's `referenceId`.
    public var referenceId: String
    /// Title, artist and album, if the source has them.
    public var title: String?
    public var artist: String?
    public var album: String?

    public init(
        productId: String, streamType: StreamType = .onDemand, assetPresentation: AssetPresentation = .full,
        playbackSessionId: String, referenceId: String, startAssetPosition: Double = 0
    ) {
        self.productId = productId
        self.streamType = streamType
        self.assetPresentation = assetPresentation
        self.playbackSessionId = playbackSessionId
        self.referenceId = referenceId
        self.startAssetPosition = startAssetPosition
    }
}

/// Live or on demand.
public enum StreamType: Equatable, Sendable { case onDemand, live }

/// The whole product or a preview of it.
public enum AssetPresentation: Equatable, Sendable { case full, preview }

/// The mode of an audio stream.
public enum AudioMode: Equatable, Sendable { case stereo, sony360RA, dolbyAtmos }

/// A conceptual quality without a strict technical definition.
public enum AudioQuality: Equatable, Sendable, CaseIterable {
    /// For example 96 kbit/s HE-AAC.
    case low
    /// For example 320 kbit/s AAC-LC.
    case high
    /// For example FLAC, 44.1 kHz and 16 bit.
    case lossless
    /// Deprecated by the service in favour of `hiResLossless`.
    case hiRes
    /// More than CD quality.
    case hiResLossless
}

/// A conceptual quality of a video stream.
public enum VideoQuality: Equatable, Sendable, CaseIterable { case low, medium, high }
