import Foundation
import Network

/// A service as a function of requests. It answers inside `begin`, on the thread that asks.
// @unchecked: one thread at a time asks: the test's, or the decoder's that it waits for.
package final class ScriptedService: @unchecked Sendable {
    package let network = ScriptedNetwork()
    /// The answer for playbackinfo; `nil` answers with the manifest.
    package var playbackinfo: (_ count: Int, TransferRequest) -> (Int, String)? = { _, _ in nil }
    /// How the content is answered.
    package var content: (_ count: Int, ScriptedNetwork.Ongoing) -> Void = { _, _ in }
    package private(set) var playbackinfoRequests: [TransferRequest] = []
    package private(set) var contentRequests: [TransferRequest] = []

    package init() {
        // A decoder thread may outlive a test by a moment.
        network.server = { [weak self] transfer in
            guard let self else { return }
            if transfer.request.url.contains("/playbackinfo?") {
                playbackinfoRequests.append(transfer.request)
                let answer = playbackinfo(playbackinfoRequests.count, transfer.request)
                transfer.answer(answer?.0 ?? 200, [], Array((answer?.1 ?? Self.info()).utf8))
            } else {
                contentRequests.append(transfer.request)
                content(contentRequests.count, transfer)
            }
        }
    }

    package static func info(id: Int = 42, quality: String = "LOSSLESS", url: String = "https://content/a?token=1")
        -> String
    {
        let manifest = """
            {"mimeType": "audio/flac", "codecs": "flac", "encryptionType": "NONE", "urls": ["\(url)"]}
            """
        return """
            {"trackId": \(id), "assetPresentation": "PREVIEW", "audioMode": "STEREO", "audioQuality": "\(quality)",
             "manifestMimeType": "application/vnd.tidal.bts", "manifestHash": "h", "trackReplayGain": -3.5,
             "trackPeakAmplitude": 0.5, "manifest": "\(Data(manifest.utf8).base64EncodedString())"}
            """
    }

    /// Answers with a part of `file` as the request asks.
    package static func serve(_ file: [UInt8], to transfer: ScriptedNetwork.Ongoing, upTo end: Int? = nil) {
        let start = Int(transfer.request.range?.from ?? 0)
        let head =
            start == 0
            ? [("Content-Length", "\(file.count)")]
            : [("Content-Range", "bytes \(start)-\(file.count - 1)/\(file.count)")]
        transfer.begin(start == 0 ? 200 : 206, head)
        transfer.deliver(Array(file[start..<max(start, end ?? file.count)]))
    }
}
