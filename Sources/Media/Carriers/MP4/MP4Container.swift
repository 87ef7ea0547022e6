import PCM

/// An audio track in ISO base media (MP4, M4A, CMAF): samples that the movie box describes, then those in
/// fragments (docs/decisions/iso-base-media.md).
final class MP4Container: TimedPacketSource {
    /// The description of the track. It is preliminary for AAC, until `decode(to:…)`.
    var track: TrackDescription { known.track }
    /// The codec of the track.
    let codec: MP4SampleEntry.Codec
    var protectionSystems: [MP4ProtectionSystem] { description.movie.protectionSystems }
    /// The scheme of the first description that is encrypted.
    var encryptionScheme: PacketEncryption.Scheme? {
        description.track.entries.lazy.compactMap { $0.protection?.scheme }.first
    }
    private(set) var isCutShort = false

    /// Whether it is a chain of segments.
    private let isSegmented: Bool
    private let description: MP4Description
    /// The track by the description, and whether its number of frames comes only from a manifest.
    private var known: (track: TrackDescription, isEstimated: Bool)
    private var time: MP4Time
    private var samples: MP4Samples
    private var reader: MP4SampleReader
    private var packets: PacketRules

    private static let boxPageSize = 4096
    static let dataPageSize = 32_768
    private static let mostJoinedBytes: Int64 = 16_384

    /// How the codec divides the samples into packets.
    private struct PacketRules {
        /// Packets that are decoded before the first one that is played.
        var preroll: Int64
        /// The frames of a packet, for a codec whose packets have one length; the last one is filled up.
        var frameCount: Int64?
        /// Whether no packet has another length.
        var isUniform = false
        /// The bytes that make a packet of PCM, whose samples are single frames; 0 for other codecs.
        let joinedBytes: Int64
    }

    /// - Parameters:
    ///   - tags: the tags before the file; its own tags override them.
    ///   - base: where `source` begins in the file.
    ///   - chain: the segments that `source` reads, if it is made of them.
    init(
        _ source: any ByteSource, tags: TrackMetadata, base: Int64 = 0, chain: SegmentChain? = nil
    ) throws(Interruption) {
        let boxes = PagedSource(source, pageSize: Self.boxPageSize)
        reader = MP4SampleReader(PagedSource(source, pageSize: Self.dataPageSize))
        isSegmented = chain != nil
        let layout = try MP4Layout(boxes, chain: chain)
        let movie = layout.movie
        let (movieTrack, entry) = try movie.playableTrack()
        guard let format = entry.codec.format else { throw .unsupported(what: "MP4 with an unknown codec") }
        let time = MP4Time(timescale: movieTrack.timescale, sampleRate: format.sampleRate)
        var samples = try MP4Samples(layout, movieTrack, of: source, boxes, time, chain: chain)

        description = MP4Description(
            movie: movie, track: movieTrack, tags: tags, base: chain == nil ? base : nil, origin: samples.origin,
            end: try samples.end(layout, time), byteCount: source.length, manifestDuration: chain?.duration)
        known = description.track(format, entry.codec.name, time)
        codec = entry.codec
        let joinedBytes = if case .pcm = entry.codec { Self.mostJoinedBytes } else { Int64(0) }
        packets = PacketRules(preroll: movieTrack.preroll, joinedBytes: joinedBytes)
        self.samples = samples
        self.time = time
    }

    /// Takes properties that only the packets of the codec have. Call it before the first seek of a decoder.
    /// - Parameters:
    ///   - packetFrameCount: decoded frames of each packet.
    ///   - preroll: packets that the codec needs before the first one that is played.
    func decode(to format: PCMFormat, packetFrameCount: Int, preroll: Int64) throws(Interruption) {
        time.sampleRate = Int64(format.sampleRate)
        packets.frameCount = Int64(packetFrameCount)
        packets.preroll = max(packets.preroll, preroll)
        switch codec {
        case .aac, .mp3: packets.isUniform = true
        default: break
        }
        var decoded: Int64?
        if packets.isUniform {
            decoded = try samples.frameCount(ofPacket: Int64(packetFrameCount)) { padding(time.frames($0)) }
        }
        known = description.track(format, codec.name, time, decoded: decoded)
    }

    /// Whether times are counted in frames, or in a fraction of them.
    var hasExactTimes: Bool { time.timescale % time.sampleRate == 0 }

    func nextPacket() throws(Interruption) -> Packet? {
        var ahead = samples.place
        guard let sample = try samples.next(&ahead, joining: packets.joinedBytes) else {
            isCutShort = isCutShort || endsEarly(ahead)
            return nil
        }
        // When PCM is cut off, the part before can be played.
        let byteCount = reader.byteCount(of: sample, isDivisible: packets.joinedBytes > 0)
        guard let bytes = try reader.read(sample, byteCount) else {
            if isSegmented { throw SegmentChain.unusable("ends inside of a sample") }
            isCutShort = true
            return nil
        }
        ahead.time = sample.time + sample.duration
        let start = time.frames(sample.time - samples.origin)
        let duration = time.frames(ahead.time - samples.origin) - start
        let padding = try padding(duration, after: ahead)
        reader.count(sample)
        samples.place = ahead
        if Int64(byteCount) < sample.size { isCutShort = true }
        return Packet(
            bytes: bytes, timeStamp: start, duration: duration, trim: PacketTrim(trailing: padding),
            encryption: sample.encryption)
    }

    /// Frames that the encoder added to the last packet: its duration is shorter than that of the others.
    private func padding(_ duration: Int64, after position: MP4Samples.Place) throws(Interruption) -> Int {
        let padding = padding(duration)
        guard padding > 0 else { return 0 }
        var rest = position
        return try samples.next(&rest, joining: packets.joinedBytes) == nil ? Int(padding) : 0
    }

    /// - Parameter duration: of the last packet.
    private func padding(_ duration: Int64) -> Int64 {
        // In coarse units every packet is a little too short or too long.
        guard let frameCount = packets.frameCount, duration > 0, duration < frameCount,
            2 * time.timescale >= time.sampleRate
        else { return 0 }
        return frameCount - duration
    }

    private func endsEarly(_ position: MP4Samples.Place) -> Bool {
        if position.table != nil { return true }
        guard samples.hasFragments, !known.isEstimated, let expected = track.properties.frameCount else { return false }
        // A duration in coarse units is rounded.
        return time.frames(position.time - samples.origin) + time.sampleRate / 10 < expected
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        if packets.isUniform, let count = packets.frameCount,
            let number = try samples.seek(toSample: max(0, frame / count - packets.preroll))
        {
            reader.restart()
            return number * count
        }
        let origin = samples.origin
        var target = min(time.time(ofFrame: frame), AudioLimits.largestTime) + origin
        if packets.preroll > 0 {
            let length = packets.frameCount.map(time.time(ofFrame:)) ?? 0
            let duration = try max(length, samples.usualDuration())
            target = max(origin, target - packets.preroll * duration)
        }
        let start = try samples.seek(to: target)
        reader.restart()
        return start.map { time.frames($0 - origin) } ?? frame
    }
}
