import Network

/// A request for playbackinfo (docs/service.md).
struct PlaybackInfoRequest: Equatable, Sendable {
    enum PlaybackMode: String, Sendable {
        case stream = "STREAM"
        case offline = "OFFLINE"
    }

    var productType: ProductType
    var productId: String
    var audioQuality: AudioQuality
    var videoQuality = VideoQuality.high
    var mode: PlaybackMode
    /// A new one for each attempt to play or to keep a product.
    var streamingSessionId: String

    /// - Parameters:
    ///   - baseURL: of the service, without a slash at its end.
    ///   - token: nil asks without credentials; a service may answer with a preview then.
    func transfer(baseURL: String, clientName: String, token: String?) -> TransferRequest {
        let id = Self.escaped(productId)
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
        return TransferRequest(url: url, headers: headers)
    }

    /// A segment of a path (RFC 3986, 3.3): all but unreserved characters as %XX.
    static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
