/// The header of a packet of AAC in an elementary stream (ADTS; ISO/IEC 14496-3, 1.A.2.2).
struct ADTSHeader: Equatable {
    /// The fields that are the same in every packet of a stream: object type, sample rate and channels.
    let stream: UInt16
    /// With the header.
    let byteCount: Int
    /// Of the header, with its checksum.
    let headerSize: Int
    /// Parts of the packet with 1024 frames each, at least one.
    let blockCount: Int

    static let leastSize = 7
    /// Headers in a row that show that a file is ADTS.
    private static let testedHeaders = 3

    /// - Parameter bytes: at least `leastSize`.
    /// - Returns: nil for anything else than a header.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count >= Self.leastSize else { return nil }
        var reader = BitReader(Array(bytes.prefix(Self.leastSize)))
        guard reader.bits(12) == 0xFFF, reader.skip(1), reader.bits(2) == 0, let isUnchecked = reader.flag(),
            let objectType = reader.bits(2), let rateIndex = reader.bits(4), reader.skip(1),
            let channels = reader.bits(3), reader.skip(4), let byteCount = reader.bits(13), reader.skip(11),
            let blocks = reader.bits(2), AACSampleRate.rate(ofIndex: rateIndex) != nil
        else { return nil }
        stream = UInt16(objectType << 8 | rateIndex << 4 | channels)
        self.byteCount = Int(byteCount)
        blockCount = Int(blocks) + 1
        headerSize = isUnchecked ? 7 : 9
        guard self.byteCount > headerSize else { return nil }
    }

    /// The configuration that MP4 would have in its place.
    var config: [UInt8] {
        var writer = BitWriter()
        writer.append(UInt32(stream >> 8) + 1, 5)
        writer.append(UInt32(stream >> 4 & 0xF), 4)
        writer.append(UInt32(stream & 0xF), 4)
        writer.append(0, 3)
        return writer.bytes
    }

    /// Whether packets of one stream begin at `start`: three in a row, or all up to the end of the source.
    static func begins(_ source: any ByteSource, at start: Int64) throws(Interruption) -> Bool {
        let reader = SourceReader(source)
        var offset = start
        var first: ADTSHeader?
        for _ in 0..<testedHeaders {
            let bytes = try reader.bytes(leastSize, at: offset)
            guard let header = ADTSHeader(bytes) else {
                // Tags may follow the last packet.
                return first != nil && (bytes.isEmpty || bytes.starts(with: "TAG".utf8))
            }
            if let first, header.stream != first.stream { return false }
            first = first ?? header
            offset += Int64(header.byteCount)
        }
        return true
    }
}
