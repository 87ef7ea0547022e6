/// A native FLAC file. Its packets are spans of the elementary stream of any length: libFLAC finds the frames in them,
/// and searches them by byte offsets (docs/decisions/packets-and-not-yet.md).
final class FLACContainer: PacketSource {
    /// The header of the first stream of the file.
    let header: FLACHeader
    let track: TrackDescription
    let source: any ByteSource
    /// The offset of the next packet in the file.
    private(set) var offset: Int64
    /// The offset in the file where the packets end; nil: the end of the file.
    var end: Int64?
    /// Always false: the codec counts the frames and detects this itself.
    var isCutShort: Bool { false }

    private let steps: StepSource
    private let span: UnsafeMutableRawBufferPointer
    private var packet: Packet
    private var packetOffset: Int64 = 0
    private var nextSize = FLACContainer.smallestSpan

    /// The size of libFLAC's buffer. Spans grow during sequential reading, so that a search reads little.
    private static let smallestSpan = 8192
    private static let largestSpan = 32_768

    /// - Parameters:
    ///   - steps: the source that `source` reads through.
    ///   - tags: the tags before the stream; the stream's own tags override them.
    ///   - base: where `source` begins in the file.
    init(
        _ source: any ByteSource, steps: StepSource, tags: TrackMetadata, base: Int64 = 0
    ) throws(Interruption) {
        header = try FLACHeader(source, at: 0)
        var own = TrackMetadata()
        if let comments = header.comments { own = try VorbisComments.read(from: source, in: comments) }
        own.pictures = header.pictures + own.pictures
        let info = header.streamInfo
        var properties = AudioProperties(
            format: info.format, frameCount: info.frameCount, container: .flac, codec: .flac,
            bitRate: header.averageBitRate(fileLength: source.length))
        properties.sampleDigest = info.sampleDigest
        track = TrackDescription(properties: properties, metadata: tags.overridden(by: own, at: base))
        self.source = source
        self.steps = steps
        offset = header.audioOffset
        span = .allocate(byteCount: Self.largestSpan, alignment: 16)
        packet = Packet(bytes: UnsafeRawBufferPointer(rebasing: span[..<0]))
    }

    deinit { span.deallocate() }

    func nextPacket() throws(Interruption) -> Packet? {
        let room = Int(max(0, min(Int64(nextSize), (end ?? .max) - offset)))
        guard room > 0 else { return nil }
        packet.bytes = UnsafeRawBufferPointer(rebasing: span[..<0])
        guard let count = try source.next(into: .init(rebasing: span[..<room]), at: offset) else { return nil }
        packet.bytes = UnsafeRawBufferPointer(rebasing: span[..<count])
        packetOffset = offset
        offset += Int64(count)
        nextSize = min(2 * nextSize, Self.largestSpan)
        return packet
    }

    /// Makes the byte at `offset` of the file the first one of the next packet.
    /// - Returns: the rest of the last packet from there on, if the offset is inside it; the next packet then follows
    ///   it.
    func seek(toOffset offset: Int64) -> UnsafeRawBufferPointer? {
        let start = offset - packetOffset
        if start >= 0, start < Int64(packet.bytes.count), self.offset == packetOffset + Int64(packet.bytes.count) {
            return UnsafeRawBufferPointer(rebasing: packet.bytes[Int(start)...])
        }
        self.offset = max(0, offset)
        nextSize = Self.smallestSpan
        packet.bytes = UnsafeRawBufferPointer(rebasing: span[..<0])
        return nil
    }

    /// Ends the step: all bytes that were read so far are decoded.
    func finishStep() { steps.finishStep() }

    /// The header of another stream that follows the one that ends at `offset`, if there is one.
    func appendedHeader(at offset: Int64) throws(Interruption) -> FLACHeader? {
        let start = try ID3v2.end(of: source, at: offset)
        guard try SourceReader(source).bytes(4, at: start) == FLACHeader.marker else { return nil }
        do throws(Interruption) { return try FLACHeader(source, at: start) } catch {
            if error.isOfSource { throw error }
            return nil
        }
    }
}
