/// The header of a packet of AAC in an elementary stream (ADTS; ISO/IEC 14496-3, 1.A.2.2).
struct ADTSHeader: Equatable {
    /// The fields that are the same in every packet of a stream: sample rate and channels. The object type is none of
    /// them: encoders of AAC-LC write Main, SSR or LTP there.
    let stream: UInt16
    /// The bytes of the packet, with the header.
    let byteCount: Int
    /// The size of the header, with its checksum.
    let headerSize: Int
    /// Parts of the packet with 1024 frames each, at least one.
    let blockCount: Int

    static let leastSize = 7
    /// Headers in a row that show that a file is ADTS.
    static let testedHeaders = 3
    /// The most bytes before the first packet.
    static let mostJunk: Int64 = 65_536

    /// - Parameter bytes: at least `leastSize`.
    /// - Returns: nil for anything else than a header.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count >= Self.leastSize else { return nil }
        var reader = BitReader(Array(bytes.prefix(Self.leastSize)))
        guard reader.bits(12) == 0xFFF, reader.skip(1), reader.bits(2) == 0, let isUnchecked = reader.flag(),
            reader.skip(2), let rateIndex = reader.bits(4), reader.skip(1),
            let channels = reader.bits(3), reader.skip(4), let byteCount = reader.bits(13), reader.skip(11),
            let blocks = reader.bits(2), AACSampleRate.rate(ofIndex: rateIndex) != nil
        else { return nil }
        stream = UInt16(rateIndex << 4 | channels)
        self.byteCount = Int(byteCount)
        blockCount = Int(blocks) + 1
        headerSize = isUnchecked ? 7 : 9
        guard self.byteCount > headerSize else { return nil }
    }

    /// Whether the header assigns positions to its channels. Otherwise a description is needed, which few streams
    /// contain.
    var hasChannels: Bool { stream & 0xF != 0 }

    /// The configuration that MP4 would have instead.
    var config: [UInt8] { Self.config(ofStream: stream) }

    static func config(ofStream stream: UInt16) -> [UInt8] {
        var writer = BitWriter()
        writer.append(AudioSpecificConfig.ObjectType.lowComplexity, 5)
        writer.append(UInt32(stream >> 4 & 0xF), 4)
        writer.append(UInt32(stream & 0xF), 4)
        writer.append(0, 3)
        return writer.bytes
    }

    /// Whether packets of one stream begin at `start`: so many in a row, or all up to the end or to a tag.
    static func begins(
        _ source: any ByteSource, at start: Int64, headers: Int = testedHeaders
    ) throws(Interruption) -> Bool {
        let reader = SourceReader(source)
        var offset = start
        var first: ADTSHeader?
        for number in 0..<headers {
            let bytes = try reader.bytes(MPEGTags.markerSize, at: offset)
            guard let header = ADTSHeader(bytes) else {
                if number == 0 { return false }
                guard bytes.isEmpty else { return MPEGTags.isMarker(bytes) }
                // When there are several packets, the last one may be cut off.
                if number > 1 { return true }
                return try !reader.bytes(1, at: offset - 1).isEmpty
            }
            if let first, header.stream != first.stream { return false }
            first = first ?? header
            offset += Int64(header.byteCount)
        }
        return true
    }

    /// The offset of the next packets of one stream.
    /// - Parameters:
    ///   - limit: how many bytes further on at most.
    ///   - known: of this stream two headers in a row are enough.
    static func search(
        _ source: any ByteSource, from start: Int64, limit: Int64, headers: Int = testedHeaders,
        like known: UInt16? = nil
    ) throws(Interruption) -> Int64? {
        var cursor = SourceCursor(source, from: start, to: start + limit)
        while let byte = try cursor.byte() {
            guard byte == 0xFF else { continue }
            let offset = cursor.offset - 1
            guard let header = ADTSHeader(try SourceReader(source).bytes(leastSize, at: offset)), header.hasChannels,
                try begins(source, at: offset, headers: header.stream == known ? 2 : headers)
            else { continue }
            return offset
        }
        return nil
    }
}
