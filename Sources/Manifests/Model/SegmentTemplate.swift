import Media

/// Segments whose URLs follow a rule (ISO/IEC 23009-1, 5.3.9.4). The number that replaces `$Number$` gives the index of
/// the first one (`SegmentList.index(ofNumber:)`).
public struct SegmentTemplate: Equatable, Sendable {
    /// Segments of one duration, one after the other.
    struct Run: Equatable, Sendable {
        /// The start in units of the template.
        var time: Int64
        /// The duration in units of the template. 0 for a run of numbers that no segment has.
        var duration: Int64
        /// The number of segments; nil: to the end of the period, or without end.
        var count: Int64?
    }

    let media: URLTemplate
    /// The base of relative URLs.
    let base: URLReference
    /// The initialization segment that precedes every segment; nil when each segment initialises itself.
    public let initialization: ResourceReference?
    /// The number of the first segment.
    let startNumber: Int64
    /// Units per second.
    let timescale: Int64
    /// The media time of the period's start, in units of the template.
    let presentationTimeOffset: Int64
    /// The runs in order; at least one.
    let runs: [Run]
    /// The duration in seconds, if it is known.
    let periodDuration: Double?
    /// The availability of segments, for live presentations without a list of them.
    let availability: Availability?
    /// Whether each segment has its own time. Segments of one duration may begin earlier or later than it implies.
    public let hasExactTimes: Bool

    struct Availability: Equatable, Sendable {
        var start: Double
        var timeShift: Double?
        /// How many seconds before its end a segment is already available.
        var offset: Double
    }

    /// How many segments too many a duration may give: it is rounded, and may be that of another, longer track.
    private static let mostEstimated: Int64 = 3

    private var firstIndex: Int { SegmentList.index(ofNumber: startNumber) }

    /// Whether some numbers have no segment: those of entries without a duration.
    var hasEmptyRuns: Bool { runs.contains { $0.duration == 0 } }

    /// The segment of that number; nil when there is none.
    public func segment(_ index: Int) -> SegmentReference? {
        let (place, isBeforeAll) = Int64(index).subtractingReportingOverflow(Int64(firstIndex))
        let (number, isBeyondAll) = startNumber.addingReportingOverflow(place)
        guard place >= 0, !isBeforeAll, !isBeyondAll else { return nil }
        var rest = place
        for run in runs {
            if let count = count(of: run), rest >= count {
                rest -= count
                continue
            }
            let (elapsed, isBeyond) = rest.multipliedReportingOverflow(by: run.duration)
            let (time, isBeyondToo) = run.time.addingReportingOverflow(elapsed)
            guard !isBeyond, !isBeyondToo, time <= AudioLimits.largestTime else { return nil }
            let url = URLReference(media.text(number: number, time: time)).resolved(against: base).url
            guard run.duration > 0 else { return nil }
            var segment = SegmentReference(
                resource: ResourceReference(url: url), start: seconds(time),
                duration: Double(run.duration) / Double(timescale), initialization: initialization)
            segment.isEstimated = run.count == nil && (count(of: run).map { $0 - rest <= Self.mostEstimated } ?? false)
            return segment
        }
        return nil
    }

    /// When the segments are played. In a live period without a list of segments it depends on the time.
    /// - Parameter now: in seconds since 1970, for live ones.
    public func timeline(now: Double? = nil) -> SegmentTimeline {
        var first = Int64(firstIndex)
        var result: [SegmentTimeline.Run] = []
        var isComplete = true
        var room = Int64(SegmentTimeline.mostSegments)
        for run in runs {
            var count = self.count(of: run)
            var skipped: Int64 = 0
            if count == nil {
                isComplete = false
                (skipped, count) = available(run, now: now)
                first += skipped
            }
            guard let count, count > 0, room > 0 else { continue }
            let start = seconds(run.time) + Double(skipped) * Double(run.duration) / Double(timescale)
            let known = min(count, room)
            result.append(.init(start: start, duration: Double(run.duration) / Double(timescale), count: Int(known)))
            room -= known
        }
        return SegmentTimeline(
            firstIndex: Int(exactly: first) ?? 0, runs: result, isComplete: isComplete && availability == nil)
    }

    /// The media time of the period's start, in seconds.
    public var mediaOffset: Double { Double(presentationTimeOffset) / Double(timescale) }

    /// Converts a time of the template to seconds from the start of the period.
    private func seconds(_ time: Int64) -> Double { Double(time - presentationTimeOffset) / Double(timescale) }

    private func count(of run: Run) -> Int64? {
        if let count = run.count { return count }
        guard let periodDuration else { return nil }
        // A last segment that would be shorter than a thousandth of the others is a rounding error.
        let length = (periodDuration - seconds(run.time)) * Double(timescale) / Double(run.duration)
        guard length < 1e9 else { return nil }
        return Int64(max(0, (length - 0.001).rounded(.up)))
    }

    /// How many segments of a run without end are no longer available, and how many are available.
    private func available(_ run: Run, now: Double?) -> (skipped: Int64, count: Int64) {
        guard let availability, let now else { return (0, 1) }
        let duration = Double(run.duration) / Double(timescale)
        let elapsed = now - availability.start - seconds(run.time)
        let complete = ((elapsed + availability.offset) / duration).rounded(.down)
        let gone = availability.timeShift.map { ((elapsed - $0) / duration).rounded(.down) - 1 } ?? 0
        guard complete >= 1, complete < 1e15 else { return (0, 0) }
        let skipped = max(0, min(gone, complete - 1))
        return (Int64(skipped), Int64(complete - skipped))
    }
}
