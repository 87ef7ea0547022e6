import PCM

/// The sound of a file of Matroska or WebM (docs/decisions/matroska.md).
///
/// Frames are counted from the first packet on, as the codec decodes them. Times are those after `prepare`.
final class MatroskaContainer: TimedPacketSource {
    private(set) var track: TrackDescription
    private(set) var isCutShort = false

    private let segment: MatroskaSegment
    private let walk: MatroskaWalk
    private var clock: MatroskaClock
    private var position: MatroskaPlace
    private let buffer = PacketBuffer()

    /// The most clusters that a seek tries, going backwards.
    private static let mostSearches: Int64 = 12
    /// The longest plausible gap, in seconds. A longer one is itself damaged.
    private static let longestGap: Int64 = 600

    /// - Parameters:
    ///   - tags: of the file's front; those of the segment override them.
    ///   - base: where `source` begins in the file.
    init(_ source: any ByteSource, tags: TrackMetadata, base: Int64 = 0) throws(Interruption) {
        segment = try MatroskaSegment(PagePairSource(source))
        walk = MatroskaWalk(segment: segment)
        position = MatroskaPlace(segment.firstCluster)
        let codec = segment.track.codec
        clock = MatroskaClock(segment, sampleRate: codec.format.sampleRate)
        let properties = AudioProperties(
            format: codec.format, frameCount: nil, container: .matroska, codec: codec.name, bitRate: nil)
        track = TrackDescription(properties: properties, metadata: tags.overridden(by: segment.metadata, at: base))
    }

    var codec: MatroskaCodec { segment.track.codec }

    /// Goes to the first packet, and learns when packets begin and how many there are.
    /// - Parameters:
    ///   - format: that of the codec; nil: that of the headers.
    ///   - packetFrameCount: frames of every packet, if they have one length.
    ///   - preroll: frames that are decoded before one that is played; nil: that of the codec.
    ///   - edit: the part that is played, if the packets contain it.
    func prepare(
        format: PCMFormat? = nil, packetFrameCount: Int? = nil, preroll: Int64? = nil, edit: TrackEdit? = nil
    ) throws(Interruption) {
        let format = format ?? codec.format
        position = MatroskaPlace(segment.firstCluster)
        clock = MatroskaClock(
            segment, sampleRate: format.sampleRate, packetFrameCount: packetFrameCount, preroll: preroll)
        try clock.measure(from: position, walk)
        track.properties.format = format
        var delay = clock.frames(ofNanoseconds: Int64(clamping: segment.track.delay))
        if case .ogg(let content) = codec, content.preSkip > 0 { delay = content.preSkip }
        track.edit = edit ?? TrackEdit(leading: delay)
        try measureLength()
    }

    private func measureLength() throws(Interruption) {
        let source = segment.reader.source
        var end: Int64?
        if case .ogg(.flac(let info)) = codec { end = info.frameCount }
        if end == nil, !source.isStreamed, source.length != nil { end = try locate(.max).end }
        if end == nil, let duration = segment.duration, duration > 0 { end = clock.frames(ofUnits: duration) }
        let count = track.edit.frameCount(ofDecoded: end)
        track.properties.frameCount = count
        if case .ogg(.flac(let info)) = codec, info.frameCount == count {
            track.properties.sampleDigest = info.sampleDigest
        }
        if segment.trackCount == 1, let length = source.length, let seconds = track.properties.duration, seconds > 0 {
            track.properties.bitRate = Int32(exactly: (Double(length) * 8 / seconds).rounded(.down)).map { Int($0) }
        }
    }

    // MARK: Packets

    func nextPacket() throws(Interruption) -> Packet? {
        while true {
            if position.silence > 0 { return silence() }
            var next = position
            switch try walk.step(&next) {
            case .end(let isCut):
                isCutShort = isCutShort || isCut
                return nil
            case .packet(let found):
                if let gap = try gap(before: found, at: position.time, next: next) {
                    position.silence = gap
                    continue
                }
                let packet = try read(found, &next)
                position = next
                if let packet { return packet }
            }
        }
    }

