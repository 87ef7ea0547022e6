import Media
import Network
import Platform

/// A media playlist of HLS, or one encoding of a manifest of DASH, that grows: it is loaded again while its end is not
/// in it (RFC 8216, 6.3.4; ISO/IEC 23009-1, 5.4).
///
/// Thread: the decoder thread. The end of this object ends its transfer.
final class LivePlaylist {
    /// What is loaded again.
    enum Format {
        case playlist
        case manifest(LiveEncoding)
    }

    /// How far behind the end it is begun when it does not say so, in its longest segments (RFC 8216, 6.3.3).
    static let delay = 3.0
    /// What is kept to be played again: five hours of segments of 2 s. Behind that the list would only cost memory.
    static let mostSegments = 10_000
    /// The segment that is decoded, and the one before it, stay.
    private static let fewestPlayed = 2
    /// A server behind the same address may be a little late. One that stays late has begun again.
    private static let mostOlderAnswers = 3

    private let format: Format
    private let requests: ServiceRequests
    private var url: String
    private let clock: any MonotonicClock
    /// The latest ones since the first one that is played.
    private var list: SegmentList
    /// The index of the first segment of each part, and when it begins. It may not be in the list any more. Positions
    /// count from the first one, where playback begins.
    /// A part with an `end` is followed by a gap.
    private var parts: [(index: Int, start: Double, end: Int?)]
    /// From one load to the next, in seconds.
    private var interval: Double
    private var hasGrown = true
    /// In a row.
    private var olderAnswers = 0
    private var loadTime: Int64
    private var reload: PlaylistReload?

    /// - Parameters:
    ///   - list: with at least one segment that is no gap.
    ///   - interval: after which it is loaded again, in seconds.
    ///   - delay: how far behind its end it is begun, in seconds.
    ///   - url: where it is loaded from.
    init(
        _ list: SegmentList, _ format: Format, interval: Double, delay: Double, url: String,
        _ requests: ServiceRequests, clock: any MonotonicClock
    ) {
        self.format = format
        self.requests = requests
        self.url = url
        self.clock = clock
        self.interval = interval
        loadTime = clock.now()
        var seconds = 0.0
        let count = list.segments.reversed().prefix { segment in
            seconds += segment.duration
            return seconds <= delay + SegmentList.tolerance
        }.count
        var latest = list.segments.suffix(max(1, count))
        // A decoder begins with a segment.
        if latest.allSatisfy({ $0.isGap }), let last = list.segments.lastIndex(where: { !$0.isGap }) {
            latest = list.segments[last...]
        }
        latest = latest.drop { $0.isGap }
        self.list = list
        self.list.segments = []
        self.list.firstIndex += list.segments.count - latest.count
        parts = [(self.list.firstIndex, latest.first?.start ?? 0, nil)]
        add(Array(latest), after: nil)
    }

    deinit { reload?.cancel() }

    func segment(_ index: Int) -> SegmentReference? { list.segment(index) }

    /// How many parts are known (docs/playback.md, 15.10). A new one ends the one before.
    var partCount: Int { parts.count }

    func part(_ place: Int) -> LivePart { LivePart(place, of: self) }

    /// Whether no more segments will come for that part.
    func isComplete(_ part: Int) -> Bool { part < parts.count - 1 || list.isComplete }

    /// The indices of the segments of a part, also of those that are not in the list any more.
    func indices(_ part: Int) -> Range<Int> {
        let end = part < parts.count - 1 ? parts[part + 1].index : list.firstIndex + list.segments.count
        return parts[part].index..<(parts[part].end ?? end)
    }

    /// With one run for all segments of that part that are not in the list any more.
    func timeline(_ part: Int) -> SegmentTimeline {
        let indices = indices(part)
        let known = indices.clamped(to: list.firstIndex..<(list.firstIndex + list.segments.count))
        var runs: [SegmentTimeline.Run] = []
        let gone = indices.count - known.count
        let start = parts[part].start
        if gone > 0 {
            let next = part + 1 < parts.count ? parts[part + 1].start : end
            let end = known.isEmpty ? next : list.segments[known.lowerBound - list.firstIndex].start
            runs.append(.init(start: start, duration: max(0, end - start) / Double(gone), count: gone))
        }
        runs += known.map { index in
            let segment = list.segments[index - list.firstIndex]
            return .init(start: segment.start, duration: segment.duration, count: 1)
        }
        return SegmentTimeline(firstIndex: indices.lowerBound, runs: runs, isComplete: isComplete(part))
    }

    /// Whether that segment was in the list, and is not any more.
    func isGone(_ index: Int) -> Bool { index < list.firstIndex }

    /// Whether no more segments will come.
    var isComplete: Bool { list.isComplete }

    /// Takes what has arrived.
    /// - Throws: when the playlist cannot be loaded any more, or has gone on too far.
    func poll() throws(ByteSourceError) {
        guard let result = reload?.result else { return }
        reload = nil
        let content: WholeAnswer.Content
        do throws(ResourceFailure) { content = try result.get() } catch { throw error.byteSourceError }
        switch format {
        case .playlist: try takePlaylist(content)
        case .manifest(let encoding): try takeManifest(content, encoding)
        }
    }

