import Fetching
import Manifests
import Media
import Platform

/// Carries out the decisions of `RepresentationChoice`: which representation to fetch the next segment from, and
/// whether to replace one whose segment is still arriving.
///
/// The fetched segments form a sequence of runs. The first run is decoded; each of the others begins where the one
/// before it ends.
///
/// Thread: the decoder thread. The owner calls `end` last.
final class AdaptiveSteering {
    /// A representation, and the functions that begin its transfers.
    struct Candidate {
        /// The bandwidth in bits per second.
        var bandwidth: Int
        /// Whether its codec needs the previous packet to decode a packet.
        var needsLead = true
        /// Whether the addresses of its segments are known.
        var isReady: () -> Bool = { true }
        /// Whether at least one of its addresses has not failed in this session.
        var isInReach: () -> Bool = { true }
        /// Begins to load the addresses of its segments.
        var load: () -> Void = {}
        /// Prepares the content without beginning a transfer of a segment. Blocks until it is ready.
        /// - Parameter patience: how long to retry its addresses before failing.
        var prepare: (_ patience: Patience) throws(MediaError) -> PreparedContent
    }

    /// Segments of one representation, one after the other.
    final class Run {
        let place: Int
        let content: PreparedContent
        /// How many of its segments have been requested.
        fileprivate(set) var segmentCount: Int
        /// When its first segment had arrived, in nanoseconds; nil before, and for the first run of the content.
        fileprivate var arrival: Int64?
        /// Whether it was chosen below what the line carries, because the buffer was small.
        fileprivate var isBridge = false

        fileprivate init(_ place: Int, _ content: PreparedContent, segmentCount: Int = 1) {
            (self.place, self.content, self.segmentCount) = (place, content, segmentCount)
        }

        fileprivate var timeline: SegmentTimeline {
            content.segments?.timeline ?? SegmentTimeline(runs: [], isComplete: true)
        }
    }

    let candidates: [Candidate]
    private let choice: RepresentationChoice
    private let throughput: Throughput
    private let progress: StreamProgress
    private var usable: [Bool]
    /// The errors of representations of which no address answers; nil for the others.
    private var failures: [MediaError?]
    /// The index of the representation that failed last.
    private var lastFailed: Int?
    /// The patience with the representation that replaces a failed one.
    private var patience: Patience
    /// The runs in order; at least one.
    private var runs: [Run]
    /// The time of the change to the current run, in nanoseconds; nil before the first change.
    private var earlierChange: Int64?

    /// - Parameters:
    ///   - place: the index of the representation that is decoded first.
    ///   - content: its content, whose transfers have begun.
    init(
        _ candidates: [Candidate], beginningWith place: Int, _ content: PreparedContent, _ throughput: Throughput,
        _ progress: StreamProgress
    ) {
        self.candidates = candidates
        self.throughput = throughput
        self.progress = progress
        usable = candidates.map { _ in true }
        failures = candidates.map { _ in nil }
        patience = .first(of: candidates.count)
        choice = RepresentationChoice(bandwidths: candidates.map { $0.bandwidth })
        runs = [Run(place, content)]
        steer(runs[0])
    }

    /// The run that is decoded.
    var current: Run { runs[0] }
    /// The run after it; nil when the current run continues to its end.
    var next: Run? { runs.count > 1 ? runs[1] : nil }

    /// Whether the whole part has arrived.
    var isFetched: Bool { runs[runs.count - 1].content.isFetched }

    /// Ends the decisions. Without this call, this object and its contents would retain each other.
    func end() {
        for run in runs { run.content.segments?.steering = nil }
        runs.removeSubrange(1...)
    }

    private func steer(_ run: Run) {
        run.content.segments?.steering = StreamedSegments.Steering(
            decide: { [self] in decide($0, run) }, fetchAhead: fetchAhead, storesAhead: { [self] in storesAhead(run) })
    }

    // MARK: Decisions

    /// Begins the transfers that there is room for, and replaces one that takes too long.
    func fetchAhead() {
        for place in candidates.indices where usable[place] { candidates[place].load() }
        let last = runs[runs.count - 1]
        if last.arrival == nil, runs.count > 1, last.content.segments?.hasArrived ?? true {
            last.arrival = throughput.now()
        }
        giveUpLateTransfer()
        runs[runs.count - 1].content.fetchAhead()
    }

