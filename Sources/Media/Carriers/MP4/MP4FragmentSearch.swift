/// Finds the fragment that is played at a time: in a file by its index or by halving, in segments by their manifest.
struct MP4FragmentSearch {
    private let boxes: any ByteSource
    private let track: MP4Track
    /// The offset of the first fragment.
    private let start: Int64
    private let chain: SegmentChain?
    private var index: MP4FragmentIndex
    /// Where the points of `index` come from, apart from the fragments that were read.
    private var claim = Claim.unknown

    /// A table with the offsets of the fragments of a file.
    private enum Claim {
        /// The end of the file has not been read yet.
        case unknown
        /// An index before the fragments (`sidx`).
        case segmentIndex
        /// A list at the end (`mfra`).
        case randomAccess
        case none
    }

    /// The most bytes in which fragments are read one after the other.
    private static let nearby: Int64 = 65_536
    /// The most fragments whose headers are read one after the other.
    private static let fewFragments: Int64 = 8

    /// The next sample, and the fragments after it.
    struct Finding {
        var fragments: MP4Fragments
        /// The sample; nil at the end.
        var sample: MP4Sample?
        /// The time of the sample, or of the end.
        var time: Int64
    }

    /// - Parameters:
    ///   - boxes: the source.
    ///   - start: where fragments begin, in the source.
    ///   - chain: the segments in the source, if it is made of them.
    init(_ boxes: any ByteSource, track: MP4Track, from start: Int64, chain: SegmentChain?) {
        self.boxes = boxes
        self.track = track
        self.start = start
        self.chain = chain
        index = MP4FragmentIndex(distance: Int64(track.timescale))
    }

    /// The fragments from the first one on.
    /// - Parameter time: of the first sample, if its fragment does not contain it.
    func first(time: Int64) -> MP4Fragments {
        guard let chain else { return MP4Fragments(boxes, track: track, from: start, to: .max, time: time) }
        return MP4Fragments(
            boxes, track: track, chain: chain, region: SegmentChain.firstRegion, from: start, time: time)
    }

    /// Stores where a fragment begins.
    mutating func note(_ fragments: MP4Fragments) {
        guard chain == nil, let found = fragments.fragment else { return }
        index.add(.init(time: found.time, offset: found.offset))
    }

    /// Takes the times of a segment index.
    mutating func add(_ segments: SegmentIndex, _ time: MP4Time) {
        index.add(segments, time)
        if !index.points.isEmpty { claim = .segmentIndex }
    }

    /// The sample that is played at `target`.
    /// - Parameter origin: the time of the first sample.
    mutating func find(_ target: Int64, origin: Int64) throws(Interruption) -> Finding {
        if let chain { return try find(target, in: chain, origin: origin) }
        return try findInFile(target, origin: origin)
    }

    private mutating func findInFile(_ target: Int64, origin: Int64) throws(Interruption) -> Finding {
        while let point = try point(at: target, origin: origin), point.offset > start {
            let fragments = MP4Fragments(boxes, track: track, from: point.offset, to: .max, time: point.time)
            if let found = try walk(fragments, to: target) { return found }
            // An index that points past the sample, or at nothing, is wrong.
            index.removeAll()
            if claim == .none { break }
            claim = claim == .segmentIndex ? .unknown : .none
        }
        let fragments = first(time: origin)
        return try walk(fragments, to: target) ?? Finding(fragments: fragments, time: origin)
    }

    /// A fragment that is played at `target` or shortly before.
    /// - Returns: nil for the first one.
    private mutating func point(at target: Int64, origin: Int64) throws(Interruption) -> MP4FragmentIndex.Point? {
        guard claim != .segmentIndex, let length = boxes.length else { return index.point(at: target) }
        if claim == .unknown, isFar(target, length) {
            let distance = Int64(track.timescale)
            if let list = try MP4FragmentIndex(atEndOf: boxes, length: length, track: track.id, distance: distance) {
                (index, claim) = (list, .randomAccess)
            } else {
                claim = .none
            }
        }
        let probe = MP4FragmentProbe(source: boxes, track: track, length: length)
        if claim == .randomAccess, let point = index.point(at: target), point.offset > start {
            let time = try probe.fragment(at: point.offset)?.point.time
            // A list may count from the first sample that is played.
            if time.map({ $0 > target || abs($0 - point.time) > Int64(track.timescale) }) ?? true {
                index.removeAll()
                claim = .none
            }
        }
        return isFar(target, length) ? try halved(target, origin, probe) : index.point(at: target)
    }

    private func isFar(_ target: Int64, _ length: Int64) -> Bool {
        let known = index.point(at: target)?.offset ?? start
        return (index.point(after: target)?.offset ?? length) - known > Self.nearby
    }

    /// Halves the bytes between known points until few fragments are left.
    private mutating func halved(
        _ target: Int64, _ origin: Int64, _ probe: MP4FragmentProbe
    ) throws(Interruption) -> MP4FragmentIndex.Point? {
        var low = index.point(at: target) ?? .init(time: origin, offset: start)
        var high = index.point(after: target)?.offset ?? probe.length
        var longest = try probe.fragment(at: low.offset)?.size ?? 0
        while high - low.offset > max(Self.nearby, Self.fewFragments * longest) {
            let middle = low.offset + (high - low.offset) / 2
            guard let found = try probe.first(from: middle, to: high) else {
                guard high - middle <= MP4FragmentProbe.mostScanned else { break }
                high = middle
                continue
            }
            // Times that go backwards do not help to find others.
            guard found.point.time >= low.time else { break }
            longest = max(longest, found.size)
            if found.point.time <= target { low = found.point } else { high = middle }
        }
        index.add(low)
        return low
    }

    /// Segments before the one that the manifest names, in case its times are not exact.
    private static let mostStepsBack: Int64 = 4

    private mutating func find(_ target: Int64, in chain: SegmentChain, origin: Int64) throws(Interruption) -> Finding {
        let named = chain.region(at: Double(target - origin) / Double(track.timescale))
        var region = named
        while region > SegmentChain.firstRegion {
            let offset = SegmentChain.offsets(of: region).lowerBound
            let fragments = MP4Fragments(
                boxes, track: track, chain: chain, region: region, from: offset, time: target)
            if let found = try walk(fragments, to: target) { return found }
            region = named - region < Self.mostStepsBack ? region - 1 : SegmentChain.firstRegion
        }
        let fragments = first(time: origin)
        return try walk(fragments, to: target) ?? Finding(fragments: fragments, time: origin)
    }

    /// Reads on to the sample that is played at `target`, without the data.
    /// - Returns: nil when `fragments` begin after it, or have no sample.
    private mutating func walk(_ fragments: MP4Fragments, to target: Int64) throws(Interruption) -> Finding? {
        var ahead = fragments
        var end: Int64?
        var overlap = MP4OverlapCheck(length: boxes.length)
        while let sample = try ahead.next(), overlap.admits(sample) {
            overlap.count(sample)
            if end == nil, sample.time > target { return nil }
            note(ahead)
            end = sample.time + sample.duration
            if sample.time + sample.duration > target {
                return Finding(fragments: ahead, sample: sample, time: sample.time)
            }
        }
        return end.map { Finding(fragments: ahead, time: $0) }
    }
}
