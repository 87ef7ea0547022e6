import PCM

/// An audio track in ISO base media (MP4, M4A, CMAF): samples that the movie box describes, then those in fragments.
final class MP4Container: TimedPacketSource {
    /// The description of the track. It is preliminary for AAC, until `decode(to:…)`.
    var track: TrackDescription { known.track }
    /// The codec of the track.
    let codec: MP4SampleEntry.Codec
    var protectionSystems: [MP4ProtectionSystem] { description.movie.protectionSystems }
    /// The scheme of the first description that is encrypted.
    var encryptionScheme: PacketEncryption.Scheme? {
        movieTrack.entries.lazy.compactMap { $0.protection?.scheme }.first
    }
    private(set) var isCutShort = false

    /// Whether it is a chain of segments.
    private let isSegmented: Bool
    private let data: PagedSource
    private let movieTrack: MP4Track
    private var table: MP4SampleTable
    private let description: MP4Description
    /// The track by the description, and whether its number of frames comes only from a manifest.
    private var known: (track: TrackDescription, isEstimated: Bool)
    private var time: MP4Time
    /// The media time of the first frame.
    private let origin: Int64
    /// The search for fragments; nil when there are none.
    private var search: MP4FragmentSearch?
    private var packets: PacketRules
    private var place: Place
    private let buffer = PacketBuffer()
    private var overlap = MP4OverlapCheck()

    private static let boxPageSize = 4096
    static let dataPageSize = 32_768
    private static let mostJoinedBytes: Int64 = 16_384

    /// How the codec divides the samples into packets.
    private struct PacketRules {
        /// Packets that are decoded before the first one that is played.
        var preroll: Int64
        /// The frames of a packet, for a codec whose packets have one length; the last one is filled up.
        var frameCount: Int64?
        /// The bytes that make a packet of PCM, whose samples are single frames; 0 for other codecs.
        let joinedBytes: Int64
    }

    /// The place of the next packet. A value, so that a step that is interrupted has no effect.
    private struct Place {
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
    ///   - tags: the tags before the file; its own tags override them.
    ///   - base: where `source` begins in the file.
    ///   - chain: the segments that `source` reads, if it is made of them.
    init(
        _ source: any ByteSource, tags: TrackMetadata, base: Int64 = 0, chain: SegmentChain? = nil
    ) throws(Interruption) {
        let boxes = PagedSource(source, pageSize: Self.boxPageSize)
        data = PagedSource(source, pageSize: Self.dataPageSize)
        isSegmented = chain != nil
        let layout = try MP4Layout(boxes, chain: chain)
        let movie = layout.movie
        let (movieTrack, entry) = try movie.playableTrack()
        guard let format = entry.codec.format else { throw .unsupported(what: "MP4 with an unknown codec") }
        var table = try movieTrack.table(whileReading: source)
        let time = MP4Time(timescale: movieTrack.timescale, sampleRate: format.sampleRate)

        var origin: Int64 = 0
        var fragments: MP4Fragments?
        if let start = layout.fragmentsStart {
            var search = MP4FragmentSearch(boxes, track: movieTrack, from: start, chain: chain)
            if let segments = layout.segmentIndex, table.count == 0 { search.add(segments, time) }
            fragments = search.first(time: try table.endTime())
            if table.count == 0, var first = fragments { origin = try first.next()?.time ?? 0 }
            self.search = search
        }

        description = MP4Description(
            movie: movie, track: movieTrack, tags: tags, base: chain == nil ? base : nil, origin: origin,
            end: try Self.mediaEnd(&table, layout, time), byteCount: source.length, manifestDuration: chain?.duration)
        known = description.track(format, entry.codec.name, time)
        codec = entry.codec
        let joinedBytes = if case .pcm = entry.codec { Self.mostJoinedBytes } else { Int64(0) }
        packets = PacketRules(preroll: movieTrack.preroll, joinedBytes: joinedBytes)
        self.movieTrack = movieTrack
        self.table = table
        self.time = time
        self.origin = origin
        place = Place(table: table.count > 0 ? .init() : nil, fragments: fragments, time: origin)
    }

    /// Where the media ends, as far as it is known without reading to the end.
    private static func mediaEnd(
        _ table: inout MP4SampleTable, _ layout: MP4Layout, _ time: MP4Time
    ) throws(Interruption) -> MP4Description.End? {
        if layout.fragmentsStart == nil { return .init(time: try table.endTime(), timescale: time.timescale) }
        guard table.count == 0, let index = layout.segmentIndex else { return nil }
        return .init(time: index.duration, timescale: Int64(index.timescale))
    }

