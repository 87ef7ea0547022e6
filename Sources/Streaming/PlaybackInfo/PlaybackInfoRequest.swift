import Network
import Platform
import Playback

/// A request for playbackinfo (docs/service.md).
package struct PlaybackInfoRequest: Equatable, Sendable {
    package enum PlaybackMode: String, Sendable {
        case stream = "STREAM"
        case offline = "OFFLINE"
    }

    var productType: ProductType
    var productId: String
    var audioQuality: AudioQuality
    var videoQuality = VideoQuality.high
    var mode: PlaybackMode
    /// A new id for each attempt to play or download a product.
    var streamingSessionId: String
    /// Whether an answer from the cache is useless, because its addresses were refused.
    var asksForNew = false
    /// Whether the answer bypasses the cache, in both directions.
    package var isFresh = false

    package init(
        productType: ProductType, productId: String, audioQuality: AudioQuality, videoQuality: VideoQuality = .high,
        mode: PlaybackMode, streamingSessionId: String, asksForNew: Bool = false, isFresh: Bool = false
    ) {
        self.productType = productType
        self.productId = productId
        self.audioQuality = audioQuality
        self.videoQuality = videoQuality
        self.mode = mode
        self.streamingSessionId = streamingSessionId
        self.asksForNew = asksForNew
        self.isFresh = isFresh
    }

    /// - Parameters:
    ///   - baseURL: the address of the service, without a trailing slash.
    ///   - token: nil to ask without credentials; a service may then answer with a preview.
    func transfer(baseURL: String, clientName: String, token: String?) -> TransferRequest {
        let id = FormText.escaped(productId)
        var url = baseURL
        switch productType {
        case .track: url += "/v1/tracks/\(id)/playbackinfo?audioquality=\(audioQuality.serviceName)"
        case .video: url += "/v1/videos/\(id)/playbackinfo?videoquality=\(videoQuality.serviceName)"
        }
        url += "&assetpresentation=FULL&playbackmode=\(mode.rawValue)"
        if productType == .track { url += "&immersiveaudio=false" }
        var headers = [
            HeaderField("Accept", "application/json"),
            HeaderField("x-tidal-streamingsessionid", streamingSessionId),
        ]
        if let token {
            headers.append(HeaderField("Authorization", "Bearer \(token)"))
        } else {
            headers.append(HeaderField("x-tidal-token", clientName))
        }
        if asksForNew { headers.append(HeaderField("Cache-Control", "no-cache")) }
        var request = TransferRequest(url: url, headers: headers)
        if !isFresh { request.cacheScope = .wholeAddress }
        return request
    }
}
