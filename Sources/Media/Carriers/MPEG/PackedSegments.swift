/// Segments of HLS that are elementary streams (RFC 8216, 3.4). Each begins with an ID3 tag that contains its time.
struct PackedSegments {
    /// The offset of the first packet.
    let start: Int64
    /// The duration in seconds; nil while more segments may come.
    var duration: Double? { chain.duration }

    private let chain: SegmentChain
    private let source: any ByteSource
    /// The time of the first segment; nil when its tag does not contain it.
    private let firstTime: Int64?

    /// Units per second of time stamps.
    private static let timescale = 90_000.0
    /// Time stamps have 33 bits.
    private static let period: Int64 = 1 << 33
    /// The most segments without a packet, one after the other.
    private static let mostEmptySegments: Int64 = 16
    /// Segments before the one that the manifest names, in case its times are not exact.
    private static let mostStepsBack: Int64 = 4

    /// - Parameters:
    ///   - source: through which `chain` is read.
    ///   - packet: the first packet; nil: after the tag.
    init(_ chain: SegmentChain, _ source: any ByteSource, start packet: Int64?) throws(Interruption) {
        self.chain = chain
        self.source = source
        let first = SegmentChain.offsets(of: SegmentChain.firstRegion).lowerBound
        if let packet { start = packet } else { start = try ID3v2.end(of: source, at: first) }
        firstTime = try ID3v2.transportTime(of: source, at: first)
    }

    /// The first packet of AAC in a segment that begins at `offset`, after tags and the end of a packet that was cut.
    /// - Returns: nil for segments that are no AAC.
    static func firstPacket(of source: any ByteSource, at offset: Int64) throws(Interruption) -> Int64? {
        let start = try MPEGTags.end(of: source, at: offset)
        if ADTSHeader(try SourceReader(source).bytes(ADTSHeader.leastSize, at: start)) != nil { return start }
        return try ADTSHeader.search(
            source, from: start, limit: ADTSHeader.mostJunk, headers: ADTSHeader.testedHeaders + 1)
    }

    /// Where the tags at `offset` end. A tag that is longer than the rest of its segment continues in the next one.
    func endOfTags(at offset: Int64) throws(Interruption) -> Int64 {
        let end = try MPEGTags.end(of: source, at: offset)
        let reader = SourceReader(source)
        guard end > offset, try reader.bytes(1, at: end - 1).isEmpty else { return end }
        var cursor = SourceCursor(source, from: offset, to: end)
        while try cursor.byte() != nil {}
        let region = SegmentChain.region(of: offset) + 1
        guard try chain.hasSegment(region) else { return end }
        return SegmentChain.offsets(of: region).lowerBound + end - cursor.offset
    }

    /// The first packet of the next segment after the one at `offset`; nil when there is none.
    func next(after offset: Int64) throws(Interruption) -> Int64? {
        var region = SegmentChain.region(of: offset)
        for _ in 0..<Self.mostEmptySegments {
            region += 1
            guard try chain.hasSegment(region) else { return nil }
            let start = SegmentChain.offsets(of: region).lowerBound
            let packet = try ID3v2.end(of: source, at: start)
            if try !SourceReader(source).bytes(1, at: packet).isEmpty { return packet }
            // A segment with a tag but no packets has no sound. After the last segment there is nothing.
            if packet == start, try chain.hasSegment(region + 1) { throw SegmentChain.unusable("is empty") }
        }
        return nil
    }

    /// The segment in which a packet is, by its time stamp.
    /// - Returns: its first packet, which is `packet` or one before; nil when its tag does not contain its time.
    func segment(of packet: Int64, secondsPerPacket: Double) throws(Interruption) -> (offset: Int64, packet: Int64)? {
        guard let firstTime else { return nil }
        let named = chain.region(at: Double(packet) * secondsPerPacket)
        var region = named
        while region > SegmentChain.firstRegion, named - region <= Self.mostStepsBack {
            let offset = SegmentChain.offsets(of: region).lowerBound
            guard try chain.hasSegment(region), let time = try ID3v2.transportTime(of: source, at: offset) else {
                return nil
            }
            let elapsed = Double((time - firstTime + Self.period) % Self.period) / Self.timescale
            let first = Int64((elapsed / secondsPerPacket).rounded())
            if first <= packet { return (try ID3v2.end(of: source, at: offset), first) }
            region -= 1
        }
        return nil
    }
}
