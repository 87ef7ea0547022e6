import PCM

/// AAC in an elementary stream (`.aac`, or the packed segments of HLS): packets one after the other, each with a
/// header. It has no length and no index. Both are found by reading or, for segments, from their manifest and time
/// stamps.
final class ADTSContainer: TimedPacketSource {
    /// The description of the track. It is preliminary, until `decode(to:…)`.
    private(set) var track: TrackDescription
    let config: AudioSpecificConfig
    private(set) var isCutShort = false

    private let source: any ByteSource
    private let stream: UInt16
    private let segments: PackedSegments?
    private var packets = PacketRules()
    private var place: Place
    /// The offset of each 64th packet, as far as the stream was read.
    private var offsets: [Int64]
    private let buffer = PacketBuffer()

    /// How the codec decodes packets.
    private struct PacketRules {
        /// The frames of a packet.
        var frameCount = Int64(AudioSpecificConfig.coreFrameCount)
        /// Packets that are decoded before the first one that is played.
        var preroll: Int64 = 0
    }

    private struct Place {
        var offset: Int64
        var packet: Int64 = 0
        /// The header fields of the packet before.
        var stream: UInt16
        /// The segment that contained the packet before; nil before the first one, and without segments.
        var region: Int64?
    }

    /// A packet, and its offset.
    private typealias Finding = (offset: Int64, header: ADTSHeader)

    private static let pageSize = 32_768
    private static let packetsPerOffset: Int64 = 64
    /// Enough for more than 200 hours at 44.1 kHz. After these, a seek reads from the last one on.
    private static let mostOffsets = 524_288
    /// The most bytes between packets that are skipped: a hole in a file that was copied only in part.
    private static let mostJunk: Int64 = 16_777_216
    private static let mostTagRuns = 64

    /// - Parameters:
    ///   - source: begins with a header.
    ///   - base: where the source begins in the file.
    ///   - chain: the segments that `source` reads, if it is made of them. Each may begin with tags.
    init(
        _ source: any ByteSource, tags: TrackMetadata, base: Int64 = 0, chain: SegmentChain? = nil
    ) throws(Interruption) {
        let paged = PagedSource(source, pageSize: Self.pageSize)
        self.source = paged
        var segments: PackedSegments?
        if let chain {
            let first = SegmentChain.offsets(of: SegmentChain.firstRegion).lowerBound
            segments = try PackedSegments(chain, paged, start: PackedSegments.firstPacket(of: paged, at: first))
        }
        self.segments = segments
        let start = segments?.start ?? 0
        offsets = [start]
        guard let header = ADTSHeader(try SourceReader(paged).bytes(ADTSHeader.leastSize, at: start)) else {
            throw .damaged(what: "AAC that does not begin with a packet")
        }
        stream = header.stream
        place = Place(offset: start, stream: stream)
        guard header.hasChannels else { throw .unsupported(what: "AAC with channels that its header does not say") }
        config = try AudioSpecificConfig(header.config)
        // In streams, tags at the end are not read.
        let length = segments == nil && !paged.isStreamed ? paged.length : nil
        let trailing: TrailingTags? =
            if let length { try TrailingTags(of: paged, length: length, base: base) } else { nil }
        let format = PCMFormat(sampleRate: config.coreSampleRate, channelCount: config.channelCount, bitDepth: 24)
        track = TrackDescription(
            properties: AudioProperties(
                format: format, frameCount: nil, container: .adts, codec: .aac, bitRate: nil),
            metadata: TrailingTags.merged(tags, trailing))
    }

    /// As in `MP4Container`.
    func decode(to format: PCMFormat, packetFrameCount: Int, preroll: Int64) {
        track.properties.format = format
        packets = PacketRules(frameCount: Int64(packetFrameCount), preroll: preroll)
        track.properties.frameCount = segments?.duration.flatMap { seconds in
            Int64(exactly: (seconds * Double(format.sampleRate)).rounded())
        }
    }