    /// Takes properties that only the packets of the codec have. Call it before the first seek of a decoder.
    /// - Parameters:
    ///   - packetFrameCount: decoded frames of each packet.
    ///   - preroll: packets that the codec needs before the first one that is played.
    func decode(to format: PCMFormat, packetFrameCount: Int, preroll: Int64) {
        time.sampleRate = Int64(format.sampleRate)
        known = description.track(format, codec.name, time)
        packets.frameCount = Int64(packetFrameCount)
        packets.preroll = max(packets.preroll, preroll)
    }

    /// Whether times are counted in frames, or in a fraction of them.
    var hasExactTimes: Bool { time.timescale % time.sampleRate == 0 }

    func nextPacket() throws(Interruption) -> Packet? {
        var ahead = place
        guard let sample = try nextSample(&ahead) else {
            isCutShort = isCutShort || endsEarly(ahead)
            return nil
        }
        let byteCount = present(sample)
        guard overlap.admits(sample), sample.size <= PacketBuffer.mostBytes,
            let bytes = try buffer.fill(byteCount, from: data, at: sample.offset)
        else {
            if isSegmented { throw SegmentChain.unusable("ends inside of a sample") }
            isCutShort = true
            return nil
        }
        ahead.time = sample.time + sample.duration
        let start = time.frames(sample.time - origin)
        let duration = time.frames(ahead.time - origin) - start
        let padding = try padding(duration, after: ahead)
        overlap.count(sample)
        place = ahead
        if Int64(byteCount) < sample.size { isCutShort = true }
        return Packet(
            bytes: bytes, timeStamp: start, duration: duration, trim: PacketTrim(trailing: padding),
            encryption: sample.encryption)
    }

    /// The bytes of a sample that are there. When PCM is cut off, the part before can be played.
    private func present(_ sample: MP4Sample) -> Int {
        var count = min(sample.size, PacketBuffer.mostBytes)
        if packets.joinedBytes > 0, sample.offset >= 0, let length = data.length, length > sample.offset {
            count = min(count, length - sample.offset)
        }
        return Int(count)
    }

    /// Frames that the encoder added to the last packet: its duration is shorter than that of the others.
    private func padding(_ duration: Int64, after place: Place) throws(Interruption) -> Int {
        // In coarse units every packet is a little too short or too long.
        guard let frameCount = packets.frameCount, duration > 0, duration < frameCount,
            2 * time.timescale >= time.sampleRate
        else { return 0 }
        var rest = place
        return try nextSample(&rest) == nil ? Int(frameCount - duration) : 0
    }

    private func nextSample(_ place: inout Place) throws(Interruption) -> MP4Sample? {
        if let sample = place.sample {
            place.sample = nil
            return sample
        }
        if var position = place.table {
            if let sample = try table.next(&position, joining: packets.joinedBytes) {
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

    private func endsEarly(_ place: Place) -> Bool {
        if place.table != nil { return true }
        guard search != nil, !known.isEstimated, let expected = track.properties.frameCount else { return false }
        // A duration in coarse units is rounded.
        return time.frames(place.time - origin) + time.sampleRate / 10 < expected
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        var target = min(time.time(ofFrame: frame), Int64(MP4Time.largest)) + origin
        if packets.preroll > 0 {
            let length = packets.frameCount.map(time.time(ofFrame:)) ?? 0
            let duration = try max(length, table.firstDuration(), movieTrack.defaults.duration)
            target = max(origin, target - packets.preroll * duration)
        }
        if table.count > 0 {
            let position = try table.position(atTime: target)
            if position.sample < table.count {
                let fragments = search?.first(time: try table.endTime())
                return move(
                    to: Place(table: position, fragments: fragments, time: position.time), at: position.time, frame)
            }
        }
        guard let found = try search?.find(target, origin: origin) else { return move(to: Place(), at: nil, frame) }
        return move(
            to: Place(fragments: found.fragments, sample: found.sample, time: found.time), at: found.sample?.time, frame
        )
    }

    /// - Parameter time: of the next sample; nil at the end.
    /// - Returns: the frame of the next packet.
    private func move(to place: Place, at time: Int64?, _ frame: Int64) -> Int64 {
        self.place = place
        overlap = MP4OverlapCheck()
        return time.map { self.time.frames($0 - origin) } ?? frame
    }
}
