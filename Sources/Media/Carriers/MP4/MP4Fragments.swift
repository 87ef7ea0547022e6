/// The samples in the movie fragments of a source or of a chain of segments, in order. A value that moves through them,
/// so that a step that is interrupted has no effect.
struct MP4Fragments {
    /// The offset and the media time of the fragment with the last sample.
    private(set) var fragment: (offset: Int64, time: Int64)?

    private let source: any ByteSource
    private let track: MP4Track
    /// The segments that follow one another, and the one that is read.
    private let chain: SegmentChain?
    private var region: Int64 = 0
    private var boxes: MP4Boxes
    /// Whether the segment that is read has a fragment.
    private var hasFragment = false
    /// The rest of the last fragment. There are several only if a fragment has the track more than once.
    private var parts: [MP4TrackFragment] = []
    /// The time at the end of the last sample.
    private var time: Int64

    private static let mostParts = 64
    /// The most segments without a sample, one after the other.
    private static let mostEmptySegments = 16

    /// - Parameters:
    ///   - offset: of the first box.
    ///   - end: after the last one; `Int64.max` when it is not known.
    ///   - time: of the first sample, if its fragment does not contain it.
    init(_ source: any ByteSource, track: MP4Track, from offset: Int64, to end: Int64, time: Int64) {
        self.source = source
        self.track = track
        self.time = time
        chain = nil
        boxes = MP4Boxes(source, from: offset, to: end)
    }

    /// - Parameters:
    ///   - source: through which `chain` is read.
    ///   - region: of the first segment.
    ///   - offset: in that region; nil: its start.
    init(
        _ source: any ByteSource, track: MP4Track, chain: SegmentChain, region: Int64, from offset: Int64? = nil,
        time: Int64
    ) {
        self.source = source
        self.track = track
        self.time = time
        self.chain = chain
        self.region = region
        let offsets = SegmentChain.offsets(of: region)
        boxes = MP4Boxes(source, from: offset ?? offsets.lowerBound, to: offsets.upperBound)
    }

    /// The next sample; nil at the end of the source or of the last segment.
    mutating func next() throws(Interruption) -> MP4Sample? {
        var segmentsLeft = Self.mostEmptySegments
        while true {
            while !parts.isEmpty {
                if parts[0].time == nil { parts[0].time = time }
                if let sample = try parts[0].next() {
                    time = sample.time + sample.duration
                    return sample
                }
                parts.removeFirst()
            }
            if let box = try boxes.next() {
                if box.type == "moof" { try open(box) }
                continue
            }
            guard let chain else { return nil }
            try checkSegment(of: chain)
            guard segmentsLeft > 0, try chain.hasSegment(region + 1) else { return nil }
            region += 1
            segmentsLeft -= 1
            hasFragment = false
            let offsets = SegmentChain.offsets(of: region)
            boxes = MP4Boxes(source, from: offsets.lowerBound, to: offsets.upperBound)
        }
    }

    /// A server may answer with a page or with an empty body, and a connection without a length may end early. Without
    /// this check, music would be missing without an error. The last segment may have no media: ffmpeg makes one for a
    /// rounded duration.
    private func checkSegment(of chain: SegmentChain) throws(Interruption) {
        if !hasFragment, try chain.hasSegment(region + 1) { throw SegmentChain.unusable("has no fragment of MP4") }
        let offsets = SegmentChain.offsets(of: region)
        // A box without a size extends to the end.
        guard boxes.offset > offsets.lowerBound, boxes.offset < offsets.upperBound else { return }
        guard try !SourceReader(source).bytes(1, at: boxes.offset - 1).isEmpty else {
            throw SegmentChain.unusable("ends inside of a box, or is not MP4")
        }
    }

    private mutating func open(_ box: MP4Box) throws(Interruption) {
        hasFragment = true
        var found: [MP4TrackFragment] = []
        var children = box.children(of: source)
        while found.count < Self.mostParts, let child = try children.next() {
            guard child.type == "traf",
                let part = try MP4TrackFragment(child, of: source, fragmentOffset: box.offset, track: track)
            else { continue }
            found.append(part)
        }
        parts = found
        if let first = found.first { fragment = (box.offset, first.time ?? time) }
    }
}

/// Where fragments begin, for seeking: from an index box, and from fragments that were read.
struct MP4FragmentIndex {
    struct Point: Equatable {
        var time: Int64
        var offset: Int64
    }

    private(set) var points: [Point] = []
    /// Points are at least so far apart, in units of the track.
    private let distance: Int64

    /// The most points: a day at one a second.
    private static let mostPoints = 86_400

    init(distance: Int64) { self.distance = distance }

    /// Adds a point if it is between others, or after all of them, and is not close to one.
    mutating func add(_ point: Point) {
        guard points.count < Self.mostPoints else { return }
        let index = count(upTo: point.time)
        if index > 0 {
            let before = points[index - 1]
            guard point.time >= before.time + distance, point.offset > before.offset else { return }
        }
        if index < points.count {
            let after = points[index]
            guard after.time >= point.time + distance, after.offset > point.offset else { return }
        }
        points.insert(point, at: index)
    }

    /// The last point at `time` or before it.
    func point(at time: Int64) -> Point? {
        let index = count(upTo: time)
        return index > 0 ? points[index - 1] : nil
    }

    /// The first point after `time`.
    func point(after time: Int64) -> Point? {
        let index = count(upTo: time)
        return index < points.count ? points[index] : nil
    }

    /// How many points are at `time` or before it.
    private func count(upTo time: Int64) -> Int {
        var low = 0
        var high = points.count
        while low < high {
            let middle = (low + high) / 2
            if points[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Removes all points, because they were found to be wrong.
    mutating func removeAll() { points = [] }
}
