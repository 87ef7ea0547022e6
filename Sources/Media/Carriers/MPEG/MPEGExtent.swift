/// Frames of one size: where each of them is, without reading those before it.
struct MPEGUniform {
    let stream: MPEGStream
    /// The offset of the first frame.
    let start: Int64
    /// The size of a frame as a fraction. Encoders pad some frames by a byte, so that the sum is right.
    private let numerator: Int64
    private let denominator: Int64

    /// Frames that show whether all have one size. An encoder that pads does so within this many.
    private static let testedFrames = 16
    /// Quarters of the file at which the guess is checked.
    private static let provedQuarters: [Int64] = [1, 2, 3]

    /// - Parameters:
    ///   - start: of the first frame with sound.
    ///   - isProved: whether frames further on are read, too.
    /// - Returns: nil when the frames are not of one size, or it is not certain.
    init?(_ stream: MPEGStream, at start: Int64, _ sync: MPEGSync, isProved: Bool) throws(Interruption) {
        self.start = start
        var offset = start
        var hasPadding = false
        var first: MPEGAudioHeader?
        for _ in 0..<Self.testedFrames {
            guard let header = try sync.header(at: offset), let size = stream.byteCount(of: header) else { break }
            if let first, header.bitRate != first.bitRate { return nil }
            first = first ?? header
            hasPadding = hasPadding || header.isPadded
            offset += Int64(size)
        }
        guard let first, let plain = stream.byteCount(of: first) else { return nil }
        self.stream = MPEGStream(header: first, freeSize: stream.freeSize)
        if hasPadding {
            guard !first.isFreeFormat else { return nil }
            numerator = Int64(first.frameCount / 8) * Int64(first.bitRate)
            denominator = Int64(first.sampleRate)
        } else {
            numerator = Int64(plain)
            denominator = 1
        }
        guard isProved, let end = sync.end else { return }
        let count = packetCount(before: end)
        for quarter in Self.provedQuarters {
            guard try self.offset(of: count / 4 * quarter, sync) != nil else { return nil }
        }
    }

    /// The limit for the number of frames; no file has as many. The product of this and a numerator does not overflow.
    private static let mostPackets: Int64 = 1 << 36

    private func expected(_ packet: Int64) -> Int64 { start + packet * numerator / denominator }

    /// Frames that are complete before an offset, or one more.
    private func packetCount(before end: Int64) -> Int64 {
        let bytes = max(0, end - start + 1)
        // In two parts, so that the product does not overflow.
        return bytes / numerator * denominator + bytes % numerator * denominator / numerator
    }

    /// How many frames there are up to the end.
    /// - Returns: nil when the last one is not at the expected offset.
    func packetCount(_ sync: MPEGSync) throws(Interruption) -> Int64? {
        guard let end = sync.end else { return nil }
        let most = packetCount(before: end)
        // The last one may be cut off, and a few bytes may follow it.
        for count in stride(from: most, to: max(0, most - 3), by: -1) {
            guard let offset = try offset(of: count - 1, sync, headers: 1), let header = try sync.header(at: offset),
                let size = stream.byteCount(of: header)
            else { continue }
            guard sync.hasRoom(at: offset, for: size) else { continue }
            // A frame of another size may follow.
            if let next = try sync.header(at: offset + Int64(size)), stream.byteCount(of: next) != nil { return nil }
            return count
        }
        return nil
    }

    /// The offset of the MPEG frame with this number, from 0.
    /// - Returns: nil when there is no frame at the expected offset.
    func offset(of packet: Int64, _ sync: MPEGSync, headers: Int = 2) throws(Interruption) -> Int64? {
        guard 0..<Self.mostPackets ~= packet else { return nil }
        for difference in [0, 1, -1] as [Int64] {
            let offset = expected(packet) + difference
            guard offset >= start, let header = try sync.header(at: offset), header.bitRate == stream.header.bitRate,
                stream.byteCount(of: header) != nil
            else { continue }
            if try sync.follows(stream, at: offset, headers: headers) { return offset }
        }
        return nil
    }
}

/// The length of a file, from its header and its bytes.
struct MPEGExtent {
    /// Frames of MPEG with sound; nil when it is not known.
    var packetCount: Int64?
    /// Whether the file ends where its header declares. Only then are the frames that the encoder added dropped.
    var isWhole = true
    /// Whether frames are missing at the end for certain.
    var isCut = false

    /// A header may count bytes of tags, too.
    private static let byteTolerance: Int64 = 4096
    /// The size of the smallest frame.
    private static let leastBytes: Int64 = 24

    init(
        _ info: MPEGInfo?, _ uniform: MPEGUniform?, _ sync: MPEGSync, _ source: any ByteSource
    ) throws(Interruption) {
        let declared = info?.packetCount.flatMap { count in
            sync.end.map { count <= $0 / Self.leastBytes } ?? true ? count : nil
        }
        guard let declared else {
            packetCount = try uniform?.packetCount(sync)
            return
        }
        packetCount = declared
        guard let byteCount = info?.byteCount, let end = sync.end, !source.isStreamed else { return }
        if end < byteCount, let count = try uniform?.packetCount(sync), count < declared {
            packetCount = count
            isWhole = false
            isCut = true
        } else if end < byteCount - Self.byteTolerance {
            // The file is cut off.
            packetCount = try uniform?.packetCount(sync)
            isWhole = false
        } else if end > byteCount, byteCount > 0,
            try sync.stream(at: MPEGTags.end(of: source, at: byteCount)) != nil
        {
            // Another file was joined to this one.
            packetCount = nil
            isWhole = false
        }
    }
}
