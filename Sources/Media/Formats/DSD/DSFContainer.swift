/// DSF (DSF File Format Specification 1.01): DSD in blocks of one channel each, with a tag of ID3v2 at the end.
struct DSFContainer {
    let track: TrackDescription
    /// The same track as words of DSD.
    let words: TrackDescription
    let packets: DSFPackets

    /// - Parameter base: the offset of the source in the file, for pictures.
    init(_ source: any ByteSource, tags: TrackMetadata, base: Int64 = 0) throws(Interruption) {
        var reader = ByteReader(try SourceReader(source).bytes(80, at: 0))
        reader.skip(20)
        guard let tagOffset = reader.littleEndian(UInt64.self), reader.code() == "fmt ",
            let formatSize = reader.littleEndian(UInt64.self), 52...4096 ~= formatSize,
            reader.littleEndian(UInt32.self) != nil, let identifier = reader.littleEndian(UInt32.self),
            reader.littleEndian(UInt32.self) != nil, let channels = reader.littleEndian(UInt32.self),
            let rate = reader.littleEndian(UInt32.self), let bits = reader.littleEndian(UInt32.self),
            let sampleCount = reader.littleEndian(UInt64.self), let blockSize = reader.littleEndian(UInt32.self)
        else { throw .damaged(what: "DSF without its header") }
        guard identifier == 0, bits == 1 || bits == 8, blockSize == UInt32(DSFPackets.blockSize) else {
            throw .unsupported(what: "DSF with another coding than blocks of DSD")
        }
        let bitRate = try DSDDescription.rate(rate, of: "DSF")
        let channelCount = try AudioLimits.channelCount(Int(clamping: channels), of: "DSF")
        let dataOffset = 28 + Int64(formatSize)
        var data = ByteReader(try SourceReader(source).bytes(4, at: dataOffset))
        guard data.code() == "data" else { throw .damaged(what: "DSF without sound data") }
        packets = DSFPackets(
            source, channelCount: channelCount, isLowestFirst: bits == 1, dataOffset: dataOffset + 12,
            declaredBytes: Int64(min(sampleCount / 8, UInt64(AudioLimits.largestData) / 16)))
        var metadata = tags
        if tagOffset > 0, tagOffset < UInt64(AudioLimits.largestData), !source.isStreamed {
            metadata = metadata.overridden(by: try ID3v2.read(from: source, at: Int64(tagOffset)), at: base)
        }
        let description = DSDDescription(
            bitRate: bitRate, channelCount: channelCount, byteCount: packets.byteCount)
        track = description.track(in: .dsf, metadata)
        words = description.words(of: track)
    }
}

/// The bytes of DSF in the order of DFF: one of each channel in turn, the oldest bit at the top. A frame is one byte of
/// each channel.
final class DSFPackets: TimedPacketSource {
    /// The bytes of one channel in a block.
    static let blockSize = 4096

    /// Bytes of each channel, as far as it is known without reading to the end.
    let byteCount: Int64?
    private(set) var isCutShort = false

    private let source: any ByteSource
    private let channelCount: Int
    private let isLowestFirst: Bool
    private let dataOffset: Int64
    private let declaredBytes: Int64
    private var position: Int64 = 0
    private let buffer = PacketBuffer()
    private let staging: UnsafeMutableRawBufferPointer

    init(
        _ source: any ByteSource, channelCount: Int, isLowestFirst: Bool, dataOffset: Int64, declaredBytes: Int64
    ) {
        self.source = source
        self.channelCount = channelCount
        self.isLowestFirst = isLowestFirst
        self.dataOffset = dataOffset
        self.declaredBytes = declaredBytes
        let group = Int64(Self.blockSize * channelCount)
        let present = source.length.map { max(0, $0 - dataOffset) / group * Int64(Self.blockSize) }
        byteCount = min(present ?? declaredBytes, declaredBytes)
        staging = .allocate(byteCount: Self.blockSize * channelCount, alignment: 16)
    }

    deinit { staging.deallocate() }

    func nextPacket() throws(Interruption) -> Packet? {
        guard position < declaredBytes else { return nil }
        let size = Self.blockSize * channelCount
        let offset = dataOffset + position / Int64(Self.blockSize) * Int64(size)
        guard let group = try buffer.fill(size, from: source, at: offset) else {
            isCutShort = true
            return nil
        }
        let first = Int(position % Int64(Self.blockSize))
        let count = Int(min(Int64(Self.blockSize - first), declaredBytes - position))
        for channel in 0..<channelCount {
            let block = UnsafeRawBufferPointer(rebasing: group[(channel * Self.blockSize + first)...])
            var index = 0
            while index < count {
                let byte = block[index]
                staging[index &* channelCount &+ channel] = isLowestFirst ? byte.bitsReversed : byte
                index &+= 1
            }
        }
        let packet = Packet(
            bytes: UnsafeRawBufferPointer(rebasing: staging[..<(count * channelCount)]), timeStamp: position,
            duration: Int64(count))
        position += Int64(count)
        return packet
    }

    func seek(toFrame frame: Int64) -> Int64 {
        position = min(max(0, frame), declaredBytes)
        return position
    }
}

extension UInt8 {
    var bitsReversed: UInt8 {
        let halves = self &>> 4 | self &<< 4
        let quarters = (halves & 0xCC) &>> 2 | (halves & 0x33) &<< 2
        return (quarters & 0xAA) &>> 1 | (quarters & 0x55) &<< 1
    }
}
