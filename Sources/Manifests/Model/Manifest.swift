/// The playable content and the addresses of its bytes: the common result of all manifest
/// formats (docs/decisions/manifests.md).
public struct Manifest: Equatable, Sendable {
    /// The periods in the order of playback; at least one.
    public var periods: [Period]
    /// The parameters of a live presentation: set while the manifest may change, so that it has to be loaded again.
    public var live: LivePresentation?
    /// The duration in seconds, if the manifest contains it.
    public var duration: Double?

    public var isLive: Bool { live != nil }
}

/// The updates and the availability of a live presentation.
public struct LivePresentation: Equatable, Sendable {
    /// When the presentation began to be available, in seconds since 1970.
    public var availabilityStart: Double?
    /// How often the manifest is loaded again, in seconds; nil: it stays as it is.
    public var updatePeriod: Double?
    /// How long segments stay available, in seconds; nil: for ever.
    public var timeShift: Double?
    /// The distance to the newest segment at which to play, in seconds.
    public var suggestedDelay: Double?
    /// The address from which it is loaded again; nil: the same as before.
    public var location: String?
}

/// A stretch of time with its own media.
public struct Period: Equatable, Sendable {
    public var id: String?
    /// The start in seconds, from the beginning of the presentation.
    public var start: Double
    /// The duration in seconds; nil when it is not known.
    public var duration: Double?
    /// By how much its end may be rounded, in seconds; nil: the end does not limit its segments.
    public var endRounding: Double?
    /// The adaptation sets with sound.
    public var adaptationSets: [AdaptationSet]
}

/// Representations of the same sound, among which a player may switch.
public struct AdaptationSet: Equatable, Sendable {
    public var id: String?
    /// BCP 47, if the manifest contains it.
    public var language: String?
    /// Whether it is the main sound: not a commentary, a dubbed version or a description of the pictures.
    public var isMain = true
    /// The roles in DASH, sorted.
    public var roles: [String] = []
    /// The groups of HLS that contain it. Two sets in one group are two sounds.
    public var groups: [String] = []
    /// The representations in the order of the manifest; at least one.
    public var representations: [Representation]
}

/// One representation of the sound: its codec, quality and bit rate.
public struct Representation: Equatable, Sendable {
    public var id: String
    /// `audio/mp4`, in lower case.
    public var mimeType: String?
    /// The codecs as RFC 6381 names them: `mp4a.40.2`.
    public var codecs: [String]
    /// The peak, in bits per second.
    public var bandwidth: Int?
    public var sampleRate: Int?
    public var bitDepth: Int?
    public var channelCount: Int?
    /// Empty for content that is not encrypted.
    public var contentProtections: [ContentProtection]
    public var segments: SegmentAddressing
    /// Alternative addresses, if there are several. Each leads to the same file or playlist, or to the folder of the
    /// same resources.
    public var bases: [String] = []

    init(id: String, segments: SegmentAddressing) {
        self.id = id
        self.segments = segments
        codecs = []
        contentProtections = []
    }
}

/// One way to get the keys of encrypted content, or the properties that all ways share.
public struct ContentProtection: Equatable, Sendable {
    /// A URI, in lower case: `urn:uuid:…` of a key system, or `urn:mpeg:dash:mp4protection:2011`; of HLS the KEYFORMAT.
    public var scheme: String
    /// `cenc`, `cbcs`; of HLS the METHOD.
    public var value: String?
    /// The default ID of the key: 16 bytes.
    public var defaultKeyID: [UInt8]?
    /// The box `pssh`.
    public var initializationData: [UInt8]?
    /// The address of the key in HLS; that of its license for ClearKey in DASH.
    public var keyURI: String?
    /// The initialization vector of HLS, 16 bytes.
    public var initializationVector: [UInt8]?
}
