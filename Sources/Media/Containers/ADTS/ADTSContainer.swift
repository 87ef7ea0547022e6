import PCM

/// AAC in an elementary stream (`.aac`, or the packed segments of HLS): packets with a header each, one behind the
/// other. It has no length and no index; both are found by reading, and for segments by their manifest and time stamps.
final class ADTSContainer: TimedPacketSource {
    /// Preliminary, until `decode(to:…)`.
    private(set) var track: TrackDescription
    let config: AudioSpecificConfig
    private(set) var isCutShort = false

    private let source: any ByteSource
    private let stream: UInt16
    private let segments: PackedSegments?
    private var packetFrameCount = Int64(AudioSpecificConfig.coreFrameCount)
    private var preroll: Int64 = 0
    private var place: Place
    /// Where each 64th packet begins, as far as the stream was read.
    private var offsets: [Int64]
    private let buffer = PacketBuffer()

    private struct Place {
        var offset: Int64
        var packet: Int64 = 0
    }

    private static let pageSize = 32_768
    private static let packetsPerOffset: Int64 = 64
    /// More than 200 hours at 44.1 kHz. Behind these a seek reads from the last one on.
    private static let mostOffsets = 524_288
    /// Bytes between packets that are skipped.
    private static let mostJunk: Int64 = 65_536

    /// - Parameters:
    ///   - source: begins with a header.
    ///   - chain: the segments that `source` reads, if it is made of them. Each may begin with tags.
    init(_ source: any ByteSource, tags: TrackMetadata, chain: SegmentChain? = nil) throws(Interruption) {
        let paged = PagedSource(source, pageSize: Self.pageSize)
        self.source = paged
        let segments: PackedSegments? = if let chain { try PackedSegments(chain, paged) } else { nil }
        self.segments = segments
        let start = segments?.start ?? 0
        place = Place(offset: start)
        offsets = [start]
        guard let header = ADTSHeader(try SourceReader(paged).bytes(ADTSHeader.leastSize, at: start)) else {
            throw .damaged(what: "AAC that does not begin with a packet")
        }
        stream = header.stream
        guard stream & 0xF != 0 else { throw .unsupported(what: "AAC with channels that its header does not say") }
        config = try AudioSpecificConfig(header.config)
        let format = PCMFormat(sampleRate: config.coreSampleRate, channelCount: config.channelCount, bitDepth: 24)
        track = TrackDescription(
            properties: AudioProperties(
                format: format, frameCount: nil, container: .adts, codec: .aac, bitRate: nil), metadata: tags)
    }

    /// As of `MP4Container`.
    func decode(to format: PCMFormat, packetFrameCount: Int, preroll: Int64) {
        track.properties.format = format
        self.packetFrameCount = Int64(packetFrameCount)
        self.preroll = preroll
        track.properties.frameCount = segments?.duration.flatMap { seconds in
            Int64(exactly: (seconds * Double(format.sampleRate)).rounded())
        }
    }

    func nextPacket() throws(Interruption) -> Packet? {
        guard let found = try header(at: place) else { return nil }
        let timeStamp = place.packet * packetFrameCount
        guard let header = found.header else {
            // The bytes in between were one packet or more; how many is not known.
            place.offset = found.offset
            place.packet += 1
            return Packet(bytes: UnsafeRawBufferPointer(start: nil, count: 0), timeStamp: timeStamp)
        }
        guard header.blockCount == 1 else { throw .unsupported(what: "ADTS with several blocks in a packet") }
        let start = found.offset + Int64(header.headerSize)
        guard let bytes = try buffer.fill(header.byteCount - header.headerSize, from: source, at: start) else {
            try cutShort()
            return nil
        }
        place.offset = found.offset
        advance(&place, header)
        return Packet(bytes: bytes, timeStamp: timeStamp, duration: packetFrameCount)
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        let target = max(0, frame / packetFrameCount - preroll)
        let known = min(Int(min(target / Self.packetsPerOffset, Int64(Int32.max))), offsets.count - 1)
        var ahead = Place(offset: offsets[known], packet: Int64(known) * Self.packetsPerOffset)
        let rate = Double(track.properties.format.sampleRate)
        if let segments, target - ahead.packet >= Self.packetsPerOffset,
            let found = try segments.segment(of: target, secondsPerPacket: Double(packetFrameCount) / rate),
            found.packet > ahead.packet
        {
            ahead = Place(offset: found.offset, packet: found.packet)
        }
        while ahead.packet < target, let found = try header(at: ahead) {
            ahead.offset = found.offset
            if let header = found.header { advance(&ahead, header) } else { ahead.packet += 1 }
        }
        place = ahead
        // At the end there is nothing to drop.
        return ahead.packet < target ? frame : ahead.packet * packetFrameCount
    }

    private func advance(_ place: inout Place, _ header: ADTSHeader) {
        place.offset += Int64(header.byteCount)
        place.packet += 1
        if place.packet == Int64(offsets.count) * Self.packetsPerOffset, offsets.count < Self.mostOffsets {
            offsets.append(place.offset)
        }
    }

    /// The header at a place, or where the next one is when there is none: then `header` is nil.
    /// - Returns: nil at the end of the stream.
    private func header(at place: Place) throws(Interruption) -> (offset: Int64, header: ADTSHeader?)? {
        guard place.offset < AudioLimits.largestData else { return nil }
        let bytes = try SourceReader(source).bytes(ADTSHeader.leastSize, at: place.offset)
        if let header = ADTSHeader(bytes), header.stream == stream { return (place.offset, header) }
        if bytes.isEmpty, let next = try segments?.next(behind: place.offset) {
            return try header(at: Place(offset: next, packet: place.packet))
        }
        // The end, or tags at the end.
        if bytes.isEmpty || bytes.starts(with: "TAG".utf8) || bytes.starts(with: "APETAGE".utf8) { return nil }
        var cursor = SourceCursor(source, from: place.offset + 1, to: place.offset + Self.mostJunk)
        while let byte = try cursor.byte() {
            guard byte == 0xFF else { continue }
            let offset = cursor.offset - 1
            guard let header = ADTSHeader(try SourceReader(source).bytes(ADTSHeader.leastSize, at: offset)),
                header.stream == stream, try ADTSHeader.begins(source, at: offset)
            else { continue }
            return (offset, nil)
        }
        try cutShort()
        return nil
    }

    private func cutShort() throws(Interruption) {
        if segments != nil { throw SegmentChain.unusable("is cut off, or is not AAC") }
        isCutShort = true
    }
}
