import Media
import Network
import Platform

/// A media playlist of HLS that grows: it is loaded again while its end is not in it (RFC 8216, 6.3.4).
///
/// Thread: the decoder thread. The end of this object ends its transfer.
final class LivePlaylist: SegmentReferences {
    /// How far behind the end of the playlist it is begun, in target durations (RFC 8216, 6.3.3).
    private static let delay = 3.0
    /// More than three days of segments of 6 s.
    private static let mostSegments = 50_000

    private let requests: ServiceRequests
    private let url: String
    private let clock: any MonotonicClock
    /// All that were there since the first one that is played.
    private var list: SegmentList
    private var targetDuration: Double
    private var hasGrown = true
    private var loadTime: Int64
    private var reload: PlaylistReload?

    /// - Parameters:
    ///   - list: with at least one segment.
    ///   - url: where it came from.
    init(
        _ list: SegmentList, targetDuration: Double, url: String, _ requests: ServiceRequests,
        clock: any MonotonicClock
    ) {
        self.requests = requests
        self.url = url
        self.clock = clock
        self.targetDuration = targetDuration
        loadTime = clock.now()
        var seconds = 0.0
        let count = list.segments.reversed().prefix { segment in
            seconds += segment.duration
            return seconds <= Self.delay * targetDuration
        }.count
        var latest = list
        latest.segments.removeFirst(list.segments.count - max(1, count))
        latest.firstIndex += list.segments.count - latest.segments.count
        self.list = latest
    }

    deinit { reload?.cancel() }

    var initialization: ResourceReference? { list.initialization }
    var initializationProtections: [ContentProtection] { list.initializationProtections }
    var timeline: SegmentTimeline { list.timeline }
    func segment(_ index: Int) -> SegmentReference? { list.segment(index) }

    /// Whether no more segments will come.
    var isComplete: Bool { list.isComplete }

    /// Takes what has arrived.
    /// - Throws: when the playlist cannot be had any more, or has gone on too far.
    func poll() throws(ByteSourceError) {
        guard let result = reload?.result else { return }
        reload = nil
        let content: WholeAnswer.Content
        do throws(ResourceFailure) { content = try result.get() } catch { throw error.byteSourceError }
        let playlist: MediaPlaylist
        do throws(ManifestError) { playlist = try MediaPlaylist(content.body, url: content.url) } catch {
            throw .integrity(reason: "the live playlist cannot be read")
        }
        targetDuration = playlist.targetDuration
        try append(playlist.segments)
    }

    private func append(_ new: SegmentList) throws(ByteSourceError) {
        let next = list.firstIndex + list.segments.count
        guard new.firstIndex <= next else { throw .network(reason: "the live stream has gone on too far") }
        let added = new.segments.dropFirst(next - new.firstIndex)
        hasGrown = !added.isEmpty
        list.isComplete = new.isComplete || list.segments.count > Self.mostSegments
        for var segment in added {
            segment.start = list.segments.last.map { $0.start + $0.duration } ?? 0
            list.segments.append(segment)
        }
    }

    /// Calls `wake` once, from any thread, when it makes sense to `poll`: after the playlist was loaded again.
    func whenLoaded(_ wake: @escaping @Sendable () -> Void) {
        if let reload { return reload.whenOver(wake) }
        // A playlist that has not grown is asked for sooner.
        let interval = Int64(max(0.1, min(targetDuration * (hasGrown ? 1 : 0.5), 3600)) * 1e9)
        let now = clock.now()
        let delay = max(0, loadTime + interval - now)
        loadTime = now + delay
        var request = TransferRequest.content(url)
        request.headers.append(HeaderField("Cache-Control", "no-cache"))
        request.maximumBody = Int64(ServiceRequests.longestAnswer)
        let reload = PlaylistReload(request, requests, after: delay)
        self.reload = reload
        reload.whenOver(wake)
    }
}

/// One more request for a playlist.
///
/// Thread: any. `@unchecked Sendable` is safe because `lock` guards what changes.
private final class PlaylistReload: ResourceReceiver, @unchecked Sendable {
    private let lock = Lock()
    private var content = WholeAnswer.Content(body: [], url: "")
    private var outcome: Result<WholeAnswer.Content, ResourceFailure>?
    private var transfer: ResourceTransfer?
    private var isCancelled = false
    private var wake: (@Sendable () -> Void)?

    init(_ request: TransferRequest, _ requests: ServiceRequests, after delay: Int64) {
        let (network, progress) = (requests.network, requests.medium.stream)
        network.schedule(after: delay) { [self] in
            guard !lock.withLock({ isCancelled }) else { return }
            let transfer = ResourceTransfer(request, over: network, progress: progress, into: self)
            let isUnwanted = lock.withLock {
                if outcome == nil { self.transfer = transfer }
                return isCancelled
            }
            if isUnwanted { transfer.cancel() }
        }
    }

    /// nil while it is not over.
    var result: Result<WholeAnswer.Content, ResourceFailure>? { lock.withLock { outcome } }

    func cancel() {
        let transfer = lock.withLock {
            isCancelled = true
            return self.transfer
        }
        transfer?.cancel()
    }

    /// As `ByteSource.whenReadable`.
    func whenOver(_ wake: @escaping @Sendable () -> Void) {
        let isOver = lock.withLock {
            if outcome == nil { self.wake = wake }
            return outcome != nil
        }
        if isOver { wake() }
    }

    func began(_ head: ResponseHead, length: Int64?) {
        lock.withLock { content = WholeAnswer.Content(body: [], url: head.effectiveURL) }
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        lock.withLock { content.body.append(contentsOf: bytes) }
        return .more
    }

    func ended(_ failure: ResourceFailure?) {
        let wake = lock.withLock {
            if let failure { outcome = .failure(failure) } else { outcome = .success(content) }
            transfer = nil
            defer { self.wake = nil }
            return self.wake
        }
        wake?()
    }
}

/// A segment of a live playlist that is not in it yet.
///
/// Thread: the decoder thread.
final class ComingSegment: ByteSource {
    private let index: Int
    private let live: LivePlaylist
    private let open: (Int) throws(ByteSourceError) -> (any ByteSource)?
    private var source: (any ByteSource)?

    /// - Parameter open: gives the segment once it is in the playlist.
    init(_ index: Int, of live: LivePlaylist, open: @escaping (Int) throws(ByteSourceError) -> (any ByteSource)?) {
        self.index = index
        self.live = live
        self.open = open
    }

    var length: Int64? { source?.length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        if let source { return try source.read(into: buffer, at: offset) }
        try live.poll()
        guard live.segment(index) != nil, let opened = try open(index) else {
            return live.isComplete ? .end : .notYet
        }
        source = opened
        return try opened.read(into: buffer, at: offset)
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        if let source { source.whenReadable(wake) } else { live.whenLoaded(wake) }
    }
}
