import Fetching
import Manifests
import Media
import Network
import Playback

/// The addresses of the segments of a representation.
package protocol SegmentReferences {
    var initialization: ResourceReference? { get }
    /// How the initialization segment is encrypted as a whole.
    var initializationProtections: [ContentProtection] { get }
    var timeline: SegmentTimeline { get }
    func segment(_ index: Int) -> SegmentReference?
}

extension SegmentList: SegmentReferences {
    package var initialization: ResourceReference? { segments.first?.initialization }
    package var initializationProtections: [ContentProtection] { segments.first?.initializationKeys.protections ?? [] }
}

extension SegmentTemplate: SegmentReferences {
    package var timeline: SegmentTimeline { timeline(now: nil) }
    package var initializationProtections: [ContentProtection] { [] }
}

/// The segments of a representation, fetched from the network one after the other before the decoder needs them.
///
/// Thread: the decoder thread. Deinitialisation cancels the transfers.
final class StreamedSegments: SegmentedSource {
    /// How segments are fetched.
    struct Fetching {
        let network: any ServiceNetwork
        let medium: MediumAccess
        let throughput: Throughput?
        /// The maximum number of bytes held.
        let readAhead: Int
        /// Whether content bypasses the cache, because the cached answers were useless.
        var asksForNew = false
        /// Whether the addresses are those of a second session, because the content was refused in the first one.
        var isRenewed = false
        /// The scope of the content in the cache.
        var space: ContentSpace?
        /// Alternative base addresses of a representation.
        var bases: [String] = []
        var failed = FailedAddresses()
        /// `.endless` unless there are other representations.
        var patience = Patience.endless

        /// - Parameters:
        ///   - index: the index of a segment.
        ///   - isFile: whether it is the whole content, which is read at arbitrary offsets.
        ///   - hasWorked: whether the representation has delivered something before.
        ///   - retries: for live content; nil for other content.
        func begin(
            _ resource: ResourceReference, _ index: Int? = nil, limit: Int? = nil, isMeasured: Bool = true,
            isFile: Bool = false, hasWorked: Bool = false, retries: LiveRetries? = nil
        ) -> StreamedBytes {
            var request = request(resource, index)
            // Live content recognises text itself.
            (request.isReadInParts, request.isMedia) = (isFile, !isFile && retries == nil)
            return StreamedBytes(
                request, over: network,
                at: ResourceAddresses(
                    Alternatives(resource.url, bases: bases), failed: failed, patience, hasWorked: hasWorked),
                readAhead: min(readAhead, limit ?? .max), progress: medium.stream,
                throughput: isMeasured ? throughput : nil, isSegment: !isFile, retries: retries)
        }

        /// Fetches a segment into the cache.
        func store(_ resource: ResourceReference, _ index: Int) -> StoredAhead {
            StoredAhead(request(resource, index), over: network)
        }

        private func request(_ resource: ResourceReference, _ index: Int?) -> TransferRequest {
            var request = TransferRequest.content(
                resource.url, range: resource.byteRange, index.map { space?.part($0) } ?? space)
            if asksForNew { request.headers.append(HeaderField("Cache-Control", "no-cache")) }
            return request
        }
    }

    let initialization: (any ByteSource)?
    let timeline: SegmentTimeline
    /// The decisions about segments that belong to one of several representations.
    struct Steering {
        /// Called before a segment is fetched.
        var decide: (Int) -> Decision
        /// Begins the transfers that there is room for. Called with each read.
        var fetchAhead: () -> Void
        /// Returns whether these segments are fetched into the cache while memory has no room: no other decision may be
        /// due.
        var storesAhead: () -> Bool
    }

    /// The decision about the next segment.
    enum Decision {
        case fetch
        /// Fetch nothing before more was decoded.
        case wait
        /// The next segment belongs to another representation: these segments end before it.
        case end
    }

    /// Where the segments end before the end in the manifest.
    private struct Limits {
        /// The index after the last segment, when another representation follows.
        var end: Int?
        /// The first segment that only a duration has named and that no server has.
        var missing: Int?
    }

    /// The decisions about these segments; nil for a single representation.
    var steering: Steering?

    private let reference: (Int) -> SegmentReference?
    private let fetching: Fetching
    private let keys: StreamedKeys
    /// The segments whose transfers have begun, in order and without gaps.
    private var begun: [(index: Int, bytes: StreamedBytes, isHeard: Bool)] = []
    /// The last segment that was fetched into the cache, after the segments in `begun`.
    private var ahead: (index: Int, transfer: StoredAhead)?
    /// Whether the last one failed: the next one waits until memory has room again.
    private var aheadHasFailed = false
    /// The size of the earlier ones in bytes; nil when the cache does not store this content.
    private var storedAhead: Int64? = 0
    /// The index of the first segment that is heard.
    private var firstHeard: Int?
    /// The beginning of the first segment. A decoder that begins elsewhere needs its times.
    private var head: StreamedBytes?
    private var limits = Limits()
    /// The bandwidth in bits per second; nil while unknown.
    private let bandwidth: Int?
    /// Whether the decoder seeks, and its reads cause no decisions.
    private var isMoving = false

