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
    let initialization: (any ByteSource)?
    let timeline: SegmentTimeline

    private let reference: (Int) -> SegmentReference?
    private let network: any ServiceNetwork
    private let medium: MediumAccess
    private let readAhead: Int
    private let keys: StreamedKeys
    /// Segments that were begun, in order and without gaps.
    private var begun: [(index: Int, bytes: StreamedBytes)] = []

    /// - Throws: when the key of the initialization cannot be had.
    init(
        _ references: some SegmentReferences, over network: any ServiceNetwork, medium: MediumAccess, readAhead: Int,
        keys: StreamedKeys
    ) throws(ByteSourceError) {
        timeline = references.timeline
        reference = { references.segment($0) }
        self.network = network
        self.medium = medium
        self.readAhead = readAhead
        self.keys = keys
        var initialization: (any ByteSource)?
        if let resource = references.initialization {
            let bytes = StreamedBytes(
                resource.request, over: network, readAhead: readAhead, progress: medium.stream)
            initialization = try keys.decrypted(
                MediumByteSource(bytes, medium), references.initializationProtections)
        }
        self.initialization = initialization
    }

    func segment(_ index: Int) throws(ByteSourceError) -> (any ByteSource)? {
        guard let bytes = bytes(of: index) else { return nil }
        return try keys.decrypted(
            MediumByteSource(Segment(bytes, of: self), medium), reference(index)?.protections ?? [])
    }

    private func bytes(of index: Int) -> StreamedBytes? {
        // The one before stays: its last bytes may not be decoded yet.
        begun.removeAll { $0.index < index - 1 }
        if let known = begun.first(where: { $0.index == index }) { return known.bytes }
        // Elsewhere, after a seek.
        begun.removeAll { $0.index >= index || $0.index < index - 1 }
        return begin(index)
    }

    private func begin(_ index: Int) -> StreamedBytes? {
        guard let segment = reference(index) else { return nil }
        let bytes = StreamedBytes(
            segment.resource.request, over: network, readAhead: readAhead, progress: medium.stream)
        bytes.seconds = segment.duration
        begun.append((index, bytes))
        return bytes
    }

    /// Begins the next segment when all before are complete and there is room for more.
    fileprivate func fetchAhead() {
        guard let last = begun.last, last.bytes.isComplete,
            begun.reduce(0, { $0 + $1.bytes.buffered }) < Int64(readAhead)
        else { return }
        _ = begin(last.index + 1)
    }
}

/// The bytes of one segment. Each read is an occasion to fetch ahead.
private final class Segment: ByteSource {
    private let bytes: StreamedBytes
    private let segments: StreamedSegments

    init(_ bytes: StreamedBytes, of segments: StreamedSegments) {
        self.bytes = bytes
        self.segments = segments
    }

    var length: Int64? { bytes.length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        segments.fetchAhead()
        return try bytes.read(into: buffer, at: offset)
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { bytes.whenReadable(wake) }
}

extension ResourceReference {
    fileprivate var request: TransferRequest { .content(url, range: byteRange) }

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
