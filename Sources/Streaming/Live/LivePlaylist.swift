import Fetching
import Manifests
import Media
import Network
import Platform
import Playback

/// A growing HLS media playlist, or a growing representation of a DASH manifest. It is loaded again as long as it has
/// no end (RFC 8216, 6.3.4; ISO/IEC 23009-1, 5.4).
///
/// Thread: the decoder thread. Deinitialisation cancels the transfer.
final class LivePlaylist {
    /// The kind of document that is loaded again.
    enum Format {
        case playlist
        case manifest(LiveRepresentation)
    }

    /// How far before the end playback begins by default, as a multiple of the longest segment (RFC 8216, 6.3.3).
    static let delay = 3.0
    /// The number of segments that stay available for a seek: five hours of 2 s each. More would cost memory for little
    /// use.
    static let mostSegments = 10_000
    /// The segment that is being decoded and the one before it are never forgotten.
    private static let fewestPlayed = 2
    /// A server at the same address may be slightly late. After more older answers than this, the stream has begun
    /// again.
    private static let mostOlderAnswers = 3

    /// The reasons to doubt the latest answers.
    private struct Doubts {
        /// The index of the first segment of the first answer. Playback may begin later.
        let firstIndex: Int
        /// The number of consecutive older answers.
        var olderAnswers = 0
        /// The last segment of the answer before, if the answer may have been cut off inside it.
        var openEnd: String?

        /// Returns the segments of an answer. Its last one is left out if it may be cut off, unless the answer before
        /// ended with the same.
        mutating func segments(of playlist: MediaPlaylist) -> SegmentList {
            let isRepeated = playlist.openEnd.map { $0.utf8.elementsEqual((openEnd ?? "").utf8) } ?? false
            openEnd = playlist.openEnd
            return isRepeated ? playlist.segments : playlist.certainSegments
        }

        /// Returns whether an older answer cannot be compared with the known segments. It was cut off before the first
        /// of them, or inside its only address.
        func isIncomparable(_ older: SegmentList, known: SegmentList) -> Bool {
            let isBefore = older.firstIndex >= firstIndex && older.firstIndex + older.segments.count <= known.firstIndex
            return isBefore || openEnd != nil && older.segments.count == 1
        }
    }

    private let format: Format
    private let requests: ServiceRequests
    private var url: String
    /// The base addresses of its representation.
    private let bases: [String]
    private let clock: any MonotonicClock
    /// Positions count from the first segment of these parts, where playback begins.
    private(set) var parts: LiveParts
    private var pace: PlaylistPace
    /// The duration by which a late segment is measured, in seconds.
    let targetDuration: Double
    private var doubts: Doubts
    private var losses = LiveLosses()
    private var reload: LiveReload?
    private var failure: MediaError?
    private let progressID: Int

    /// - Parameters:
    ///   - list: with at least one segment that is not a gap.
    ///   - interval: the time to the next load, in seconds.
    ///   - targetDuration: the target duration of its segments, in seconds; nil for `interval`.
    ///   - delay: how far before its end playback begins, in seconds.
    ///   - url: the address that it is loaded from.
    ///   - bases: the base addresses of its representation.
    init(
        _ list: SegmentList, _ format: Format, interval: Double, targetDuration: Double? = nil, delay: Double,
        url: String, bases: [String] = [], _ requests: ServiceRequests, clock: any MonotonicClock
    ) {
        self.format = format
        self.requests = requests
        self.url = url
        self.bases = bases
        self.clock = clock
        self.targetDuration = targetDuration ?? interval
        pace = PlaylistPace(interval: interval, LivePatience(targetDuration: self.targetDuration), at: clock.now())
        parts = LiveParts(list, delay: delay)
        doubts = Doubts(firstIndex: list.firstIndex)
        progressID = requests.medium.stream.newID()
    }

    deinit {
        reload?.cancel()
        requests.medium.stream.proceeds(progressID)
    }

    func segment(_ index: Int) -> SegmentReference? { parts.list.segment(index) }

    func part(_ place: Int) -> LivePart { LivePart(parts.index(ofPart: place), of: self) }

    /// Returns the part after another one; nil while there is none.
    func part(after part: LivePart) -> LivePart? { parts.part(after: part.index).map { LivePart($0, of: self) } }

    /// Returns whether the segment was in the list and has been forgotten.
    func isGone(_ index: Int) -> Bool { index < parts.list.firstIndex }

    /// Whether no more segments will come.
    var isComplete: Bool { parts.isComplete }

    // MARK: Losses

    /// Counts a segment that cannot be fetched or decoded as a gap.
    func lose(_ index: Int, after error: MediaError) {
        guard parts.lose(index) else { return }
        Log.warning("a segment of the live stream is left out: it does not come, or is no audio")
        if let reason = losses.lost(after: error) { failure = reason }
    }

    /// Returns the reason to begin a new session and forgets it; nil without a reason.
    func takeFailure() -> MediaError? {
        defer { failure = nil }
        return failure
    }

    /// Records that the stream cannot continue with the known segments.
    /// - Returns: true.
    @discardableResult
    func fail(_ reason: String) -> Bool {
        failure = .source(.integrity(reason: "live stream: \(reason)"))
        return true
    }

