import Media
import Network

/// Where the segments of a representation are.
protocol SegmentReferences {
    var initialization: ResourceReference? { get }
    /// How that is encrypted as a whole.
    var initializationProtections: [ContentProtection] { get }
    var timeline: SegmentTimeline { get }
    func segment(_ index: Int) -> SegmentReference?
}

extension SegmentList: SegmentReferences {
    var initialization: ResourceReference? { segments.first?.initialization }
    var initializationProtections: [ContentProtection] { segments.first?.initializationProtections ?? [] }
}

extension SegmentTemplate: SegmentReferences {
    var timeline: SegmentTimeline { timeline(now: nil) }
    var initializationProtections: [ContentProtection] { [] }
}

/// The segments of a representation over the network, fetched one after the other ahead of the decoder.
///
/// Thread: the decoder thread. The end of this object ends its transfers.
final class StreamedSegments: SegmentedSource {
    /// How segments are fetched.
    struct Fetching {
        let network: any ServiceNetwork
        let medium: MediumAccess
        let throughput: Throughput?
        /// Bytes that are held at most.
        let readAhead: Int
        /// Whether it does not come from a cache: what the server has sent before was of no use.
        var asksForNew = false

        /// - Parameter retries: of live content; nil for any other.
        func begin(
            _ resource: ResourceReference, limit: Int? = nil, isMeasured: Bool = true, retries: LiveRetries? = nil
        ) -> StreamedBytes {
            var request = resource.request
            if asksForNew { request.headers.append(HeaderField("Cache-Control", "no-cache")) }
            return StreamedBytes(
                request, over: network, readAhead: min(readAhead, limit ?? .max), progress: medium.stream,
                throughput: isMeasured ? throughput : nil, retries: retries)
        }
    }

    let initialization: (any ByteSource)?
    let timeline: SegmentTimeline
    /// Asked before a segment is fetched ahead. After false nothing more is fetched, and the segments end before it.
    var mayBegin: (Int) -> Bool = { _ in true }

    private let reference: (Int) -> SegmentReference?
    private let fetching: Fetching
    private let keys: StreamedKeys
    /// Segments that were begun, in order and without gaps.
    private var begun: [(index: Int, bytes: StreamedBytes)] = []
    /// The beginning of the first segment, of which a decoder that begins elsewhere needs the times.
    private var head: StreamedBytes?
    /// Behind the last segment, when another encoding follows.
    private var end: Int?

    /// Of the beginning of a segment that is not played.
    private static let headBytes = 64 << 10

    /// - Throws: when there is no key for the initialization.
    init(
        _ references: some SegmentReferences, _ fetching: Fetching, keys: StreamedKeys
    ) throws(ByteSourceError) {
        timeline = references.timeline
        reference = { references.segment($0) }
        self.fetching = fetching
        self.keys = keys
        var initialization: (any ByteSource)?
        if let resource = references.initialization {
            let bytes = fetching.begin(resource, isMeasured: false)
            initialization = try keys.decrypted(
                MediumByteSource(bytes, fetching.medium), references.initializationProtections)
        }
        self.initialization = initialization
    }

    func segment(_ index: Int) throws(ByteSourceError) -> (any ByteSource)? {
        guard let bytes = bytes(of: index) else { return nil }
        return try keys.decrypted(
            MediumByteSource(Segment(bytes, of: self, mayBeMissing: mayBeMissing(index)), fetching.medium),
            reference(index)?.protections ?? [])
    }

    /// Whether it is the last one, and only a duration says that it is there.
    private func mayBeMissing(_ index: Int) -> Bool {
        reference(index)?.isEstimated ?? false && index > timeline.firstIndex && reference(index + 1) == nil
    }

    // MARK: Fetching

    /// Begins to fetch for a decoder that will be opened, and play from a segment on.
    /// - Parameter lead: whether that decoder also needs the segment before.
    func prepare(from index: Int, lead: Bool) {
        let first = timeline.firstIndex
        let start = lead ? max(first, index - 1) : index
        if start > first, let resource = reference(first)?.resource {
            head = fetching.begin(resource, limit: Self.headBytes, isMeasured: false)
        }
        for place in start...max(start, index) { _ = begin(place, isHeard: place >= index) }
    }

    /// The segments go to their own end again.
    func goOn() { end = nil }

    /// Whether all segments have arrived, or none follows any more.
    var isFetched: Bool {
        guard end == nil, let last = begun.last, last.bytes.isComplete else { return false }
        return reference(last.index + 1) == nil && timeline.isComplete
    }

    private func bytes(of index: Int) -> StreamedBytes? {
        if let end, index >= end { return nil }
        if index == timeline.firstIndex, let head, !begun.contains(where: { $0.index == index }) { return head }
        // The one before stays: its last bytes may not be decoded yet.
        begun.removeAll { $0.index < index - 1 }
        if let known = begun.first(where: { $0.index == index }) { return known.bytes }
        // Elsewhere, after a seek.
        begun.removeAll { $0.index >= index || $0.index < index - 1 }
        return begin(index)
    }

    private func begin(_ index: Int, isHeard: Bool = true) -> StreamedBytes? {
        guard let segment = reference(index) else { return nil }
        let bytes = fetching.begin(segment.resource)
        if isHeard { bytes.show(seconds: segment.duration, isSegment: true) }
        begun.append((index, bytes))
        return bytes
    }

    /// Begins the next segment when all before are complete and there is room for more. Behind a segment that has
    /// failed nothing is asked for: the decoder ends there.
    func fetchAhead() {
        guard end == nil, let last = begun.last, last.bytes.isComplete, !last.bytes.hasFailed,
            begun.reduce(0, { $0 + $1.bytes.buffered }) < Int64(fetching.readAhead)
        else { return }
        let index = last.index + 1
        guard reference(index) != nil else { return }
        guard mayBegin(index) else {
            end = index
            return
        }
        _ = begin(index)
    }

    /// A decoder that has been moved by a seek does not need the beginning any more.
    func forgetHead() { head = nil }
}

/// The bytes of one segment. Each read is an occasion to fetch ahead.
private final class Segment: ByteSource {
    private let bytes: StreamedBytes
    private let segments: StreamedSegments
    private let mayBeMissing: Bool

    init(_ bytes: StreamedBytes, of segments: StreamedSegments, mayBeMissing: Bool) {
        self.bytes = bytes
        self.segments = segments
        self.mayBeMissing = mayBeMissing
    }

    var length: Int64? { bytes.length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        segments.fetchAhead()
        do throws(ByteSourceError) { return try bytes.read(into: buffer, at: offset) } catch {
            guard mayBeMissing, offset == 0, bytes.failure?.isOfMissing ?? false else { throw error }
            return .end
        }
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { bytes.whenReadable(wake) }
}

extension ResourceFailure {
    /// Whether a server says that there is no such resource.
    var isOfMissing: Bool {
        if case .refused(let refusal) = self { refusal.status == 404 || refusal.status == 410 } else { false }
    }
}

extension ResourceReference {
    var request: TransferRequest { .content(url, range: byteRange) }

    var byteRange: ByteRange? { range.map { ByteRange(from: $0.lowerBound, upTo: $0.upperBound) } }
}

extension TransferRequest {
    /// Of a manifest or of content. Its address is signed each time: the cache knows it by its path.
    static func content(_ url: String, range: ByteRange? = nil) -> TransferRequest {
        var request = TransferRequest(url: url, range: range)
        request.cacheScope = .path
        return request
    }
}