    /// How much of a segment that is not played is fetched, in bytes.
    private static let headBytes = 64 << 10

    /// - Throws: when there is no key for the initialization.
    init(
        _ references: some SegmentReferences, _ fetching: Fetching, keys: StreamedKeys, bandwidth: Int? = nil
    ) throws(ByteSourceError) {
        self.bandwidth = bandwidth
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
        if let missing = limits.missing, index > missing { return nil }
        guard let bytes = bytes(of: index) else { return nil }
        return try keys.decrypted(
            MediumByteSource(Segment(index, bytes, of: self, mayBeMissing: mayBeMissing(index)), fetching.medium),
            reference(index)?.protections ?? [])
    }

    /// Returns whether the existence of the segment is only estimated from a duration.
    private func mayBeMissing(_ index: Int) -> Bool {
        reference(index)?.isEstimated ?? false && index > timeline.firstIndex
    }

    /// Returns whether a segment has failed because the server has none of that number.
    fileprivate func isMissing(_ bytes: StreamedBytes) -> Bool {
        bytes.failure?.isOfMissing(isRenewed: fetching.isRenewed) ?? false
    }

    /// Begins the segment after a missing one: only if it is missing too, the content has ended.
    /// - Returns: nil after the last segment.
    fileprivate func proof(after index: Int) -> StreamedBytes? {
        if let missing = limits.missing, missing <= index { return nil }
        return reference(index + 1).map {
            fetching.begin($0.resource, index + 1, limit: Self.headBytes, isMeasured: false)
        }
    }

    /// Ends the content before a segment that is missing.
    fileprivate func finish(before index: Int) { limits.missing = min(index, limits.missing ?? index) }

    // MARK: Fetching

    /// Begins to fetch for a decoder that will be opened and play from a segment on.
    /// - Parameter lead: whether that decoder also needs the previous segment.
    func prepare(from index: Int, lead: Bool) {
        let first = timeline.firstIndex
        let start = lead ? max(first, index - 1) : index
        if start > first, let resource = reference(first)?.resource {
            head = fetching.begin(resource, first, limit: Self.headBytes, isMeasured: false)
        }
        for place in start...max(start, index) { _ = begin(place, isHeard: place >= index) }
    }

    /// Continues the segments to their own end again.
    func proceed() { limits.end = nil }

    /// Seeks in the decoder of these segments. Its reads cause no decisions, because they are not playback.
    func moving<Failure: Error>(_ move: () throws(Failure) -> Void) throws(Failure) {
        isMoving = true
        defer { isMoving = false }
        try move()
    }

    /// A segment that is arriving.
    struct Arriving {
        var index: Int
        /// The length in seconds.
        var duration: Double
        var bytesLeft: Double
        /// Whether it is the first segment that is heard of this representation.
        var isFirst: Bool
    }

    /// The last segment that was begun, while it arrives.
    var arriving: Arriving? {
        guard limits.end == nil, let last = begun.last, last.isHeard, !last.bytes.isComplete,
            let duration = reference(last.index)?.duration
        else { return nil }
        return Arriving(
            index: last.index, duration: duration,
            bytesLeft: last.bytes.missing(ofEstimated: duration * Double(bandwidth ?? 0) / 8),
            isFirst: last.index == firstHeard)
    }

    /// Cancels the transfer of the last segment. The segments end before it.
    func giveUp() {
        guard let last = begun.popLast() else { return }
        last.bytes.giveUp()
        end(before: last.index)
    }

    /// Ends the segments before `index`, whose transfer has not begun.
    func end(before index: Int) {
        limits.end = index
        ahead = nil
    }

    /// Whether the segments end before their own end, where another representation follows.
    var endsEarly: Bool { limits.end != nil }

    /// Whether the last segment has arrived.
    var hasArrived: Bool { begun.last.map { $0.bytes.isComplete } ?? true }

    /// Whether all segments have arrived, or no more will.
    var isFetched: Bool {
        guard limits.end == nil, let last = begun.last, last.bytes.isComplete else { return false }
        return last.index == limits.missing || reference(last.index + 1) == nil && timeline.isComplete
    }