    /// Counts decoded audio.
    func heard() { losses.heard() }

    // MARK: Loads

    /// Handles the result of a load that has ended. A failed load is repeated without limit.
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
        case .manifest(let representation): isTaken = takeManifest(content, representation)
        }
        guard isTaken else {
            reload.addresses.turnAway(from: content.url)
            return failed(.changed)
        }
        pace.succeeded()
        requests.medium.stream.proceeds(progressID)
    }

    private func failed(_ failure: ResourceFailure) {
        if pace.failure == nil { Log.warning("the playlist of the live stream cannot be loaded. It is retried.") }
        pace.failed(failure, at: clock.now())
    }

    /// - Returns: false for an answer that is not a playlist.
    private func takePlaylist(_ content: WholeAnswer.Content) -> Bool {
        guard let playlist = try? MediaPlaylist(content.body, url: content.url) else { return false }
        let new = doubts.segments(of: playlist)
        if new.segments.isEmpty, !new.isComplete { return false }
        pace.interval = playlist.targetDuration
        let next = parts.endIndex
        guard new.firstIndex <= next else { return fail(Self.tooFar) }
        if new.firstIndex + new.segments.count < next {
            return takeOlder(new, isIncomparable: doubts.isIncomparable(new, known: parts.list))
        }
        var added = Array(new.segments.dropFirst(next - new.firstIndex))
        // The times of each playlist count from its own beginning.
        var start = parts.end
        for place in added.indices {
            added[place].start = start
            start += added[place].duration
        }
        // The new playlist's entry for the previous segment, if it still has one: addresses may be signed anew each
        // time.
        append(added, after: new.segment(next - 1) ?? parts.list.segments.last, isComplete: new.isComplete)
        return true
    }

    /// Segments of a manifest are recognised by their times, because the manifest may renumber its remaining segments.
    /// - Returns: false for an answer that is not a manifest.
    private func takeManifest(_ content: WholeAnswer.Content, _ representation: LiveRepresentation) -> Bool {
        guard let manifest = try? Manifest(content.body, format: .dash, url: content.url) else { return false }
        guard let state = representation.state(in: manifest) else {
            return fail("its manifest does not have any more what is played")
        }
        pace.interval = state.interval
        if let location = state.location { url = location }
        // Compares the middles of segments, because later manifests may give their ends more exactly.
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
        // Segments that have arrived are played first.
        if !state.isLast, !pace.hasGrown, !parts.isComplete {
            return fail("it goes on in another period")
        }
        return true
    }

    static let tooFar = "the next segment has left the playlist"

    /// Handles a list that ends before the known segments end. If its last segment is known, the list comes from a late
    /// server. Otherwise the encoder has begun counting again, and the known segments will have no successor.
    /// - Parameter isIncomparable: whether its last segment says nothing.
    private func takeOlder(_ older: SegmentList, isIncomparable: Bool = false) -> Bool {
        let newest = older.segments.last?.resource
        // The late server may be on another host.
        let addresses = newest.map { Alternatives($0.url, bases: bases).addresses } ?? []
        doubts.olderAnswers += 1
        guard doubts.olderAnswers <= Self.mostOlderAnswers || older.isComplete,
            isIncomparable
                || parts.list.segments.contains(where: { known in
                    known.resource.range == newest?.range
                        && addresses.contains { $0.url.utf8.elementsEqual(known.resource.url.utf8) }
                })
        else { return fail("it has begun again") }
        pace.hasGrown = false
        parts.isComplete = older.isComplete
        return true
    }

    /// - Parameter previous: as in `LiveParts.add`.
    private func append(_ added: [SegmentReference], after previous: SegmentReference?, isComplete: Bool) {
        pace.hasGrown = !added.isEmpty
        doubts.olderAnswers = 0
        // More is loaded only when all known segments have been requested.
        let played = parts.list.segments.count - Self.fewestPlayed
        parts.add(added, after: previous)
        parts.isComplete = isComplete
        let gone = min(parts.list.segments.count - Self.mostSegments, played)
        if gone > 0 { parts.forget(gone) }
    }

    /// Calls `wake` once, on any thread, after the playlist was loaded again: then `poll` has something to handle.
    func whenLoaded(_ wake: @escaping @Sendable () -> Void) {
        if let reload { return reload.whenOver(wake) }
        let delay = pace.next(at: clock.now())
        if let failure = pace.failure {
            let reason: RetrySchedule.Failure = failure.isOfNetwork ? .network : .server(retryAfter: nil)
            requests.medium.stream.willRetry(progressID, after: reason, delay: delay)
        }
        var request = TransferRequest.content(url, requests.space)
        request.headers.append(HeaderField("Cache-Control", "no-cache"))
        request.maximumBody = Int64(ServiceRequests.longestAnswer)
        request.live(longestSilence: pace.longestSilence)
        let addresses = ResourceAddresses(Alternatives(url, bases: bases), failed: requests.failed)
        let reload = LiveReload(
            request, at: addresses, requests, after: delay, wantsLink: pace.failure?.isOfNetwork ?? false)
        self.reload = reload
        reload.whenOver(wake)
    }
}

extension ResourceFailure {
    fileprivate var isOfNetwork: Bool { if case .transfer(let error) = self { error.isOfNetwork } else { false } }
}
