import Account
import Fetching
import Media
import Network
import Platform
import Playback

/// Products of a content service: an id becomes a playbackinfo, a manifest, and content (docs/playback.md, 15).
///
/// Thread: any.
public final class ContentService: PlaybackSource {
    private let network: any ServiceNetwork
    private let settings: ServiceSettings
    private let credentials: any CredentialsProvider
    private let quality = StreamingQuality()
    private let throughput: Throughput
    private let failed = FailedAddresses()

    package init(
        _ settings: ServiceSettings, over network: any ServiceNetwork, credentials: any CredentialsProvider,
        throughput: Throughput = Throughput()
    ) {
        self.throughput = throughput
        self.network = network
        self.settings = settings
        self.credentials = credentials
    }

    /// Requests the qualities of `configuration`, the player's, from now on.
    /// - Parameter isMetered: whether the current link is cellular. Called on decoder threads.
    public func follow(_ configuration: PlaybackEngineConfig, isMetered: @escaping @Sendable () -> Bool) {
        quality.follow(configuration, isMetered: isMetered)
    }

    /// Continues with the throughput that was measured before on a link of the new kind, and forgets failed addresses.
    package func linkChanged(to kind: Link.Kind) {
        throughput.linkChanged(to: kind)
        failed.forget()
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
        var requests = ServiceRequests(
            network: network, purpose: .playback, cancellation: cancellation, medium: medium)
        requests.failed = failed
        requests.session = session
        let (info, opened) = try openSession(session, product, address, requests)
        let restarting = RestartingDecoder(
            opened.content(info.audioQuality), isLive: opened.isLive,
            buffering: BufferCondition(medium.stream, throughput)
        ) { [self] (error) throws(PlayerError) in
            session.renew()
            let (renewed, content) = try openSession(session, product, address, requests, after: error)
            guard renewed.assetPresentation == info.assetPresentation else {
                throw PlayerError(
                    .notAllowed, code: "a7",
                    message: "\(product.productId): the content service sends only a preview now",
                    mediaProduct: product)
            }
            return content.content(renewed.audioQuality)
        }
        return OpenedProduct(
            decoder: restarting, fetching: restarting,
            productId: ServiceAddress(address.productType, info.productId).text,
            streamType: info.streamType, assetPresentation: info.assetPresentation, audioMode: info.audioMode,
            videoQuality: info.videoQuality, replayGain: info.replayGain)
    }

    public func streams(_ product: MediaProduct) -> Bool { true }

    /// Opens a session, beginning with the playbackinfo. When the content's first bytes are refused, opens a second
    /// one.
    /// - Parameter error: why the previous session has ended.
    private func openSession(
        _ session: PlaybackSession, _ product: MediaProduct, _ address: ServiceAddress, _ requests: ServiceRequests,
        after error: MediaError? = nil
    ) throws(PlayerError) -> (info: PlaybackInfo, content: StreamedContent.Opened) {
        var (reason, isSecond) = (error, false)
        while true {
            let request = PlaybackInfoRequest(
                productType: address.productType, productId: address.id, audioQuality: quality.now, mode: .stream,
                streamingSessionId: session.id, asksForNew: reason != nil)
            var info = try session.reporting(.playbackInfo) { () throws(PlayerError) in
                try requests.playbackInfo(for: request, of: product, settings, credentials)
            }
            info.streamingSessionId = info.streamingSessionId ?? session.id
            var requests = requests
            requests.space = ContentSpace(info, of: settings)
            let content = StreamedContent(
                requests, settings, asksForNew: reason != nil, asksForNewContent: reason?.isOfWrongContent ?? false,
                throughput: throughput)
            do throws(MediaError) { return (info, try content.open(info)) } catch {
                guard !isSecond, error.isWorthRestarting else { throw PlayerError(error, product) }
                (reason, isSecond) = (error, true)
                session.renew()
            }
        }
    }
}

extension StreamedContent.Opened {
    /// - Parameter quality: the quality of its audio, from the playbackinfo.
    fileprivate func content(_ quality: AudioQuality?) -> RestartingDecoder.Content {
        RestartingDecoder.Content(decoder, transfers: transfers, audioQuality: quality)
    }
}

/// The quality to request, by the player's configuration for the current link.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
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
