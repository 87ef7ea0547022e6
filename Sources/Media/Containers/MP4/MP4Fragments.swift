/// The samples in the movie fragments of a source, in order. A value that moves through them, so that a step that is
/// interrupted has no effect.
struct MP4Fragments {
    /// Where the fragment of the last sample begins, and its media time.
    private(set) var fragment: (offset: Int64, time: Int64)?

    private let source: any ByteSource
    private let track: MP4Track
    private var boxes: MP4Boxes
    /// The rest of the last fragment. More than one only if a fragment has the track more than once.
    private var parts: [MP4TrackFragment] = []
    /// Where the last sample ended.
    private var time: Int64

    private static let mostParts = 64

    /// - Parameters:
    ///   - offset: of the first box.
    ///   - end: behind the last one; `Int64.max` when it is not known.
    ///   - time: of the first sample, if its fragment does not say it.
    init(_ source: any ByteSource, track: MP4Track, from offset: Int64, to end: Int64, time: Int64) {
        self.source = source
        self.track = track
        self.time = time
        boxes = MP4Boxes(source, from: offset, to: end)
    }

    /// The next sample; nil at the end of the source.
    mutating func next() throws(Interruption) -> MP4Sample? {
        while true {
            while !parts.isEmpty {
                if parts[0].time == nil { parts[0].time = time }
                if let sample = try parts[0].next() {
                    time = sample.time + sample.duration
                    return sample
                }
                parts.removeFirst()
            }
            guard let box = try boxes.next() else { return nil }
            if box.type == "moof" { try open(box) }
        }
    }

    private mutating func open(_ box: MP4Box) throws(Interruption) {
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

/// Where fragments begin, for seeking: what an index box says, and what was found while reading.
struct MP4FragmentIndex {
    struct Point: Equatable {
        var time: Int64
        var offset: Int64
    }

    private(set) var points: [Point] = []
    /// Points are at least so far apart, in units of the track.
    private let distance: Int64

    /// A day at one a second.
    private static let mostPoints = 86_400

    init(distance: Int64) { self.distance = distance }

    /// Adds a point if it lies behind all others.
    mutating func add(_ point: Point) {
        guard points.count < Self.mostPoints else { return }
        if let last = points.last {
            guard point.time >= last.time + distance, point.offset > last.offset else { return }
        }
        points.append(point)
    }

    /// The last point at `time` or before it.
    func point(at time: Int64) -> Point? {
        var low = 0
        var high = points.count
        while low < high {
            let middle = (low + high) / 2
            if points[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? points[low - 1] : nil
    }

    /// Forgets points that were found to be wrong.
    mutating func removeAll() { points = [] }
}
