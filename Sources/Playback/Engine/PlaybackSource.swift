import Media
import PCM
import Platform

/// The source of products: local files, offline storage, the content service.
///
/// Thread: `open` is called on a product's decoder thread and may block there; several may be open at once.
public protocol PlaybackSource: AnyObject, Sendable {
    /// Finds and opens a product.
    /// - Parameters:
    ///   - session: identifies this playback; a source that starts over renews it.
    ///   - cancellation: cancelled when the product is not needed any more; a blocking call then ends at once.
    ///   - medium: records when the medium is opened and read, here and later by the decoder: the bytes that are
    ///     decoded go through a `MediumByteSource`.
    /// - Throws: the error that the player sends. The player adds the product to it.
    func open(
        _ product: MediaProduct, session: PlaybackSession, cancellation: Cancellation, medium: MediumAccess
    ) throws(PlayerError) -> OpenedProduct

    /// Whether the product comes over a network: the next product waits until all of it has arrived. Any thread.
    func streams(_ product: MediaProduct) -> Bool
}

extension PlaybackSource {
    /// For local files.
    public func streams(_ product: MediaProduct) -> Bool { false }
}

/// A product, ready to be decoded.
///
/// Thread: the decoder thread.
public struct OpenedProduct {
    public var decoder: any AudioDecoder
    /// The actual product; it may differ from the requested one.
    public var productId: String
    public var streamType: StreamType
    public var assetPresentation: AssetPresentation
    public var audioMode: AudioMode?
    /// The quality of the audio that is read now: a source that starts over may get another one.
    public var audioQuality: () -> AudioQuality?
    public var videoQuality: VideoQuality?
    public var replayGain: ReplayGain
    /// Whether the product is a local file: `PlaybackEngineConfig.untaggedGain` is for these alone.
    public var isLocal: Bool
    /// The source's own reason for the last error of `decoder`; nil when the error is complete without it.
    public var reason: () -> PlayerError?
    /// Whether all of it has arrived, so that the next product may be fetched.
    public var isFetched: () -> Bool
    /// Begins the transfers that there is room for. Reading does so too.
    public var fetchAhead: () -> Void
    /// Whether enough has arrived to begin at this position, in seconds, or to continue there after a stall.
    public var hasEnough: (Double) -> Bool

    public init(
        decoder: any AudioDecoder, productId: String, streamType: StreamType = .onDemand,
        assetPresentation: AssetPresentation = .full, audioMode: AudioMode? = .stereo,
        audioQuality: @autoclosure @escaping () -> AudioQuality? = nil,
        videoQuality: VideoQuality? = nil, replayGain: ReplayGain, isLocal: Bool = false,
        reason: @escaping () -> PlayerError? = { nil },
        isFetched: @escaping () -> Bool = { true }, fetchAhead: @escaping () -> Void = {},
        hasEnough: @escaping (Double) -> Bool = { _ in true }
    ) {
        self.decoder = decoder
        self.productId = productId
        self.streamType = streamType
        self.assetPresentation = assetPresentation
        self.audioMode = audioMode
        self.audioQuality = audioQuality
        self.videoQuality = videoQuality
        self.replayGain = replayGain
        self.isLocal = isLocal
        self.reason = reason
        self.isFetched = isFetched
        self.fetchAhead = fetchAhead
        self.hasEnough = hasEnough
    }
}

/// The loudness of a product, as far as it is known.
struct ProductLoudness: Equatable, Sendable {
    var replayGain = ReplayGain()
    /// See `OpenedProduct.isLocal`.
    var isLocal = false
}

extension OpenedProduct {
    var loudness: ProductLoudness { ProductLoudness(replayGain: replayGain, isLocal: isLocal) }
}
