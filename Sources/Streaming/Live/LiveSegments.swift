import Fetching
import Manifests
import Media
import Network
import Playback

/// The segments of a part of live content, fetched one after the other before the decoder needs them. A segment that is
/// given up counts as a gap, and ends the part (docs/playback.md, 15.12).
///
/// Thread: the decoder thread. Deinitialisation cancels the transfers.
final class LiveSegments: SegmentedSource {
    private(set) var initialization: (any ByteSource)?
    var timeline: SegmentTimeline { part.timeline }

    fileprivate let part: LivePart
    /// The segment that was read last; nil before the first one.
    private(set) var lastRead: Int?

    private let fetching: StreamedSegments.Fetching
    private let retries: LiveRetries
    private let keys: StreamedKeys
    /// The segments whose transfers have begun, in order and without gaps.
    private var begun: [(index: Int, bytes: StreamedBytes)] = []

    init(_ part: LivePart, _ fetching: StreamedSegments.Fetching, _ retries: LiveRetries, _ keys: StreamedKeys) {
        (self.part, self.fetching, self.retries, self.keys) = (part, fetching, retries, keys)
        let (resource, protections) = (part.initialization, part.initializationProtections)
        guard let resource else { return }
        let bytes = fetching.begin(resource, isMeasured: false, retries: retries)
        // The segments repeat the keys of samples.
        let ofAll = protections.filter { $0.isOfWholeSegments }
        initialization = MediumByteSource(opened(bytes, ofAll), fetching.medium)
    }

    func segment(_ index: Int) throws(ByteSourceError) -> (any ByteSource)? {
        if part.isGone(index) {
            part.fail()
            throw .integrity(reason: "live stream: \(LivePlaylist.tooFar)")
        }
        if let bytes = bytes(of: index) { return source(index, opened(bytes, part.segment(index)?.protections ?? [])) }
        return part.isComplete ? nil : source(index, nil)
    }

    private func source(_ index: Int, _ bytes: LiveBytes?) -> any ByteSource {
        MediumByteSource(LiveSegment(index, of: self, bytes), fetching.medium)
    }

    /// Returns the bytes of a segment once it is in the part; nil before that.
    fileprivate func bytes(ofComing index: Int) throws(ByteSourceError) -> LiveBytes? {
        try part.poll()
        return bytes(of: index).map { opened($0, part.segment(index)?.protections ?? []) }
    }

    private func opened(_ bytes: StreamedBytes, _ protections: [ContentProtection]) -> LiveBytes {
        LiveBytes(bytes, protections, keys) { [fetching, retries] url in
            var retries = retries
            retries.refusesText = false
            // Keys are not cached.
            return StreamedBytes(
                TransferRequest(url: url), over: fetching.network,
                at: ResourceAddresses(Alternatives(url, bases: fetching.bases), failed: fetching.failed),
                readAhead: fetching.readAhead, progress: fetching.medium.stream, retries: retries)
        }
    }

    // MARK: Fetching

    /// Begins the transfer of the first segment.
    func prepare() { _ = bytes(of: timeline.firstIndex) }

    /// Whether all segments of the part have arrived, and no more will come.
    var isFetched: Bool {
        guard let last = begun.last, last.bytes.isComplete else { return false }
        return part.segment(last.index + 1) == nil && part.isComplete
    }

    /// - Returns: nil for a segment that is not in the part, or was given up.
    private func bytes(of index: Int) -> StreamedBytes? {
        guard part.segment(index) != nil else { return nil }
        // The previous segment stays: its last bytes may not be decoded yet.
        begun.removeAll { $0.index < index - 1 }
        if let known = begun.first(where: { $0.index == index }) { return known.bytes }
        // A seek has moved to another segment.
        begun.removeAll { $0.index >= index || $0.index < index - 1 }
        return begin(index)
    }

    private func begin(_ index: Int) -> StreamedBytes? {
        guard let segment = part.segment(index) else { return nil }
        let bytes = fetching.begin(segment.resource, index, retries: retries)
        bytes.show(seconds: segment.duration, isSegment: true)
        begun.append((index, bytes))
        return bytes
    }