    private func bytes(of index: Int) -> StreamedBytes? {
        if let end = limits.end, index >= end { return nil }
        if index == timeline.firstIndex, let head, !begun.contains(where: { $0.index == index }) { return head }
        // The previous segment stays: its last bytes may not be decoded yet.
        begun.removeAll { $0.index < index - 1 }
        if let known = begun.first(where: { $0.index == index }) { return known.bytes }
        if !isMoving, begun.last?.index == index - 1, let steering, reference(index) != nil,
            case .end = steering.decide(index)
        {
            end(before: index)
            return nil
        }
        // Drop the transfer to the cache after a seek, and when this segment is needed at once because memory is empty.
        if begun.last?.index != index - 1 || ahead?.index == index { ahead = nil }
        begun.removeAll { $0.index >= index || $0.index < index - 1 }
        return begin(index)
    }

    /// Returns the bytes of a segment that was given up before, when it is played after all.
    fileprivate func resumed(_ index: Int) -> StreamedBytes? { bytes(of: index) }

    /// Begins transfers for which the read may have made room.
    fileprivate func wasRead() { if let steering { steering.fetchAhead() } else { fetchAhead() } }

    private func begin(_ index: Int, isHeard: Bool = true) -> StreamedBytes? {
        guard let segment = reference(index) else { return nil }
        let bytes = fetching.begin(
            segment.resource, index, hasWorked: firstHeard.map { $0 != index } ?? false)
        if isHeard {
            bytes.show(seconds: segment.duration, isSegment: true, bandwidth: bandwidth)
            firstHeard = firstHeard ?? index
        }
        begun.append((index, bytes, isHeard))
        return bytes
    }

    /// Begins the next segment when all earlier ones are complete and there is room for more. Requests nothing after a
    /// failed segment, because the decoder ends there.
    func fetchAhead() {
        guard limits.end == nil, let last = begun.last, last.bytes.isComplete, !last.bytes.hasFailed else { return }
        let index = last.index + 1
        let hasRoom = begun.reduce(0) { $0 + $1.bytes.buffered } < Int64(fetching.readAhead)
        guard hasRoom else { return storeAhead(from: index) }
        // The cache answers once the segment is stored.
        if let ahead, ahead.index == index, ahead.transfer.outcome == .arriving { return }
        guard reference(index) != nil else { return }
        switch steering?.decide(index) ?? .fetch {
        case .fetch:
            aheadHasFailed = false
            _ = begin(index)
        case .wait: break
        case .end: end(before: index)
        }
    }

    /// Fetches the next segment that is not in memory into the cache, if the content may be stored.
    private func storeAhead(from index: Int) {
        var next = index
        switch ahead?.transfer.outcome {
        case .arriving: return
        case .failed:
            (ahead, aheadHasFailed) = (nil, true)
            return
        case .useless:
            (ahead, storedAhead) = (nil, nil)
            return
        case .stored: next = max(index, (ahead?.index ?? 0) + 1)
        case nil: if aheadHasFailed { return }
        }
        let count = ahead?.transfer.count ?? 0
        guard !fetching.asksForNew, let storedAhead, storedAhead + count < fetching.network.storeAheadLimit,
            steering?.storesAhead() ?? true
        else { return }
        guard let segment = reference(next) else { return }
        self.storedAhead = storedAhead + count
        ahead = (next, fetching.store(segment.resource, next))
    }

    /// Drops the beginning of the content, which a decoder no longer needs after its first seek.
    func forgetHead() { head = nil }
}

/// The bytes of one segment. Each read also begins transfers for which there is room.
private final class Segment: ByteSource {
    private let index: Int
    private var bytes: StreamedBytes
    private let segments: StreamedSegments
    private let mayBeMissing: Bool
    /// The next segment, while its answer decides whether this one is missing.
    private var proof: StreamedBytes?

    init(_ index: Int, _ bytes: StreamedBytes, of segments: StreamedSegments, mayBeMissing: Bool) {
        self.index = index
        self.bytes = bytes
        self.segments = segments
        self.mayBeMissing = mayBeMissing
    }

    var length: Int64? { bytes.length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        segments.wasRead()
        if bytes.isGivenUp, let resumed = segments.resumed(index) { bytes = resumed }
        do throws(ByteSourceError) { return try bytes.read(into: buffer, at: offset) } catch {
            guard mayBeMissing, offset == 0, segments.isMissing(bytes) else { throw error }
            guard let isAfterEnd = isAfterEnd(buffer) else { return .notYet }
            guard isAfterEnd else { throw error }
            segments.finish(before: index)
            return .end
        }
    }

    /// Returns whether the content has ended before this missing segment; nil while the next one decides.
    /// - Parameter buffer: for bytes that are not used.
    private func isAfterEnd(_ buffer: UnsafeMutableRawBufferPointer) -> Bool? {
        guard let next = proof ?? segments.proof(after: index) else { return true }
        proof = next
        do throws(ByteSourceError) {
            switch try next.read(into: buffer, at: 0) {
            case .notYet: return nil
            case .end: return true
            case .bytes: return false
            }
        } catch {
            return segments.isMissing(next)
        }
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { (proof ?? bytes).whenReadable(wake) }
}
