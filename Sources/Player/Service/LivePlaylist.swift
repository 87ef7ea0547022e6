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
    /// Segments that can be played again: five hours of 2 s. More would only cost memory.
    static let mostSegments = 10_000
    /// The segment that is decoded, and the one before it, stay.
    private static let fewestPlayed = 2
    /// A server behind the same address may be a little late. One that stays late has begun again.
    private static let mostOlderAnswers = 3

    private let format: Format
    private let requests: ServiceRequests
    private var url: String
    /// As those of its representation.
    private let bases: [String]
    private let clock: any MonotonicClock
    /// Positions count from the first one, where playback begins.
    private(set) var parts: LiveParts
    /// From one load to the next, in seconds.
    private var interval: Double
    /// In seconds: the duration by which a late segment is measured.
    let targetDuration: Double
    private var hasGrown = true
    /// In a row.
    private var olderAnswers = 0
    private var losses = LiveLosses()
    private var loadTime: Int64
    private var reload: LiveReload?
    /// Why the last load has brought nothing; nil when it has.
    private var loadFailure: ResourceFailure?
    private var failure: MediaError?
    /// In milliseconds.
    private var firstByteTimeout: Int
    private let progressID: Int

    private static let longestFirstByteTimeout = 120_000

    /// - Parameters:
    ///   - list: with at least one segment that is no gap.
    ///   - interval: after which it is loaded again, in seconds.
    ///   - targetDuration: of its segments, in seconds; nil: the interval.
    ///   - delay: how far before its end it begins, in seconds.
    ///   - url: where it is loaded from.
    ///   - bases: of its representation.
    init(
        _ list: SegmentList, _ format: Format, interval: Double, targetDuration: Double? = nil, delay: Double,
        url: String, bases: [String] = [], _ requests: ServiceRequests, clock: any MonotonicClock
    ) {
        self.format = format
        self.requests = requests
        self.url = url
        self.bases = bases
        self.clock = clock
        self.interval = interval
        self.targetDuration = targetDuration ?? interval
        loadTime = clock.now()
        parts = LiveParts(list, delay: delay)
        firstByteTimeout = LivePatience(targetDuration: self.targetDuration).firstByteTimeout
        progressID = requests.medium.stream.newID()
    }

    deinit {
        reload?.cancel()
        requests.medium.stream.goesOn(progressID)
    }

    func segment(_ index: Int) -> SegmentReference? { parts.list.segment(index) }

    /// How many parts are known (docs/playback.md, 15.10).
    var partCount: Int { parts.count }

    func part(_ place: Int) -> LivePart { LivePart(parts.index(ofPart: place), of: self) }

    /// The part after one; nil while there is none.
    func part(after part: LivePart) -> LivePart? { parts.part(after: part.index).map { LivePart($0, of: self) } }

    /// Whether that segment was in the list, and is not any more.
    func isGone(_ index: Int) -> Bool { index < parts.list.firstIndex }

    /// Whether no more segments will come.
    var isComplete: Bool { parts.isComplete }

    // MARK: Losses

    /// Counts a segment that cannot be had as a gap.
    func lose(_ index: Int, after error: MediaError) {
        guard parts.lose(index) else { return }
        Log.warning("a segment of the live stream is left out: it does not come, or is no audio")
        if let reason = losses.lost(after: error) { failure = reason }
    }

    /// The reason to begin a new session; nil without one. It is reported once.
    func takeFailure() -> MediaError? {
        defer { failure = nil }
        return failure
    }

    /// The stream cannot go on from what is known.
    /// - Returns: true.
    @discardableResult
    func fail(_ reason: String) -> Bool {
        failure = .source(.integrity(reason: "live stream: \(reason)"))
        return true
    }

    /// Something was decoded.
    func heard() { losses.heard() }

    // MARK: Loads

    /// Takes what has arrived. A load that has failed is repeated, however often.
    /// - Throws: in offline mode.
    func poll() throws(ByteSourceError) {
        guard let reload, let result = reload.result else { return }
        self.reload = nil
        let content: WholeAnswer.Content
        do throws(ResourceFailure) { content = try result.get() } catch {
            guard error.byteSourceError.isOfLiveAnswer else { throw error.byteSourceError }
            if error == .changed { reload.addresses.turnAway(from: nil) }
            return failed(error)
        }
        let isTaken: Bool
        switch format {
        case .playlist: isTaken = takePlaylist(content)
        case .manifest(let encoding): isTaken = takeManifest(content, encoding)
        }
        guard isTaken else {
            reload.addresses.turnAway(from: content.url)
            return failed(.changed)
        }
        loadFailure = nil
        requests.medium.stream.goesOn(progressID)
    }

    private func failed(_ failure: ResourceFailure) {
        if failure == .transfer(.timeOut(.firstByte)) {
            firstByteTimeout = min(2 * firstByteTimeout, Self.longestFirstByteTimeout)
        }
        if loadFailure == nil { Log.warning("the playlist of the live stream cannot be loaded. It is retried.") }
        loadFailure = failure
        hasGrown = false
        loadTime = clock.now()
    }

    /// - Returns: false for an answer that is no playlist.
    private func takePlaylist(_ content: WholeAnswer.Content) -> Bool {
        guard let playlist = try? MediaPlaylist(content.body, url: content.url) else { return false }
        let new = playlist.segments
        if new.segments.isEmpty, !new.isComplete { return false }
        interval = playlist.targetDuration
        let next = parts.endIndex
        guard new.firstIndex <= next else { return fail(Self.tooFar) }
        if new.firstIndex + new.segments.count < next { return takeOlder(new) }
        var added = Array(new.segments.dropFirst(next - new.firstIndex))
        // The times of a playlist count from its own beginning.
        var start = parts.end
        for place in added.indices {
            added[place].start = start
            start += added[place].duration
        }
        // As the new playlist has it, if it still does: an address may have another signature each time.
        append(added, after: new.segment(next - 1) ?? parts.list.segments.last, isComplete: new.isComplete)
        return true
    }

    /// Segments of a manifest are known by their times: it may number those that it still has from the beginning.
    /// - Returns: false for an answer that is no manifest.
    private func takeManifest(_ content: WholeAnswer.Content, _ encoding: LiveEncoding) -> Bool {
        guard let manifest = try? Manifest(content.body, format: .dash, url: content.url) else { return false }
        guard let state = encoding.state(in: manifest) else {
            return fail("its manifest does not have any more what is played")
        }
        interval = state.interval
        if let location = state.location { url = location }
        // Its end may be said more exactly each time, so it is the middle that counts.
        if let last = parts.list.segments.last, let newest = state.list.segments.last,
            newest.start + newest.duration / 2 < last.start
        {
            return takeOlder(state.list)
        }
        let end = parts.end
        let known = state.list.segments.prefix { $0.start + $0.duration / 2 < end }.count
        if known == 0, let first = state.list.segments.first, first.start > end + SegmentList.tolerance {
            return fail(Self.tooFar)
        }
        append(Array(state.list.segments.dropFirst(known)), after: nil, isComplete: state.list.isComplete)
        // What has arrived is played first.
        if !state.isLast, !hasGrown, !parts.isComplete {
            return fail("it goes on in another period")
        }
        return true
    }

    static let tooFar = "the next segment has left the playlist"

    /// Takes a list that ends before what is known ends. It is the one of a late server when its last segment is known,
    /// and otherwise that of an encoder that counts from its beginning again: what is known will not go on.
    private func takeOlder(_ older: SegmentList) -> Bool {
        let newest = older.segments.last?.resource
        // The late server may be another host.
        let addresses = newest.map { Alternatives($0.url, bases: bases).addresses } ?? []
        olderAnswers += 1
        guard olderAnswers <= Self.mostOlderAnswers || older.isComplete,
            parts.list.segments.contains(where: { known in
                known.resource.range == newest?.range
                    && addresses.contains { $0.url.utf8.elementsEqual(known.resource.url.utf8) }
            })
        else { return fail("it has begun again") }
        hasGrown = false
        parts.isComplete = older.isComplete
        return true
    }

    /// - Parameter previous: as in `LiveParts.add`.
    private func append(_ added: [SegmentReference], after previous: SegmentReference?, isComplete: Bool) {
        hasGrown = !added.isEmpty
        olderAnswers = 0
        // More is loaded when all that was known has been asked for.
        let played = parts.list.segments.count - Self.fewestPlayed
        parts.add(added, after: previous)
        parts.isComplete = isComplete
        let gone = min(parts.list.segments.count - Self.mostSegments, played)
        if gone > 0 { parts.forget(gone) }
    }

    /// Calls `wake` once, from any thread, when it makes sense to `poll`: after the playlist was loaded again.
    func whenLoaded(_ wake: @escaping @Sendable () -> Void) {
        if let reload { return reload.whenOver(wake) }
        let now = clock.now()
        let delay = max(0, loadTime + pace - now)
        loadTime = now + delay
        if let failure = loadFailure {
            let reason: RetrySchedule.Failure = failure.isOfNetwork ? .network : .server(retryAfter: nil)
            requests.medium.stream.willRetry(progressID, after: reason, delay: delay)
        }
        var request = TransferRequest.content(url, requests.space)
        request.headers.append(HeaderField("Cache-Control", "no-cache"))
        request.maximumBody = Int64(ServiceRequests.longestAnswer)
        request.firstByteTimeout = firstByteTimeout
        let addresses = ResourceAddresses(Alternatives(url, bases: bases), failed: requests.failed)
        let reload = LiveReload(
            request, at: addresses, requests, after: delay, wantsLink: loadFailure?.isOfNetwork ?? false)
        self.reload = reload
        reload.whenOver(wake)
    }

    /// Nanoseconds from one load to the next. A playlist that has not grown is loaded sooner, and so is one that could
    /// not be loaded.
    private var pace: Int64 {
        if loadFailure != nil { return LivePatience(targetDuration: targetDuration).pace }
        return Int64(max(0.1, min(interval * (hasGrown ? 1 : 0.5), 3600)) * 1e9)
    }
}

extension ResourceFailure {
    fileprivate var isOfNetwork: Bool { if case .transfer(let error) = self { error.isOfNetwork } else { false } }
}
