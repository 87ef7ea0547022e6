import PCM

/// An audio track in ISO base media (MP4, M4A, CMAF): samples that the movie box describes, then those in fragments.
final class MP4Container: TimedPacketSource {
    let track: TrackDescription
    /// Of the track.
    let codec: MP4SampleEntry.Codec
    let protectionSystems: [MP4ProtectionSystem]
    /// The scheme of the first description that is encrypted.
    let encryptionScheme: PacketEncryption.Scheme?
    private(set) var isCutShort = false

    /// For small reads of boxes, and for the data.
    private let boxes: PagedSource
    private let data: PagedSource
    private let movieTrack: MP4Track
    private var table: MP4SampleTable
    private let time: MP4Time
    /// The media time of the first frame.
    private let origin: Int64
    /// Where the fragments begin; nil when there are none.
    private let fragmentsStart: Int64?
    private var fragmentIndex: MP4FragmentIndex
    private var place: Place
    private let buffer = PacketBuffer()
    private var overlap = OverlapCheck()

    private static let boxPageSize = 4096
    private static let dataPageSize = 32_768

    /// The place of the next packet. A value, so that a step that is interrupted has no effect.
    private struct Place {
        /// nil behind the samples of the movie box.
        var table: MP4SampleTable.Position?
        /// nil when there are none.
        var fragments: MP4Fragments?
        /// Was read already, by a seek.
        var sample: MP4Sample?
        /// Behind the last sample.
        var time: Int64 = 0
    }

    /// - Parameter tags: the tags before the file; its own tags override them.
    init(_ source: any ByteSource, tags: TrackMetadata) throws(Interruption) {
        boxes = PagedSource(source, pageSize: Self.boxPageSize)
        data = PagedSource(source, pageSize: Self.dataPageSize)
        let layout = try MP4Layout(boxes)
        let movie = layout.movie
        let (movieTrack, entry) = try movie.playableTrack()
        guard case .flac(let info) = entry.codec else { throw .unsupported(what: "MP4 with an unknown codec") }
        var table = movieTrack.table
        let time = MP4Time(timescale: movieTrack.timescale, sampleRate: info.format.sampleRate)

        var origin: Int64 = 0
        var fragments: MP4Fragments?
        if let start = layout.fragmentsStart {
            let end = try table.endTime()
            fragments = MP4Fragments(boxes, track: movieTrack, from: start, to: .max, time: end)
            if table.count == 0, var first = fragments { origin = try first.next()?.time ?? 0 }
        }
        var index = MP4FragmentIndex(distance: Int64(movieTrack.timescale))
        if let segments = layout.segmentIndex, table.count == 0 { index.add(segments, time) }

        let mediaEnd = try Self.mediaEnd(&table, layout, time)
        let edit = movie.trackEdit(movieTrack, time, origin: origin, end: mediaEnd)
        var frameCount = edit.frameCount(ofDecoded: mediaEnd)
        if frameCount == nil, let duration = movie.fragmentedDuration, duration > 0 {
            frameCount = MP4Time.scale(
                duration, time.sampleRate, movie.timescale, rounding: movie.timescale / 2)
        }
        var properties = AudioProperties(
            format: info.format, frameCount: frameCount, container: .mp4, codec: .flac, bitRate: nil)
        if movie.trackCount == 1, let length = source.length, let seconds = properties.duration, seconds > 0 {
            properties.bitRate = Int32(exactly: (Double(length) * 8 / seconds).rounded(.down)).map { Int($0) }
        }
        track = TrackDescription(
            properties: properties, metadata: tags.overridden(by: movie.tags.metadata), edit: edit)
        codec = entry.codec
        protectionSystems = movie.protectionSystems
        encryptionScheme = movieTrack.entries.lazy.compactMap { $0.protection?.scheme }.first
        self.movieTrack = movieTrack
        self.table = table
        self.time = time
        self.origin = origin
        fragmentsStart = layout.fragmentsStart
        fragmentIndex = index
        place = Place(table: table.count > 0 ? .init() : nil, fragments: fragments, time: origin)
    }

    /// The number of frames of the media, as far as it is known without reading to the end.
    private static func mediaEnd(
        _ table: inout MP4SampleTable, _ layout: MP4Layout, _ time: MP4Time
    ) throws(Interruption) -> Int64? {
        if layout.fragmentsStart == nil { return time.frames(try table.endTime()) }
        guard table.count == 0, let index = layout.segmentIndex else { return nil }
        return MP4Time.scale(index.duration, time.sampleRate, Int64(index.timescale), rounding: Int64(index.timescale) / 2)
    }

