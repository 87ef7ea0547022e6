import Media

/// Divides and joins lists of segments.
extension SegmentList {
    /// The lists of which this one consists: each has one initialization, and times that are continuous. Gaps are left
    /// out, so that they are never requested.
    public var spans: [SegmentList] {
        if segments.isEmpty { return [self] }
        let places = spanPlaces
        return places.indices.map { number in
            span(places[number], isComplete: number < places.count - 1 || isComplete)
        }
    }

    /// The positions of the segments of each of `spans`, from 0.
    public var spanPlaces: [Range<Int>] {
        var places: [Range<Int>] = []
        for place in segments.indices where !segments[place].isGap {
            if let last = places.last, last.upperBound == place, !segments[place].isDiscontinuous,
                segments[place].initialization == segments[place - 1].initialization
            {
                places[places.count - 1] = last.lowerBound..<(place + 1)
            } else {
                places.append(place..<(place + 1))
            }
        }
        return places
    }

    /// The list of the segments at some positions.
    public func span(_ places: Range<Int>, isComplete: Bool) -> SegmentList {
        var span = SegmentList(segments: Array(segments[places]), isComplete: isComplete)
        span.firstIndex = firstIndex + places.lowerBound
        span.mediaOffset = mediaOffset
        span.hasExactTimes = hasExactTimes
        return span
    }

    /// The positions of the gaps, from 0.
    public var gaps: [Int] { segments.indices.filter { segments[$0].isGap } }

    /// Media times that differ by less are the same, in seconds: manifests round them.
    public static let tolerance = 0.002

    /// This list and the segments of the next period, when they continue the media of this one: the same
    /// initialization, and times without a gap. Segments that initialise themselves stay apart. Where the periods meet
    /// inside a segment, both have it; here it is once.
    /// - Returns: nil when they do not.
    public func continued(by next: SegmentList) -> SegmentList? {
        // The times of a playlist continue across a discontinuity, those of the media do not.
        guard isComplete, let last = segments.last, let first = next.segments.first, !first.isDiscontinuous,
            let initialization = last.initialization, initialization == first.initialization,
            last.initializationKeys == first.initializationKeys
        else { return nil }
        let shift = next.mediaOffset - mediaOffset
        let shared = shared(with: next)
        guard shared > 0 || abs(last.start + last.duration - first.start - shift) < Self.tolerance else { return nil }
        var result = self
        result.isComplete = next.isComplete
        // Times without a gap, within the rounding of manifests.
        let start = shared > 0 ? shift : last.start + last.duration - first.start
        for var segment in next.segments.dropFirst(shared) {
            segment.start += start
            result.segments.append(segment)
        }
        return result
    }

    /// How many segments at the end of this list are those with which the next period's list begins. They begin before
    /// that period. A segment that is meant to be played twice begins with the period.
    private func shared(with next: SegmentList) -> Int {
        guard let first = next.segments.first, first.start < -Self.tolerance,
            let place = segments.lastIndex(where: { $0.resource == first.resource }),
            abs(segments[place].start + mediaOffset - first.start - next.mediaOffset) < Self.tolerance
        else { return 0 }
        let rest = segments[place...]
        guard rest.count <= next.segments.count,
            zip(rest, next.segments).allSatisfy({ $0.resource == $1.resource })
        else { return 0 }
        return rest.count
    }
}

extension SegmentTemplate {
    private static let mostSegments = 50_000

    /// The segments one by one; nil for live ones, and when there are too many.
    public var list: SegmentList? {
        let timeline = timeline()
        guard timeline.isComplete, timeline.count <= Self.mostSegments else { return nil }
        let indices = timeline.firstIndex..<(timeline.firstIndex + timeline.count)
        var list = SegmentList(segments: indices.compactMap { segment($0) }, isComplete: true)
        list.firstIndex = timeline.firstIndex
        list.mediaOffset = mediaOffset
        list.hasExactTimes = hasExactTimes
        return list
    }

    /// The segments that a live manifest lists one by one. nil when the time of day determines which ones are
    /// available, and when there are too many.
    public var listed: SegmentList? {
        var total: Int64 = 0
        for run in runs {
            guard let count = run.count, count <= Int64(Self.mostSegments) else { return nil }
            total += count
        }
        guard total <= Int64(Self.mostSegments) else { return nil }
        let first = SegmentList.index(ofNumber: startNumber)
        var list = SegmentList(
            segments: (first..<(first + Int(total))).compactMap { segment($0) }, isComplete: availability == nil)
        list.firstIndex = first
        list.mediaOffset = mediaOffset
        list.hasExactTimes = hasExactTimes
        return list
    }
}