    func nextPacket() throws(Interruption) -> Packet? {
        guard let found = try packet(at: place) else { return nil }
        let timeStamp = place.packet * packets.frameCount
        let header = found.header
        guard header.blockCount == 1 else { throw .unsupported(what: "ADTS with several blocks in a packet") }
        let start = found.offset + Int64(header.headerSize)
        guard let bytes = try buffer.fill(header.byteCount - header.headerSize, from: source, at: start) else {
            try cutShort()
            return nil
        }
        advance(&place, found)
        var packet = Packet(bytes: bytes, timeStamp: timeStamp, duration: packets.frameCount)
        if header.stream != stream { packet.otherStream = header.stream }
        return packet
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        let target = max(0, frame / packets.frameCount - packets.preroll)
        let known = min(Int(min(target / Self.packetsPerOffset, Int64(Int32.max))), offsets.count - 1)
        var ahead = Place(offset: offsets[known], packet: Int64(known) * Self.packetsPerOffset, stream: place.stream)
        let rate = Double(track.properties.format.sampleRate)
        if let segments, target - ahead.packet >= Self.packetsPerOffset,
            let found = try segments.segment(of: target, secondsPerPacket: Double(packets.frameCount) / rate),
            found.packet > ahead.packet
        {
            ahead = Place(offset: found.offset, packet: found.packet, stream: place.stream)
        }
        while ahead.packet < target, let found = try packet(at: ahead) { advance(&ahead, found) }
        place = ahead
        // Nothing has to be dropped at the end.
        return ahead.packet < target ? frame : ahead.packet * packets.frameCount
    }

    private func advance(_ place: inout Place, _ found: Finding) {
        place.offset = found.offset + Int64(found.header.byteCount)
        place.packet += 1
        place.stream = found.header.stream
        place.region = SegmentChain.region(of: found.offset)
        if place.packet == Int64(offsets.count) * Self.packetsPerOffset, offsets.count < Self.mostOffsets {
            offsets.append(place.offset)
        }
    }

    /// The packet at a place, or the next one after tags and bytes that are no packet.
    /// - Returns: nil at the end of the stream.
    private func packet(at place: Place) throws(Interruption) -> Finding? {
        let reader = SourceReader(source)
        var offset = place.offset
        for _ in 0..<Self.mostTagRuns {
            guard offset < AudioLimits.largestData else { return nil }
            let bytes = try reader.bytes(ADTSHeader.leastSize, at: offset)
            if let header = ADTSHeader(bytes), header.hasChannels {
                // A packet of another stream is accepted only if more packets of that stream follow.
                if header.stream == place.stream { return (offset, header) }
                if try ADTSHeader.begins(source, at: offset) { return (offset, header) }
            }
            let next: Int64?
            if bytes.isEmpty {
                next = try segments?.next(after: offset)
            } else {
                next = try behindOthers(at: offset, place)
            }
            guard let next else { return nil }
            offset = next
        }
        return nil
    }

    /// Where the next packet may begin, after tags or after bytes that are no packet.
    /// - Returns: nil when there is none.
    private func behindOthers(at offset: Int64, _ place: Place) throws(Interruption) -> Int64? {
        let end: Int64
        if let segments {
            end = try segments.endOfTags(at: offset)
        } else {
            end = try MPEGTags.end(of: source, at: offset)
        }
        if end > offset { return end }
        let found = try ADTSHeader.search(source, from: offset, limit: Self.mostJunk, like: place.stream)
        if let found { return found }
        guard let segments else { return nil }
        // A server may send something else instead of a segment.
        guard place.region == SegmentChain.region(of: offset) else { throw Self.unusable }
        return try segments.next(after: offset)
    }

    private static var unusable: Interruption { SegmentChain.unusable("is cut off, or is not AAC") }

    private func cutShort() throws(Interruption) {
        if segments != nil { throw Self.unusable }
        isCutShort = true
    }
}
