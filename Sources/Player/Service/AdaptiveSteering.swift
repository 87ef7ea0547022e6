import Media
import Platform

/// Carries out what `RepresentationChoice` decides: before each segment the representation that it is fetched of, and
/// while it arrives whether another one takes its place.
///
/// What is fetched is a row of runs. The first one is decoded; each of the others begins where the one before ends.
///
/// Thread: the decoder thread. The owner calls `end` last.
final class AdaptiveSteering {
    /// A representation, and how its transfers are begun.
    struct Encoding {
        /// In bits per second.
        var bandwidth: Int
        /// Whether its codec decodes a packet with the help of the one before.
        var needsLead = true
        /// Whether it is known where its segments are.
        var isReady: () -> Bool = { true }
        /// Whether some address of it has not failed in this session.
        var isInReach: () -> Bool = { true }
        /// Begins to load where its segments are.
        var load: () -> Void = {}
        /// Begins no transfer of a segment yet. Blocks while it is not ready.
        /// - Parameter isOptional: whether another one can be played. It fails when its addresses do.
        var prepare: (_ isOptional: Bool) throws(MediaError) -> PreparedContent
    }

    /// Segments of one representation, one after the other.
    final class Run {
        let place: Int
        let content: PreparedContent
        /// How many of its segments were begun.
        fileprivate(set) var segmentCount: Int
        /// When its first segment was there; nil before, and for the run with which the content begins.
        fileprivate var arrival: Int64?
        /// Whether its transfers are repeated as long as it takes.
        fileprivate var isPatient = false

        fileprivate init(_ place: Int, _ content: PreparedContent, segmentCount: Int = 1) {
            (self.place, self.content, self.segmentCount) = (place, content, segmentCount)
        }

        fileprivate var timeline: SegmentTimeline {
            content.segments?.timeline ?? SegmentTimeline(runs: [], isComplete: true)
        }
    }

    let encodings: [Encoding]
    private let choice: RepresentationChoice
    private let throughput: Throughput
    private let progress: StreamProgress
    private var usable: [Bool]
    /// Those of which no address answers.
    private var isAway: [Bool]
    /// At least one.
    private var runs: [Run]
    /// When the last change was made of which no run is left; nil before the first one.
    private var earlierChange: Int64?

    /// - Parameters:
    ///   - place: of the encoding that is decoded first.
    ///   - content: its content, whose transfers have begun.
    init(
        _ encodings: [Encoding], beginningWith place: Int, _ content: PreparedContent, _ throughput: Throughput,
        _ progress: StreamProgress
    ) {
        self.encodings = encodings
        self.throughput = throughput
        self.progress = progress
        usable = encodings.map { _ in true }
        isAway = encodings.map { _ in false }
        choice = RepresentationChoice(bandwidths: encodings.map { $0.bandwidth })
        runs = [Run(place, content)]
        steer(runs[0])
    }

    /// The run that is decoded.
    var current: Run { runs[0] }
    /// The run that follows it; nil when it goes to its end.
    var next: Run? { runs.count > 1 ? runs[1] : nil }

    /// Whether all of it has arrived.
    var isFetched: Bool { runs[runs.count - 1].content.isFetched }

    /// Ends the decisions. Without it, this object and its contents would keep each other.
    func end() {
        for run in runs { run.content.segments?.steering = nil }
        runs.removeSubrange(1...)
    }

    private func steer(_ run: Run) {
        run.content.segments?.steering = StreamedSegments.Steering(
            decide: { [self] in decide($0, run) }, fetchAhead: fetchAhead, storesAhead: { [self] in storesAhead(run) })
    }

    // MARK: Decisions

    /// Begins the transfers that there is room for, in place of one that takes too long.
    func fetchAhead() {
        for place in encodings.indices where usable[place] { encodings[place].load() }
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
        if place != run.place, follow(run, at: index, with: place) { return .end }
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
        guard
            let place = choice.instead(of: transfer, situation(of: run, segment: arriving.duration, isChange: isChange))
        else { return }
        let moment = run.timeline.start(of: arriving.index)
        // The change is none when nothing of it is played.
        if isChange, let previous, place <= previous.place, let moment {
            segments.giveUp()
            drop(run)
            previous.content.segments?.goOn()
            if place < previous.place, let index = previous.timeline.index(as: moment, in: run.timeline) {
                segmentsEnd(of: previous, at: index, place)
            }
            return
        }
        guard follow(run, at: arriving.index, with: place) else { return }
        segments.giveUp()
        // Nothing of it is played.
        if isChange {
            segments.steering = nil
            runs.remove(at: runs.count - 2)
        }
    }

