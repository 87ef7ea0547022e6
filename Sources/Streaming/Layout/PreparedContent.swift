import Fetching
import Manifests
import Media
import Network
import Playback

/// One representation of a part of the content, whose transfers have begun. A decoder is opened when it is needed.
///
/// Thread: the decoder thread. Deinitialisation cancels the transfers.
final class PreparedContent {
    private enum Source {
        case file(StreamedBytes)
        case segments(StreamedSegments)
    }

    private let source: Source
    private let keys: StreamedKeys
    private let requests: ServiceRequests
    private let clip: Range<Double>?
    private let bandwidth: Int?

    /// Begins the transfers.
    /// - Parameters:
    ///   - representation: a file, a list or a template.
    ///   - clip: the range of a file to play.
    ///   - keys: receive the representation's description of its encryption.
    init(
        _ representation: Representation, clip: Range<Double>?, _ fetching: StreamedSegments.Fetching,
        _ requests: ServiceRequests, _ keys: StreamedKeys
    ) throws(MediaError) {
        var fetching = fetching
        fetching.bases = representation.bases
        self.keys = keys
        keys.fetchesKeys(at: fetching.bases, fetching.patience)
        try keys.take(representation)
        self.requests = requests
        self.clip = clip
        bandwidth = representation.bandwidth
        fetching.space = fetching.space?.representation(representation)
        do throws(ByteSourceError) {
            switch representation.segments {
            case .file(let file):
                source = .file(
                    fetching.begin(ResourceReference(url: file.url), isFile: true))
            case .list(let list):
                source = .segments(try StreamedSegments(list, fetching, keys: keys, bandwidth: bandwidth))
            case .template(let template):
                source = .segments(try StreamedSegments(template, fetching, keys: keys, bandwidth: bandwidth))
            case .playlist: preconditionFailure("PreparedContent: a playlist that was not followed")
            }
        } catch {
            throw .source(error)
        }
    }

    /// The segments; nil for a file.
    var segments: StreamedSegments? { if case .segments(let segments) = source { segments } else { nil } }

    /// Begins fetching with the first segment.
    func prepare() { if let segments { segments.prepare(from: segments.timeline.firstIndex, lead: false) } }

    /// Whether the whole representation has arrived.
    var isFetched: Bool {
        switch source {
        case .file(let bytes): bytes.isComplete
        case .segments(let segments): segments.isFetched
        }
    }

    /// Begins the next transfer when there is room for more.
    func fetchAhead() { segments?.fetchAhead() }

    /// Blocks until the audio's format is known.
    func open() throws(MediaError) -> any AudioDecoder {
        switch source {
        case .segments(let segments):
            return try AudioFile.open(segments, licenses: keys.licenses, cancellation: requests.cancellation)
        case .file(let bytes):
            let decoder = try AudioFile.open(
                MediumByteSource(bytes, requests.medium), licenses: keys.licenses, cancellation: requests.cancellation)
            if let seconds = decoder.properties.duration { bytes.show(seconds: seconds, isSegment: false) }
            guard let clip else { return decoder }
            return ClippedDecoder(decoder, clip)
        }
    }
}
