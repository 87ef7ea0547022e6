import Media

/// Decides before each segment whether another encoding is fetched from there on, and begins its transfers.
///
/// Thread: the decoder thread.
final class AdaptiveSteering {
    /// An encoding, and how its transfers are begun.
    struct Encoding {
        /// In bits per second.
        var bandwidth: Int
        /// Begins no transfer of a segment yet.
        var prepare: () throws(MediaError) -> PreparedContent
    }

    /// The encoding that follows at the next boundary, and its place.
    typealias Following = (place: Int, content: PreparedContent)

    let encodings: [Encoding]
    private let choice: AdaptiveChoice
    private let throughput: Throughput
    private let progress: StreamProgress
    private var usable: [Bool]
    /// The place of the encoding that is decoded.
    private(set) var current: Int
    /// Of that encoding.
    private var timeline: SegmentTimeline
    /// Whether its codec decodes a packet with the help of the one before.
    var needsLead = false
    private(set) var next: Following?

    init(
        _ encodings: [Encoding], current: Int, _ timeline: SegmentTimeline, _ throughput: Throughput,
        _ progress: StreamProgress
    ) {
        self.encodings = encodings
        self.current = current
        self.timeline = timeline
        self.throughput = throughput
        self.progress = progress
        usable = encodings.map { _ in true }
        choice = AdaptiveChoice(bandwidths: encodings.map { $0.bandwidth })
    }

    /// Decides about the next segment to fetch.
    /// - Returns: whether it is one of the current encoding.
    func stays(for index: Int) -> Bool {
        let place = choice.next(
            current: current, throughput: throughput.bitsPerSecond, buffered: progress.bufferedSeconds ?? 0,
            usable: usable)
        guard place != current, next == nil else { return true }
        do throws(MediaError) {
            let other = try encodings[place].prepare()
            guard let segments = other.segments,
                let counterpart = segments.timeline.counterpart(of: index, in: timeline)
            else {
                exclude(place)
                return true
            }
            segments.prepare(from: counterpart, lead: needsLead)
            next = (place, other)
            return false
        } catch {
            exclude(place)
            return true
        }
    }

    /// The encoding that follows, which is decoded from now on or excluded.
    func takeNext() -> Following? {
        defer { next = nil }
        return next
    }

    func forgetNext() { next = nil }

    /// This encoding cannot be used.
    func exclude(_ place: Int) { usable[place] = false }

    func became(_ place: Int, _ timeline: SegmentTimeline) {
        current = place
        self.timeline = timeline
    }
}

extension SegmentTimeline {
    /// The segment here that is played when one of another timeline begins; both have the same first moment.
    fileprivate func counterpart(of index: Int, in other: SegmentTimeline) -> Int? {
        guard let begin = start(of: firstIndex), let otherBegin = other.start(of: other.firstIndex),
            let moment = other.start(of: index)
        else { return nil }
        // A little later: times are rounded.
        return self.index(at: begin + moment - otherBegin + SegmentList.tolerance)
    }
}
