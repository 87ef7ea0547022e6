import Account
import Fetching
import Media
import Network
import Platform
import Playback
import Streaming

/// The content service as the offline engine uses it.
///
/// Thread: any; the requests block.
package struct OfflineService: Sendable {
    let network: any ServiceNetwork
    let settings: ServiceSettings
    let credentials: any CredentialsProvider
    /// The clock for the waits between retries.
    var clock: any MonotonicClock
    /// The permission of the engine; off until the engine gives it.
    package let permission = MeteredPermission()

    package init(
        network: any ServiceNetwork, settings: ServiceSettings, credentials: any CredentialsProvider,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        self.network = OfflineNetwork(network, permission)
        self.settings = settings
        self.credentials = credentials
        self.clock = clock
    }

    /// - Parameter medium: shows the retries.
    func requests(
        for purpose: RetrySchedule.Purpose, _ cancellation: Cancellation, _ medium: MediumAccess = MediumAccess()
    ) -> ServiceRequests {
        ServiceRequests(
            network: network, purpose: purpose, cancellation: cancellation, medium: medium, permission: permission)
    }

    /// Requests the playbackinfo of an offline copy or of a download.
    /// - Parameter session: the id of the session of a download; a new one without it.
    func playbackInfo(
        of product: ServiceAddress, _ request: OfflineRequest, for mediaProduct: MediaProduct,
        _ requests: ServiceRequests, asksForNew: Bool, session: String? = nil
    ) throws(OfflineFailure) -> PlaybackInfo {
        var info = PlaybackInfoRequest(
            productType: product.productType, productId: product.id, audioQuality: request.audioQuality,
            videoQuality: request.videoQuality, mode: .offline,
            streamingSessionId: session ?? SystemRandomSource().uuid(),
            asksForNew: asksForNew)
        // A cached answer does not show the present permissions of the service.
        info.isFresh = true
        do throws(PlayerError) {
            return try requests.playbackInfo(for: info, of: mediaProduct, settings, credentials)
        } catch {
            switch error.cause {
            case _ where requests.cancellation.isCancelled: throw .stopped
            case .media(.source(.meteredLink)): throw .media(.source(.meteredLink))
            case .media(.source(.offlineMode)): throw .stopped
            default: throw .refused(error)
            }
        }
    }

    /// Returns the layout of the content, and the keys of each of its parts.
    func content(
        of info: PlaybackInfo, _ requests: ServiceRequests, asksForNew: Bool
    ) throws(OfflineFailure) -> (ContentLayout, [StreamedKeys]) {
        var requests = requests
        requests.space = ContentSpace(info, of: settings)
        do throws(MediaError) {
            return try StreamedContent(requests, settings, asksForNew: asksForNew).resolve(info)
        } catch {
            throw error == .source(.cancelled) ? .stopped : .media(error)
        }
    }
}
