import Media
import Network
import Platform

/// Opens the content that a playbackinfo names.
///
/// Thread: the decoder thread; blocks until the audio's format is known.
struct StreamedContent {
    private let requests: ServiceRequests
    private let settings: ServiceSettings

    init(_ requests: ServiceRequests, _ settings: ServiceSettings) {
        self.requests = requests
        self.settings = settings
    }

    func open(_ info: PlaybackInfo) throws(MediaError) -> any AudioDecoder {
        switch info.manifestType {
        case .bts: return try openFile(info.manifest)
        case .emu, .dash, .hls: throw .unsupported(what: "this manifest")
        }
    }

    private func openFile(_ manifest: [UInt8]) throws(MediaError) -> any AudioDecoder {
        guard let json = try? JSONValue.parse(manifest), let url = json["urls"]?[0]?.string else {
            throw .damaged(what: "the manifest")
        }
        let bytes = StreamedBytes(TransferRequest(url: url), over: requests.network, readAhead: settings.readAhead)
        return try AudioFile.open(
            MediumByteSource(bytes, requests.medium), cancellation: requests.cancellation)
    }
}
