/// The positions of the parts of an ISO base media file.
struct MP4Layout {
    let movie: MP4Movie
    /// The offset after the movie box, when fragments may follow there.
    private(set) var fragmentsStart: Int64?
    /// The segment index before the first fragment.
    private(set) var segmentIndex: SegmentIndex?

    /// Files with more boxes before the movie box do not exist.
    private static let mostBoxes = 4096

    /// - Parameter chain: the segments that `source` reads, if it is made of them.
    init(_ source: any ByteSource, chain: SegmentChain?) throws(Interruption) {
        guard let chain else {
            try self.init(source, in: 0..<(source.length ?? .max))
            return
        }
        let first = SegmentChain.offsets(of: SegmentChain.firstRegion)
        guard chain.hasInitialization else {
            try self.init(source, in: first)
            return
        }
        try self.init(source, in: SegmentChain.offsets(of: SegmentChain.initializationRegion))
        fragmentsStart = first.lowerBound
    }

    /// - Parameter range: the bytes with the boxes.
    private init(_ source: any ByteSource, in range: Range<Int64>) throws(Interruption) {
        var boxes = MP4Boxes(source, from: range.lowerBound, to: range.upperBound)
        var found: MP4Box?
        for _ in 0..<Self.mostBoxes {
            guard let box = try boxes.next(), box.type != "moof" else { break }
            if box.type == "moov" {
                found = box
                break
            }
        }
        guard let found else { throw .damaged(what: "MP4 without a movie box (moov): cut off, or not finished") }
        guard !found.isCutShort else { throw .damaged(what: "MP4 cut off in its movie box (moov)") }
        movie = try MP4Movie(found, of: source)
        guard movie.isFragmented else { return }
        fragmentsStart = found.end
        while let box = try boxes.next(), box.type != "moof", box.type != "mdat" {
            guard box.type == "sidx" else { continue }
            // In an index of indices only the times are used.
            if let index = try SegmentIndex(box, of: source), index.covers(source.length) { segmentIndex = index }
            break
        }
    }
}

extension SegmentIndex {
    /// Whether it covers the whole file. Files that were joined from segments have one before each segment. The check
    /// reads nothing from the file, because the end of a download comes last.
    /// - Parameter length: of the file; nil when it is not known.
    fileprivate func covers(_ length: Int64?) -> Bool {
        guard let length, let end = parts.last?.range.upperBound else { return true }
        // After the media, a list of the fragments may follow (mfra): up to 28 bytes for each.
        return length - end <= 4096 + 64 * Int64(parts.count)
    }
}

extension MP4Movie {
    /// The first track with sound that can be played, and the description of its samples.
    func playableTrack() throws(Interruption) -> (track: MP4Track, entry: MP4SampleEntry) {
        var name: String?
        for track in tracks {
            guard let entry = track.entries.first else { continue }
            guard case .other(let other) = entry.codec else { return (track, entry) }
            name = name ?? other
        }
        throw .unsupported(what: name.map { "MP4 with \($0)" } ?? "MP4 without sound")
    }

    /// The part that is played: from the tag of iTunes, or from the edit list when that is more precise.
    /// - Parameters:
    ///   - origin: the media time of the first frame.
    ///   - end: the number of frames of the media, if it is known.
    func trackEdit(_ track: MP4Track, _ time: MP4Time, origin: Int64, end: Int64?) -> TrackEdit {
        let edit = track.edits.trackEdit(
            time, movieTimescale: timescale, origin: origin + track.compositionOffset, end: end,
            isOpen: isFragmented && fragmentedDuration == nil)
        guard let gapless = tags?.gapless, edit.parts.count == 1, case .media(let start, let count) = edit.parts[0]
        else { return edit }
        // iTunes counts in units of the track; with SBR these may be those of the core.
        let delay = time.frames(gapless.delay)
        let length = time.frames(gapless.frameCount)
        guard start == delay || start == 0 && count == nil, end.map({ $0 - delay >= length }) ?? true else {
            return edit
        }
        // A list that plays less was written later. Its durations are rounded to units of the movie.
        let unit = (time.sampleRate + timescale - 1) / timescale
        if start == delay, let count, count < length - unit { return edit }
        return TrackEdit(leading: delay, count: length)
    }
}

extension MP4FragmentIndex {
    /// Adds the parts of a segment index.
    mutating func add(_ index: SegmentIndex, _ time: MP4Time) {
        var start = index.earliestTime
        for part in index.parts {
            let scaled = MP4Time.scale(start, time.timescale, Int64(index.timescale), rounding: 0)
            guard scaled <= AudioLimits.largestTime else { return }
            add(Point(time: scaled, offset: part.range.lowerBound))
            start += part.duration
        }
    }
}