    private func takePlaylist(_ content: WholeAnswer.Content) throws(ByteSourceError) {
        let playlist: MediaPlaylist
        do throws(ManifestError) { playlist = try MediaPlaylist(content.body, url: content.url) } catch {
            throw .integrity(reason: "the live playlist cannot be read")
        }
        interval = playlist.targetDuration
        let new = playlist.segments
        let next = list.firstIndex + list.segments.count
        guard new.firstIndex <= next else { throw .integrity(reason: "the live stream has gone on too far") }
        if !new.segments.isEmpty, new.firstIndex + new.segments.count < next {
            return try takeOlder(new)
        }
        var added = Array(new.segments.dropFirst(next - new.firstIndex))
        // The times of a playlist count from its own beginning.
        var start = end
        for place in added.indices {
            added[place].start = start
            start += added[place].duration
        }
        // As the new playlist has it, if it still does: an address may have another signature each time.
        append(added, after: new.segment(next - 1) ?? list.segments.last, isComplete: new.isComplete)
    }

    /// Segments of a manifest are known by their times: it may number those that it still has from the beginning.
    private func takeManifest(_ content: WholeAnswer.Content, _ encoding: LiveEncoding) throws(ByteSourceError) {
        let manifest: Manifest
        do throws(ManifestError) { manifest = try Manifest(content.body, format: .dash, url: content.url) } catch {
            throw .integrity(reason: "the live manifest cannot be read")
        }
        guard let state = encoding.state(in: manifest) else {
            throw .integrity(reason: "the live manifest does not have any more what is played")
        }
        interval = state.interval
        if let location = state.location { url = location }
        // Its end may be said more exactly each time, so it is the middle that counts.
        if let last = list.segments.last, let newest = state.list.segments.last,
            newest.start + newest.duration / 2 < last.start
        {
            return try takeOlder(state.list)
        }
        let end = self.end
        let known = state.list.segments.prefix { $0.start + $0.duration / 2 < end }.count
        if known == 0, let first = state.list.segments.first, first.start > end + SegmentList.tolerance {
            throw .integrity(reason: "the live stream has gone on too far")
        }
        append(Array(state.list.segments.dropFirst(known)), after: nil, isComplete: state.list.isComplete)
        // What has arrived is played first.
        if !state.isLast, !hasGrown, !list.isComplete {
            throw .integrity(reason: "the live stream goes on in another period")
        }
    }

    /// Of the last segment that is known, in seconds.
    private var end: Double { list.segments.last.map { $0.start + $0.duration } ?? 0 }

    /// Takes a list that ends before what is known ends. It is the one of a late server when its last segment is known,
    /// and otherwise that of an encoder that counts from its beginning again: what is known will not go on.
    private func takeOlder(_ older: SegmentList) throws(ByteSourceError) {
        let newest = older.segments.last?.resource
        olderAnswers += 1
        guard olderAnswers <= Self.mostOlderAnswers || older.isComplete,
            list.segments.contains(where: { $0.resource == newest })
        else { throw .integrity(reason: "the live stream has begun again") }
        hasGrown = false
        list.isComplete = older.isComplete
    }

    /// - Parameter previous: as in `add`.
    private func append(_ added: [SegmentReference], after previous: SegmentReference?, isComplete: Bool) {
        hasGrown = !added.isEmpty
        olderAnswers = 0
        // More is loaded when all that was known has been asked for.
        let played = list.segments.count - Self.fewestPlayed
        add(added, after: previous)
        list.isComplete = isComplete
        let gone = min(list.segments.count - Self.mostSegments, played)
        guard gone > 0 else { return }
        list.segments.removeFirst(gone)
        list.firstIndex += gone
    }

    /// Adds segments, and divides them where a decoder cannot go on.
    /// - Parameter previous: the segment before them; nil when they continue what is there.
    private func add(_ added: [SegmentReference], after previous: SegmentReference?) {
        var previous = previous
        for segment in added {
            let (index, last) = (list.firstIndex + list.segments.count, parts.count - 1)
            if segment.isGap {
                parts[last].end = parts[last].end ?? index
            } else if parts[last].end != nil || previous.map({ !segment.continues($0) }) ?? false {
                parts.append((index, segment.start, nil))
            }
            list.segments.append(segment)
            previous = segment
        }
    }

    /// Calls `wake` once, from any thread, when it makes sense to `poll`: after the playlist was loaded again.
    func whenLoaded(_ wake: @escaping @Sendable () -> Void) {
        if let reload { return reload.whenOver(wake) }
        // A playlist that has not grown is asked for sooner.
        let interval = Int64(max(0.1, min(self.interval * (hasGrown ? 1 : 0.5), 3600)) * 1e9)
        let now = clock.now()
        let delay = max(0, loadTime + interval - now)
        loadTime = now + delay
        var request = TransferRequest.content(url, requests.space)
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
            let transfer = ResourceTransfer(
                request, over: network, continues: false, progress: progress, into: self)
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