    /// - Returns: nil for a packet that is too large or cut off.
    private func read(_ found: MatroskaPacket, _ next: inout MatroskaPlace) throws(Interruption) -> Packet? {
        let size = found.range.upperBound - found.range.lowerBound
        guard size <= PacketBuffer.mostBytes else { return nil }
        let bytes = try buffer.fill(
            Int(size), from: segment.reader.source, at: found.range.lowerBound, prefix: segment.track.prefix)
        guard let bytes else {
            isCutShort = true
            return nil
        }
        let head = Array(bytes.prefix(MatroskaCodec.headBytes))
        let duration = clock.duration(of: head, found, after: &next.blockSize)
        var packet = Packet(bytes: bytes, timeStamp: next.time, duration: duration)
        let padding = clock.padding(found, duration)
        var rest = next
        // Times continue over padding in the middle, and so does the sound.
        if padding > 0, case .end = try walk.step(&rest) { packet.trim.trailing = Int(padding) }
        next.time += duration
        return packet
    }

    /// A packet without bytes for frames that are missing.
    private func silence() -> Packet {
        let count = min(position.silence, codec.silence(usual: clock.packetFrameCount) ?? .max)
        let packet = Packet(
            bytes: UnsafeRawBufferPointer(start: nil, count: 0), timeStamp: position.time, duration: count)
        position.silence -= count
        position.time += count
        return packet
    }

    private func gap(
        before packet: MatroskaPacket, at frame: Int64, next: MatroskaPlace
    ) throws(Interruption) -> Int64? {
        // PCM has no other form of silence.
        if case .pcm = codec { return nil }
        guard let gap = try clock.gap(before: packet, at: frame, walk, next: next),
            gap <= Self.longestGap * clock.sampleRate
        else { return nil }
        return gap
    }

    // MARK: Seeking

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        position = try locate(min(max(0, frame), AudioLimits.largestData)).position
        return position.time
    }

    /// The last place from which a frame can be decoded, and where the skipped packets end.
    private func locate(_ frame: Int64) throws(Interruption) -> (position: MatroskaPlace, end: Int64) {
        let wanted = frame - clock.preroll
        let start = MatroskaPlace(segment.firstCluster)
        guard wanted > 0 else { return (start, 0) }
        let search = MatroskaSearch(segment)
        var limit = clock.units(ofFrame: wanted)
        for number in 0..<Self.mostSearches {
            guard let cluster = try search.cluster(upTo: limit), cluster.offset > segment.firstCluster else { break }
            if let found = try clock.timed(MatroskaPlace(cluster.offset), walk), found.time <= wanted {
                return try advance(from: found, to: wanted)
            }
            // A picture may continue long after the sound has ended.
            limit = cluster.time - clock.second << number
        }
        return try advance(from: start, to: wanted)
    }

    private func advance(
        from start: MatroskaPlace, to wanted: Int64
    ) throws(Interruption) -> (position: MatroskaPlace, end: Int64) {
        var here = start
        var best = start
        var padding: Int64 = 0
        while true {
            if !codec.needsPacketBefore { best = here }
            var next = here
            guard case .packet(let found) = try walk.step(&next) else { break }
            if let gap = try gap(before: found, at: here.time, next: next) {
                guard here.time + gap <= wanted else { break }
                here.time += gap
                continue
            }
            let duration = clock.duration(of: try walk.head(of: found), found, after: &next.blockSize)
            padding = clock.padding(found, duration)
            next.time += duration
            guard next.time <= wanted else { break }
            if codec.needsPacketBefore {
                // A decoder that begins here has the frames after this packet.
                best = here
                (best.time, best.blockSize) = (next.time, 0)
            }
            here = next
        }
        return (best, here.time - padding)
    }
}