    private func decide(_ index: Int, _ run: Run) -> StreamedSegments.Decision {
        guard run === runs[runs.count - 1] else { return .end }
        let now = situation(of: run, segment: run.timeline.duration(of: index) ?? 0)
        guard choice.fetchesAhead(now) else { return .wait }
        let place = choice.next(now)
        if place != run.place, follow(run, at: index, with: place, choice.isBridge(place, now)) { return .end }
        run.segmentCount += 1
        return .fetch
    }

    private func storesAhead(_ run: Run) -> Bool {
        guard run === runs[runs.count - 1] else { return false }
        let now = situation(of: run, segment: 0)
        return choice.fetchesAhead(now) && choice.next(now) == run.place
    }

    private func giveUpLateTransfer() {
        let run = runs[runs.count - 1]
        guard let segments = run.content.segments, let arriving = segments.arriving else { return }
        let previous = runs.count > 1 ? runs[runs.count - 2] : nil
        let isChange = arriving.isFirst && previous != nil && run.arrival == nil
        let transfer = RepresentationChoice.Transfer(
            bytesLeft: arriving.bytesLeft, changedFrom: isChange ? previous?.place : nil)
        let now = situation(of: run, segment: arriving.duration, isChange: isChange)
        guard let place = choice.instead(of: transfer, now) else { return }
        let isBridge = choice.isBridge(place, now)
        let moment = run.timeline.start(of: arriving.index)
        // Undo the change: nothing of the new representation was played.
        if isChange, let previous, place <= previous.place, let moment {
            segments.giveUp()
            drop(run)
            previous.content.segments?.proceed()
            if place < previous.place, let index = previous.timeline.index(as: moment, in: run.timeline) {
                segmentsEnd(of: previous, at: index, place, isBridge)
            }
            return
        }
        guard follow(run, at: arriving.index, with: place, isBridge) else { return }
        segments.giveUp()
        // The run that was given up is not played at all.
        if isChange {
            segments.steering = nil
            runs.remove(at: runs.count - 2)
        }
    }

    /// Ends `run` before a segment after an undone change: the link may be too slow for its representation, too.
    private func segmentsEnd(of run: Run, at index: Int, _ place: Int, _ isBridge: Bool) {
        if follow(run, at: index, with: place, isBridge) { run.content.segments?.end(before: index) }
    }

    private func drop(_ run: Run) {
        run.content.segments?.steering = nil
        runs.removeLast()
    }

    /// Begins a run of another representation.
    /// - Returns: whether that representation can be used.
    private func follow(_ run: Run, at index: Int, with place: Int, _ isBridge: Bool) -> Bool {
        do throws(MediaError) {
            let content = try candidates[place].prepare(.rounds(0))
            guard let segments = content.segments, let moment = run.timeline.start(of: index),
                let counterpart = segments.timeline.index(as: moment, in: run.timeline)
            else {
                exclude(place)
                return false
            }
            segments.prepare(from: counterpart, lead: candidates[place].needsLead)
            let following = Run(place, content)
            following.isBridge = isBridge
            steer(following)
            runs.append(following)
            return true
        } catch {
            exclude(place)
            return false
        }
    }

    private func situation(
        of run: Run, segment: Double, isChange: Bool = false
    ) -> RepresentationChoice.Situation {
        let changes = runs.dropFirst().dropLast(isChange ? 1 : 0)
        // A change whose first segment is still arriving counts as made now: the next change is a long time away.
        let change = changes.isEmpty ? earlierChange : changes.last?.arrival ?? throughput.now()
        return RepresentationChoice.Situation(
            current: run.place, line: throughput.bitsPerSecond, mayBeFaster: throughput.mayBeFaster,
            buffered: progress.bufferedSeconds ?? 0, segment: segment,
            sinceChange: change.map { Double(throughput.now() - $0) / 1e9 },
            segments: run.segmentCount, isBridge: run.isBridge, usable: choices(beside: run.place))
    }

