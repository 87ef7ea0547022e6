/// The samples of a track in order: those that the movie box describes, then those in fragments.
struct MP4Samples {
    /// The media time of the first frame.
    let origin: Int64
    /// The place of the next sample.
    var place: Place

    private let track: MP4Track
    private var table: MP4SampleTable
    /// The search for fragments; nil when there are none.
    private var search: MP4FragmentSearch?

    /// The place of a sample. A value, so that a step that is interrupted has no effect.
    struct Place {
        /// The position in the sample table; nil after the samples of the movie box.
        var table: MP4SampleTable.Position?
        /// The fragments; nil when there are none.
        var fragments: MP4Fragments?
        /// The sample that a seek has already read.
        var sample: MP4Sample?
        /// The time at the end of the last sample.
        var time: Int64 = 0
    }

    /// - Parameters:
    ///   - boxes: `source`, read in the pages of boxes.
    ///   - chain: the segments that `source` reads, if it is made of them.
    init(
        _ layout: MP4Layout, _ track: MP4Track, of source: any ByteSource, _ boxes: any ByteSource, _ time: MP4Time,
        chain: SegmentChain?
    ) throws(Interruption) {
        var table = try track.table(whileReading: source)
        var origin: Int64 = 0
        var fragments: MP4Fragments?
        if let start = layout.fragmentsStart {
            var search = MP4FragmentSearch(boxes, track: track, from: start, chain: chain)
            if let segments = layout.segmentIndex, table.count == 0 { search.add(segments, time) }
            fragments = search.first(time: try table.endTime())
            if table.count == 0, var first = fragments { origin = try first.next()?.time ?? 0 }
            self.search = search
        }
        place = Place(table: table.count > 0 ? .init() : nil, fragments: fragments, time: origin)
        self.track = track
        self.table = table
        self.origin = origin
    }

    var hasFragments: Bool { search != nil }

    /// Where the media ends, as far as it is known without reading to the end.
    mutating func end(_ layout: MP4Layout, _ time: MP4Time) throws(Interruption) -> MP4Description.End? {
        if layout.fragmentsStart == nil { return .init(time: try table.endTime(), timescale: time.timescale) }
        guard table.count == 0, let index = layout.segmentIndex else { return nil }
        return .init(time: index.duration, timescale: Int64(index.timescale))
    }

    /// The duration of a sample, where all have one.
    mutating func usualDuration() throws(Interruption) -> Int64 {
        try max(table.firstDuration(), track.defaults.duration)
    }

    /// The sample at `place`, which moves to the next one; nil at the end.
    /// - Parameter joinedBytes: the bytes of samples that are joined; 0 for single samples.
    mutating func next(_ place: inout Place, joining joinedBytes: Int64) throws(Interruption) -> MP4Sample? {
        if let sample = place.sample {
            place.sample = nil
            return sample
        }
        if var position = place.table {
            if let sample = try table.next(&position, joining: joinedBytes) {
                place.table = position
                return sample
            }
            // Tables that contradict each other end before the last sample.
            if position.sample >= table.count { place.table = nil }
        }
        guard place.table == nil, var fragments = place.fragments, let sample = try fragments.next() else { return nil }
        search?.note(fragments)
        place.fragments = fragments
        return sample
    }

    /// Frames of the whole media with packets of one length, whatever their durations say; nil when that is not known.
    /// - Parameter padding: frames at the end that are not played, by the duration of the last sample in units of time.
    mutating func frameCount(
        ofPacket frameCount: Int64, padding: (Int64) -> Int64
    ) throws(Interruption) -> Int64? {
        guard search == nil, table.count > 0, table.count <= AudioLimits.largestTime / frameCount else { return nil }
        let last = try table.endTime() - table.time(ofSample: table.count - 1)
        return table.count * frameCount - padding(last)
    }

    /// Moves to a sample by its number, which durations that differ do not show.
    /// - Returns: its number; nil when samples are not known by their numbers.
    mutating func seek(toSample number: Int64) throws(Interruption) -> Int64? {
        guard search == nil, number < table.count else { return nil }
        let before = place
        if try seek(to: table.time(ofSample: number)) != nil, place.table?.sample == number { return number }
        place = before
        return nil
    }

    /// Moves to the sample that is played at `target`.
    /// - Returns: its time; nil at the end.
    mutating func seek(to target: Int64) throws(Interruption) -> Int64? {
        if table.count > 0 {
            let position = try table.position(atTime: target)
            if position.sample < table.count {
                let fragments = search?.first(time: try table.endTime())
                place = Place(table: position, fragments: fragments, time: position.time)
                return position.time
            }
        }
        guard let found = try search?.find(target, origin: origin) else {
            place = Place()
            return nil
        }
        place = Place(fragments: found.fragments, sample: found.sample, time: found.time)
        return found.sample?.time
    }
}

/// Reads the data of samples, as long as their offsets do not make it read the same bytes again and again.
struct MP4SampleReader {
    private let source: PagedSource
    private let buffer = PacketBuffer()
    private var overlap = MP4OverlapCheck()

    init(_ source: PagedSource) { self.source = source }

    /// How many bytes of a sample are read.
    /// - Parameter isDivisible: whether the part before the end of the source can be played.
    func byteCount(of sample: MP4Sample, isDivisible: Bool) -> Int {
        var count = min(sample.size, PacketBuffer.mostBytes)
        if isDivisible, sample.offset >= 0, let length = source.length, length > sample.offset {
            count = min(count, length - sample.offset)
        }
        return Int(count)
    }

    /// Reads `byteCount` bytes of a sample.
    /// - Returns: the bytes, valid until the next call; nil when the source ends before, and for a sample that cannot
    ///   be right.
    func read(_ sample: MP4Sample, _ byteCount: Int) throws(Interruption) -> UnsafeRawBufferPointer? {
        guard overlap.admits(sample), sample.size <= PacketBuffer.mostBytes else { return nil }
        return try buffer.fill(byteCount, from: source, at: sample.offset)
    }

    /// Records that a sample is played.
    mutating func count(_ sample: MP4Sample) { overlap.count(sample) }

    /// Begins again after a seek.
    mutating func restart() { overlap = MP4OverlapCheck() }
}