    /// After a change that was given up: the run before it may be too much for the line, too.
    private func segmentsEnd(of run: Run, at index: Int, _ place: Int) {
        if follow(run, at: index, with: place) { run.content.segments?.end(before: index) }
    }

    private func drop(_ run: Run) {
        run.content.segments?.steering = nil
        runs.removeLast()
    }

    /// Begins a run of another encoding.
    /// - Returns: whether it can be used.
    private func follow(_ run: Run, at index: Int, with place: Int) -> Bool {
        do throws(MediaError) {
            let content = try encodings[place].prepare(true)
            guard let segments = content.segments, let moment = run.timeline.start(of: index),
                let counterpart = segments.timeline.index(as: moment, in: run.timeline)
            else {
                exclude(place)
                return false
            }
            segments.prepare(from: counterpart, lead: encodings[place].needsLead)
            let following = Run(place, content)
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
        // A change that is on its way has not been made yet: the next one is far.
        let change = changes.isEmpty ? earlierChange : changes.last?.arrival ?? throughput.now()
        return RepresentationChoice.Situation(
            current: run.place, line: throughput.bitsPerSecond, mayBeFaster: throughput.mayBeFaster,
            buffered: progress.bufferedSeconds ?? 0, segment: segment,
            sinceChange: change.map { Double(throughput.now() - $0) / 1e9 },
            segments: run.segmentCount, usable: choices(beside: run.place))
    }

    /// Which encodings may be chosen.
    /// - Parameter place: is one of them.
    private func choices(beside place: Int?) -> [Bool] {
        // Where all have failed at some time, that says nothing.
        let isReached = place.map { encodings[$0].isInReach() } ?? false
        return encodings.indices.map {
            $0 == place
                || usable[$0] && !isAway[$0] && encodings[$0].isReady()
                    && (!isReached || encodings[$0].isInReach())
        }
    }

    // MARK: From the decoder

    /// No address of the current run answers: another encoding follows at a moment of the content, or the same one, and
    /// then as long as it takes.
    /// - Returns: false when there is only one.
    func replaceCurrent(at seconds: Double) throws(MediaError) -> Bool {
        guard encodings.count > 1, !current.isPatient else { return false }
        isAway[current.place] = true
        let others = choices(beside: nil)
        let isPatient = !others.contains(true)
        if isPatient { isAway = encodings.map { _ in false } }
        let place = isPatient ? current.place : choice.first(line: throughput.bitsPerSecond, usable: others)
        let content = try encodings[place].prepare(!isPatient)
        guard let segments = content.segments else { return false }
        let timeline = segments.timeline
        let begin = timeline.start(of: timeline.firstIndex) ?? 0
        guard let index = timeline.index(at: begin + seconds) else { return false }
        Log.notice("an encoding of the content cannot be reached, \(isPatient ? "it" : "another one") is tried")
        segments.prepare(from: index, lead: encodings[place].needsLead)
        forgetNext()
        let run = Run(place, content)
        run.isPatient = isPatient
        steer(run)
        runs.append(run)
        return true
    }

    /// The run that follows is decoded from now on.
    func takeNext() -> Run? {
        guard let next else { return nil }
        earlierChange = next.arrival ?? throughput.now()
        runs[0].content.segments?.steering = nil
        runs.removeFirst()
        return next
    }

    /// The current run goes to its end, whatever was to follow.
    func forgetNext() {
        for run in runs.dropFirst() { run.content.segments?.steering = nil }
        runs.removeSubrange(1...)
        runs[0].content.segments?.goOn()
    }

    /// The run that follows cannot be used, nor can its encoding later: the current one goes on.
    /// - Parameter isAway: whether it cannot be reached. It is chosen again when nothing else can be.
    func excludeNext(isAway: Bool = false) {
        if let next {
            if isAway { self.isAway[next.place] = true } else { exclude(next.place) }
        }
        forgetNext()
    }

    /// This encoding cannot be used.
    func exclude(_ place: Int) { usable[place] = false }
}

extension SegmentTimeline {
    /// The segment here that is played at a moment of another timeline; both have the same first moment.
    fileprivate func index(as moment: Double, in other: SegmentTimeline) -> Int? {
        guard let begin = start(of: firstIndex), let otherBegin = other.start(of: other.firstIndex) else { return nil }
        // A little later: times are rounded.
        return index(at: begin + moment - otherBegin + SegmentList.tolerance)
    }

    /// The length of a segment, in seconds.
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
