import Manifests
import Media

/// The latest segments of live content, divided into parts; one decoder plays each part (docs/playback.md, 15.10). A
/// value: segments are added at the end, forgotten at the front, and lost in between.
struct LiveParts {
    private struct Part {
        /// The index of its first segment.
        var index: Int
        /// The start of its first segment, in seconds.
        var start: Double
        /// The index after its last segment, when a gap follows.
        var end: Int?
    }

    /// The latest segments, beginning no earlier than the first one that is played.
    private(set) var list: SegmentList
    /// The parts in order; at least one. The first segments of a part may have been forgotten.
    private var parts: [Part]

    /// - Parameters:
    ///   - list: the segments, of which at least one is not a gap.
    ///   - delay: how far before its end playback begins, in seconds.
    init(_ list: SegmentList, delay: Double) {
        var seconds = 0.0
        let count = list.segments.reversed().prefix { segment in
            seconds += segment.duration
            return seconds <= delay + SegmentList.tolerance
        }.count
        var latest = list.segments.suffix(max(1, count))
        // A decoder needs a segment to begin with.
        if latest.allSatisfy({ $0.isGap }), let last = list.segments.lastIndex(where: { !$0.isGap }) {
            latest = list.segments[last...]
        }
        latest = latest.drop { $0.isGap }
        self.list = list
        self.list.segments = []
        self.list.firstIndex += list.segments.count - latest.count
        parts = [Part(index: self.list.firstIndex, start: latest.first?.start ?? 0)]
        add(Array(latest), after: nil)
    }

    /// The number of parts. A new part ends the one before it.
    var count: Int { parts.count }

    /// Returns the index of the first segment of a part, which identifies the part.
    func index(ofPart place: Int) -> Int { parts[place].index }

    /// Returns the part after another one.
    /// - Returns: nil while there is none.
    func part(after index: Int) -> Int? {
        let next = place(index) + 1
        return next < parts.count ? parts[next].index : nil
    }

    /// The index after the last segment.
    var endIndex: Int { list.firstIndex + list.segments.count }

    /// The end of the last segment, in seconds.
    var end: Double { list.segments.last.map { $0.start + $0.duration } ?? 0 }

    /// Whether no more segments will come.
    var isComplete: Bool {
        get { list.isComplete }
        set { list.isComplete = newValue }
    }

    private func place(_ part: Int) -> Int { parts.lastIndex { $0.index <= part } ?? 0 }

    /// Returns whether no more segments will come for a part.
    func isComplete(_ part: Int) -> Bool { place(part) < parts.count - 1 || list.isComplete }

    /// Returns the indices of the segments of a part, including forgotten ones.
    func indices(_ part: Int) -> Range<Int> {
        let place = place(part)
        let end = place < parts.count - 1 ? parts[place + 1].index : endIndex
        return parts[place].index..<max(parts[place].index, parts[place].end ?? end)
    }

    /// Returns the timeline of a part, with a single run for all of its forgotten segments.
    func timeline(_ part: Int) -> SegmentTimeline {
        let (place, indices) = (place(part), indices(part))
        let known = indices.clamped(to: list.firstIndex..<endIndex)
        var runs: [SegmentTimeline.Run] = []
        let gone = indices.count - known.count
        let start = parts[place].start
        if gone > 0 {
            let next = place + 1 < parts.count ? parts[place + 1].start : end
            let end = known.isEmpty ? next : list.segments[known.lowerBound - list.firstIndex].start
            runs.append(.init(start: start, duration: max(0, end - start) / Double(gone), count: gone))
        }
        runs += known.map { index in
            let segment = list.segments[index - list.firstIndex]
            return .init(start: segment.start, duration: segment.duration, count: 1)
        }
        return SegmentTimeline(firstIndex: indices.lowerBound, runs: runs, isComplete: isComplete(part))
    }

    /// Adds segments, and begins a new part where a decoder cannot continue.
    /// - Parameter previous: the segment before them; nil when they continue the existing ones.
    mutating func add(_ added: [SegmentReference], after previous: SegmentReference?) {
        var previous = previous
        for segment in added {
            let (index, last) = (endIndex, parts.count - 1)
            if segment.isGap {
                parts[last].end = parts[last].end ?? index
            } else if parts[last].end != nil || previous.map({ !segment.continues($0) }) ?? false {
                parts.append(Part(index: index, start: segment.start))
            }
            list.segments.append(segment)
            previous = segment
        }
    }

    /// Replaces a segment that cannot be fetched or decoded by a gap of its length: its part ends there, and another
    /// part begins after it.
    /// - Returns: false when it is a gap already.
    mutating func lose(_ index: Int) -> Bool {
        let place = index - list.firstIndex
        guard list.segments.indices.contains(place), !list.segments[place].isGap else { return false }
        let part = self.place(index)
        let end = indices(index).upperBound
        list.segments[place].isGap = true
        let next = ((index + 1)..<max(index + 1, end)).first { !list.segments[$0 - list.firstIndex].isGap }
        if let next {
            let rest = Part(index: next, start: list.segments[next - list.firstIndex].start, end: parts[part].end)
            parts.insert(rest, at: part + 1)
        }
        parts[part].end = index
        return true
    }

    /// Forgets the first segments.
    mutating func forget(_ count: Int) {
        list.segments.removeFirst(count)
        list.firstIndex += count
    }
}

extension SegmentReference {
    /// Returns whether the decoder that has played `previous` can continue with this segment. Segments that are
    /// encrypted as a whole (AES-128) are decrypted before the decoder, each with its own key.
    func continues(_ previous: SegmentReference) -> Bool {
        !isDiscontinuous && discontinuitySequence == previous.discontinuitySequence
            && initialization == previous.initialization && keysOfSamples == previous.keysOfSamples
    }

    private var keysOfSamples: [ContentProtection] {
        protections.filter { !$0.isOfWholeSegments }.map { key in
            var key = key
            // An initialization vector that the playlist does not give is the segment's number. Samples have their own.
            key.initializationVector = nil
            return key
        }
    }
}
