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
    ///   - medium: records when the medium is opened and read, by this function and later by the decoder. Wrap the
    ///     decoded bytes in a `MediumByteSource`.
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
    /// The same decoder if its content is fetched; nil if all of the content is on this device.
    public var fetching: (any FetchingDecoder)?
    /// The actual product; it may differ from the requested one.
    public var productId: String
    public var streamType: StreamType
    public var assetPresentation: AssetPresentation
    public var audioMode: AudioMode?
    /// The quality of audio that is not fetched. `FetchingDecoder.audioQuality` has the quality of fetched audio.
    public var audioQuality: AudioQuality?
    public var videoQuality: VideoQuality?
    public var replayGain: ReplayGain
    /// Whether the product is a local file: `PlaybackEngineConfig.untaggedGain` applies only to local files.
    public var isLocal: Bool

    public init(
        decoder: any AudioDecoder, fetching: (any FetchingDecoder)? = nil, productId: String,
        streamType: StreamType = .onDemand, assetPresentation: AssetPresentation = .full,
        audioMode: AudioMode? = .stereo, audioQuality: AudioQuality? = nil, videoQuality: VideoQuality? = nil,
        replayGain: ReplayGain, isLocal: Bool = false
    ) {
        self.decoder = decoder
        self.fetching = fetching
        self.productId = productId
        self.streamType = streamType
        self.assetPresentation = assetPresentation
        self.audioMode = audioMode
        self.audioQuality = audioQuality
        self.videoQuality = videoQuality
        self.replayGain = replayGain
        self.isLocal = isLocal
    }

    /// The quality of the audio that is read now; nil while unknown.
    var currentQuality: AudioQuality? { if let fetching { fetching.audioQuality } else { audioQuality } }
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