    /// Begins the next segment when all earlier ones are complete and there is room for more.
    func fetchAhead() {
        guard let last = begun.last, last.bytes.isComplete, !last.bytes.hasFailed,
            begun.reduce(0, { $0 + $1.bytes.buffered }) < Int64(fetching.readAhead)
        else { return }
        _ = begin(last.index + 1)
    }

    fileprivate func willRead(_ index: Int) {
        lastRead = index
        fetchAhead()
    }
}

/// The bytes of a segment of live content, which may not be in the playlist yet. Each read also begins transfers for
/// which there is room.
///
/// Thread: the decoder thread.
private final class LiveSegment: ByteSource {
    private let index: Int
    private let segments: LiveSegments
    private var bytes: LiveBytes?

    /// - Parameter bytes: nil for a segment that is not in the playlist yet.
    init(_ index: Int, of segments: LiveSegments, _ bytes: LiveBytes?) {
        (self.index, self.segments, self.bytes) = (index, segments, bytes)
    }

    var length: Int64? { bytes?.length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        if bytes == nil { bytes = try segments.bytes(ofComing: index) }
        guard let bytes else { return segments.part.isComplete ? .end : .notYet }
        segments.willRead(index)
        do throws(ByteSourceError) { return try bytes.read(into: buffer, at: offset) } catch {
            guard error.isOfLiveAnswer else { throw error }
            segments.part.lose(index, after: error)
            // The part ends here, once another one follows.
            self.bytes = nil
            return segments.part.isComplete ? .end : .notYet
        }
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        if let bytes { bytes.whenReadable(wake) } else { segments.part.whenLoaded(wake) }
    }
}

/// The decrypted bytes of a resource of live content. The keys are fetched first, with the retries of segments.
///
/// Thread: the decoder thread.
private final class LiveBytes: ByteSource {
    private let bytes: StreamedBytes
    private let protections: [ContentProtection]
    private let keys: StreamedKeys
    private let fetch: (String) -> StreamedBytes
    /// The key that is arriving.
    private var key: StreamedBytes?
    private var keyBytes: [UInt8] = []
    /// The decrypted bytes, once all keys have arrived.
    private var plain: (any ByteSource)?

    /// - Parameter fetch: begins to fetch a key from an address.
    init(
        _ bytes: StreamedBytes, _ protections: [ContentProtection], _ keys: StreamedKeys,
        fetch: @escaping (String) -> StreamedBytes
    ) {
        (self.bytes, self.protections, self.keys, self.fetch) = (bytes, protections, keys, fetch)
    }

    var length: Int64? { bytes.length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        if let plain { return try plain.read(into: buffer, at: offset) }
        while let url = keys.missingKey(of: protections) {
            guard try readKey(at: url) else { return .notYet }
            do throws(MediaError) { try keys.add(keyBytes, from: url) } catch {
                throw .integrity(reason: "a key of \(keyBytes.count) bytes, not 16")
            }
            (key, keyBytes) = (nil, [])
        }
        let opened = try keys.decrypted(bytes, protections)
        plain = opened
        return try opened.read(into: buffer, at: offset)
    }

    /// - Returns: whether the whole key is in `keyBytes`.
    private func readKey(at url: String) throws(ByteSourceError) -> Bool {
        let coming = key ?? fetch(url)
        key = coming
        var buffer = [UInt8](repeating: 0, count: Self.longestKey)
        while keyBytes.count < Self.longestKey {
            let start = Int64(keyBytes.count)
            let read = try buffer.withUnsafeMutableBufferPointer { (buffer) throws(ByteSourceError) -> ByteRead in
                try coming.read(into: UnsafeMutableRawBufferPointer(buffer), at: start)
            }
            switch read {
            case .bytes(let count): keyBytes += buffer.prefix(count)
            case .end: return true
            case .notYet: return false
            }
        }
        return true
    }

    /// Longer than any key, in bytes.
    private static let longestKey = 64

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        if let plain { return plain.whenReadable(wake) }
        (key ?? bytes).whenReadable(wake)
    }
}