    /// Returns which representations may be chosen.
    /// - Parameter place: the current representation, which may always be chosen; nil for none.
    private func choices(beside place: Int?) -> [Bool] {
        // When even the current representation is out of reach, earlier failures of addresses exclude no other one.
        let isReached = place.map { candidates[$0].isInReach() } ?? false
        return candidates.indices.map {
            $0 == place
                || usable[$0] && failures[$0] == nil && candidates[$0].isReady()
                    && (!isReached || candidates[$0].isInReach())
        }
    }

    // MARK: From the decoder

    /// Records that no address of the current run answers.
    /// - Parameter hasPlayed: whether anything was decoded since the last failure.
    func currentFailed(_ error: MediaError, hasPlayed: Bool) {
        if hasPlayed { patience = .first(of: candidates.count) }
        fail(current.place, error)
    }

    /// Makes a run of another representation follow the current run, at a moment of the content. After a round through
    /// all representations it may be the same one again.
    /// - Returns: false when there is only one representation, or when all have been tried often enough.
    func replaceCurrent(at seconds: Double) throws(MediaError) -> Bool {
        guard candidates.count > 1 else { return false }
        while let place = nextAfterFailure() {
            do throws(MediaError) {
                let content = try candidates[place].prepare(patience)
                guard let segments = content.segments, let index = segments.timeline.index(after: seconds) else {
                    exclude(place)
                    continue
                }
                Log.notice("a representation of the content cannot be reached, another one is tried")
                segments.prepare(from: index, lead: candidates[place].needsLead)
                forgetNext()
                let run = Run(place, content)
                steer(run)
                runs.append(run)
                return true
            } catch {
                if error == .source(.cancelled) { throw error }
                fail(place, error)
            }
        }
        return false
    }

    /// Returns the index of the representation to try after a failure; nil when none is left.
    private func nextAfterFailure() -> Int? {
        var left = choices(beside: nil)
        if !left.contains(true) {
            let away = failures.indices.compactMap { usable[$0] ? failures[$0] : nil }
            guard let next = patience.next(after: away) else { return nil }
            patience = next
            failures = candidates.map { _ in nil }
            left = choices(beside: nil)
            // The last representation of a round is not the first one of the next round.
            if let lastFailed, left.filter({ $0 }).count > 1 { left[lastFailed] = false }
        }
        guard left.contains(true) else { return nil }
        return choice.first(line: throughput.bitsPerSecond, usable: left)
    }

    private func fail(_ place: Int, _ error: MediaError) {
        if error.isOfAddress { failures[place] = error } else { exclude(place) }
        lastFailed = place
    }

    /// Makes the next run the current one, and returns it.
    func takeNext() -> Run? {
        guard let next else { return nil }
        earlierChange = next.arrival ?? throughput.now()
        runs[0].content.segments?.steering = nil
        runs.removeFirst()
        return next
    }

    /// Drops the runs after the current one, which then continues to its end.
    func forgetNext() {
        for run in runs.dropFirst() { run.content.segments?.steering = nil }
        runs.removeSubrange(1...)
        runs[0].content.segments?.proceed()
    }

    /// Excludes the representation of the next run, and continues the current run.
    /// - Parameter error: the reason; nil when the device cannot play it. A representation that cannot be reached is
    ///   chosen again when no other one is left.
    func excludeNext(after error: MediaError?) {
        if let next {
            if let error { fail(next.place, error) } else { exclude(next.place) }
        }
        forgetNext()
    }

    /// Excludes a representation that cannot be used.
    func exclude(_ place: Int) { usable[place] = false }
}

extension SegmentTimeline {
    /// Returns the segment that is played `seconds` after the beginning.
    fileprivate func index(after seconds: Double) -> Int? { index(at: (start(of: firstIndex) ?? 0) + seconds) }

    /// Returns the segment of this timeline for a moment of another timeline; both begin at the same moment of the
    /// content.
    fileprivate func index(as moment: Double, in other: SegmentTimeline) -> Int? {
        guard let begin = start(of: firstIndex), let otherBegin = other.start(of: other.firstIndex) else { return nil }
        // Slightly later, because times are rounded.
        return index(at: begin + moment - otherBegin + SegmentList.tolerance)
    }

    /// Returns the length of a segment in seconds.
    fileprivate func duration(of index: Int) -> Double? {
        var rest = index - firstIndex
        guard rest >= 0 else { return nil }
        for run in runs {
            if rest < run.count { return run.duration }
            rest -= run.count
        }
        return nil
    }
}
