import Media

/// The segments of a FLAC file: each is a run of its frames, of about four seconds.
struct SegmentTable: Equatable, Sendable {
    struct Segment: Equatable, Sendable {
        /// The position of its first frame in the file.
        var offset: Int64
        var byteCount: Int64
        var firstSample: Int64
        /// The samples of one channel.
        var sampleCount: Int64
    }

    /// The target duration of a segment, in seconds.
    private static let segmentDuration: Int64 = 4

    /// The content of the STREAMINFO block.
    let streamInfo: [UInt8]
    private(set) var segments: [Segment] = []

    /// Reads all frames of a file.
    /// - Throws: `.damaged` for a file that is not one run of intact frames. It can only be served unchanged.
    init(_ source: any ByteSource) throws(MediaError) {
        var frames = try FLACFrames(source)
        streamInfo = frames.streamInfo
        let wanted = Int64(frames.format.sampleRate) * Self.segmentDuration
        var open: Segment?
        while let frame = try frames.next() {
            var segment =
                open
                ?? Segment(offset: frame.offset, byteCount: 0, firstSample: frame.firstSample, sampleCount: 0)
            segment.byteCount += Int64(frame.byteCount)
            segment.sampleCount += Int64(frame.sampleCount)
            // Ends the segment as near to the target duration as whole frames allow.
            if segment.sampleCount + Int64(frame.sampleCount) / 2 > wanted {
                segments.append(segment)
                open = nil
            } else {
                open = segment
            }
        }
        if let open { segments.append(open) }
        guard !segments.isEmpty else { throw .damaged(what: "FLAC without a frame") }
    }

    /// The samples of one channel.
    var sampleCount: Int64 { segments.last.map { $0.firstSample + $0.sampleCount } ?? 0 }
}

// MARK: In the index

extension SegmentTable {
    /// Encodes STREAMINFO, the offset of the first frame, then bytes and samples of each segment; big-endian.
    func encoded() -> [UInt8] {
        var bytes = streamInfo
        func append(_ value: Int64) {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: value >> Int64(shift)))
            }
        }
        append(segments.first?.offset ?? 0)
        for segment in segments {
            append(segment.byteCount << 32 | segment.sampleCount)
        }
        return bytes
    }

    /// Returns nil for bytes that `encoded` does not make.
    init?(encoded bytes: [UInt8]) {
        let headCount = 34
        guard bytes.count > headCount + 8, (bytes.count - headCount) % 8 == 0 else { return nil }
        streamInfo = Array(bytes[..<headCount])
        func value(at place: Int) -> Int64 {
            Int64(bitPattern: bytes[place..<(place + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }
        var offset = value(at: headCount)
        var sample: Int64 = 0
        for place in stride(from: headCount + 8, to: bytes.count, by: 8) {
            let packed = value(at: place)
            let segment = Segment(
                offset: offset, byteCount: packed >> 32, firstSample: sample, sampleCount: packed & 0xFFFF_FFFF)
            guard segment.byteCount > 0, segment.sampleCount > 0 else { return nil }
            segments.append(segment)
            offset += segment.byteCount
            sample += segment.sampleCount
        }
    }
}
