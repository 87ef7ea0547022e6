import Media
import Network
import Platform

/// Products of a content service: an id becomes a playbackinfo, a manifest, and content (docs/playback.md, 15).
///
/// Thread: any.
public final class ContentService: PlaybackSource {
    private let network: any ServiceNetwork
    private let settings: ServiceSettings
    private let credentials: any CredentialsProvider
    private let quality = StreamingQuality()
    private let throughput: Throughput

    init(
        _ settings: ServiceSettings, over network: any ServiceNetwork, credentials: any CredentialsProvider,
        throughput: Throughput = Throughput()
    ) {
        self.throughput = throughput
        self.network = network
        self.settings = settings
        self.credentials = credentials
    }

    /// Asks for the qualities of `configuration` from now on, which is the player's.
    /// - Parameter isMetered: whether the present link is cellular. Called on decoder threads.
    public func follow(_ configuration: PlaybackEngineConfig, isMetered: @escaping @Sendable () -> Bool) {
        quality.follow(configuration, isMetered: isMetered)
    }

    public func open(
        _ product: MediaProduct, session: PlaybackSession, cancellation: Cancellation, medium: MediumAccess
    ) throws(PlayerError) -> OpenedProduct {
        guard let address = ServiceAddress(product.productId) else {
            throw PlayerError(
                .notAllowed, code: "a2",
                message: "\(product.productId): not the address of a product. It is tonearm:track/ID or "
                    + "tonearm:video/ID.",
                mediaProduct: product)
        }
        let requests = ServiceRequests(
            network: network, purpose: .playback, cancellation: cancellation, medium: medium)
        let (info, decoder) = try openSession(session, product, address, requests)
        let restarting = RestartingDecoder(decoder) { [self] () throws(PlayerError) in
            session.renew()
            return try openSession(session, product, address, requests, asksForNew: true).decoder
        }
        return OpenedProduct(
            decoder: restarting, productId: ServiceAddress(address.productType, info.productId).text,
            streamType: info.streamType,
            assetPresentation: info.assetPresentation, audioMode: info.audioMode, audioQuality: info.audioQuality,
            videoQuality: info.videoQuality, replayGain: info.replayGain, reason: { restarting.failure })
    }

    /// A session, from the playbackinfo on. When the content's first bytes are refused, a second one.
    private func openSession(
        _ session: PlaybackSession, _ product: MediaProduct, _ address: ServiceAddress, _ requests: ServiceRequests,
        asksForNew: Bool = false
    ) throws(PlayerError) -> (info: PlaybackInfo, decoder: any AudioDecoder) {
        var isSecond = false
        while true {
            let info = try requests.playbackInfo(
                for: PlaybackInfoRequest(
                    productType: address.productType, productId: address.id, audioQuality: quality.now, mode: .stream,
                    streamingSessionId: session.id, asksForNew: asksForNew || isSecond),
                of: product, settings, credentials)
            let content = StreamedContent(
                requests, settings, asksForNew: asksForNew || isSecond, throughput: throughput)
            do throws(MediaError) { return (info, try content.open(info)) } catch {
                guard !isSecond, error.isWorthRestarting else { throw PlayerError(error, product) }
                isSecond = true
                session.renew()
            }
        }
    }
}

/// The quality to ask for: that of the player's configuration for the present link.
/// `@unchecked Sendable` is safe because `lock` guards what changes.
private final class StreamingQuality: @unchecked Sendable {
    private let lock = Lock()
    private var current: @Sendable () -> AudioQuality = { .lossless }

    var now: AudioQuality { lock.withLock { current }() }

    func follow(_ configuration: PlaybackEngineConfig, isMetered: @escaping @Sendable () -> Bool) {
        lock.withLock {
            current = {
                isMetered() ? configuration.streamingCellularAudioQuality : configuration.streamingWifiAudioQuality
            }
        }
    }
}
