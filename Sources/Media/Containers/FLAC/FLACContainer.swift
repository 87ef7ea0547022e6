/// A native FLAC file. Its packets are spans of the elementary stream, as long as it is convenient to read: libFLAC
/// finds the frames in them, and searches in them by byte offsets (docs/decisions/packets-and-not-yet.md).
final class FLACContainer: PacketSource {
    /// Of the stream that the file begins with.
    let header: FLACHeader
    let track: TrackDescription
    let source: any ByteSource
    /// Where the next packet begins, in the file.
    private(set) var offset: Int64
    /// Where in the file the packets end; nil: with the file.
    var end: Int64?
    /// The codec counts frames and finds that out.
    let isCutShort = false

    private let steps: StepSource
    private let span: UnsafeMutableRawBufferPointer
    private var packet: Packet
    private var packetOffset: Int64 = 0
    private var nextSize = FLACContainer.smallestSpan

    /// libFLAC's own buffer. Grows while packets are taken one after the other, so that a search reads little.
    private static let smallestSpan = 8192
    private static let largestSpan = 32_768

    /// - Parameter tags: what stood before the stream; the stream's own tags win over it.
    /// - Parameter steps: what `source` reads through.
    init(_ source: any ByteSource, steps: StepSource, tags: TrackMetadata) throws(Interruption) {
        header = try FLACHeader(source, at: 0)
        var metadata = tags
        if let comments = header.comments {
            metadata = tags.overridden(by: try VorbisComments.read(from: source, in: comments))
        }
        let info = header.streamInfo
        let properties = AudioProperties(
            format: info.format, frameCount: info.frameCount, container: .flac, codec: .flac,
            bitRate: header.averageBitRate(fileLength: source.length))
        track = TrackDescription(properties: properties, metadata: metadata)
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
    /// - Returns: the rest of the last packet, if it begins in there; the next packet then follows on it.
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

    /// What was read up to here is decoded.
    func finishStep() { steps.finishStep() }

    /// The header of another stream that was put behind the one that ends at `offset`, if there is one.
    func appendedHeader(at offset: Int64) throws(Interruption) -> FLACHeader? {
        let start = try ID3v2.end(of: source, at: offset)
        guard try SourceReader(source).bytes(4, at: start) == FLACHeader.marker else { return nil }
        do throws(Interruption) { return try FLACHeader(source, at: start) } catch {
            if error.isOfSource { throw error }
            return nil
        }
    }
}