    func nextPacket() throws(Interruption) -> Packet? {
        var ahead = place
        guard let sample = try nextSample(&ahead) else {
            isCutShort = isCutShort || endsEarly(ahead)
            return nil
        }
        guard overlap.admits(sample), sample.size <= PacketBuffer.mostBytes,
            let bytes = try buffer.fill(Int(sample.size), from: data, at: sample.offset)
        else {
            isCutShort = true
            return nil
        }
        overlap.count(sample)
        ahead.time = sample.time + sample.duration
        place = ahead
        let start = time.frames(sample.time - origin)
        return Packet(
            bytes: bytes, timeStamp: start, duration: time.frames(ahead.time - origin) - start,
            encryption: sample.encryption)
    }

    private func nextSample(_ place: inout Place) throws(Interruption) -> MP4Sample? {
        if let sample = place.sample {
            place.sample = nil
            return sample
        }
        if var position = place.table {
            if let sample = try table.next(&position) {
                place.table = position
                return sample
            }
            // Tables that contradict each other end before the last sample.
            if position.sample >= table.count { place.table = nil }
        }
        guard place.table == nil, let sample = try place.fragments?.next() else { return nil }
        note(place.fragments)
        return sample
    }

    private func endsEarly(_ place: Place) -> Bool {
        if place.table != nil { return true }
        guard fragmentsStart != nil, let expected = track.properties.frameCount else { return false }
        // A duration in coarse units is rounded.
        return time.frames(place.time - origin) + time.sampleRate / 10 < expected
    }

    private func note(_ fragments: MP4Fragments?) {
        guard let found = fragments?.fragment else { return }
        fragmentIndex.add(.init(time: found.time, offset: found.offset))
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        var target = min(time.time(ofFrame: frame), Int64(MP4Time.largest)) + origin
        if movieTrack.preroll > 0 {
            let duration = try max(table.firstDuration(), movieTrack.defaults.duration)
            target = max(origin, target - movieTrack.preroll * duration)
        }
        if table.count > 0 {
            let position = try table.position(atTime: target)
            if position.sample < table.count || fragmentsStart == nil {
                return move(
                    to: Place(table: position, fragments: firstFragments(), time: position.time),
                    at: position.sample < table.count ? position.time : nil, frame)
            }
        }
        let found = try searchFragments(target)
        return move(to: found, at: found.sample?.time, frame)
    }

    /// - Parameter time: of the next sample; nil at the end.
    /// - Returns: the frame of the next packet.
    private func move(to place: Place, at time: Int64?, _ frame: Int64) -> Int64 {
        self.place = place
        overlap = OverlapCheck()
        return time.map { self.time.frames($0 - origin) } ?? frame
    }

    /// The fragment sample that is played at `target`; without a sample when there is none.
    private func searchFragments(_ target: Int64) throws(Interruption) -> Place {
        guard let fragmentsStart, let first = firstFragments() else { return Place() }
        var start = fragmentIndex.point(at: target)
        while true {
            var fragments = first
            if let start {
                fragments = MP4Fragments(
                    boxes, track: movieTrack, from: start.offset, to: .max, time: start.time)
            }
            var end: Int64?
            while let sample = try fragments.next() {
                // An index that points behind the sample is wrong.
                if end == nil, sample.time > target, start != nil { break }
                note(fragments)
                end = sample.time + sample.duration
                if sample.time + sample.duration > target {
                    return Place(fragments: fragments, sample: sample, time: sample.time)
                }
            }
            guard end == nil, let wrong = start, wrong.offset > fragmentsStart else {
                return Place(fragments: fragments, time: end ?? origin)
            }
            fragmentIndex.removeAll()
            start = nil
        }
    }

    private func firstFragments() -> MP4Fragments? {
        fragmentsStart.map {
            MP4Fragments(boxes, track: movieTrack, from: $0, to: .max, time: origin)
        }
    }
}

/// Samples do not overlap. So those of one pass have no more bytes than lie before the end of the furthest one. Without
/// this, a small file with wrong tables could be read for hours.
private struct OverlapCheck {
    private var bytes: Int64 = 0
    private var furthest: Int64 = 0

    func admits(_ sample: MP4Sample) -> Bool {
        sample.offset >= 0 && sample.offset <= AudioLimits.largestData
            && bytes + max(1, sample.size) <= max(furthest, sample.offset + sample.size)
    }

    mutating func count(_ sample: MP4Sample) {
        bytes += max(1, sample.size)
        furthest = max(furthest, sample.offset + sample.size)
    }
}
