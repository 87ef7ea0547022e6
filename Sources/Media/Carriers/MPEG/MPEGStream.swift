/// The frames of one stream of MPEG audio have the version, layer, sample rate and channels in common.
struct MPEGStream {
    /// The header of one of its frames.
    let header: MPEGAudioHeader
    /// Bytes of a frame of free format without padding.
    let freeSize: Int?

    /// The size of a frame of this stream; nil for any other.
    func byteCount(of other: MPEGAudioHeader) -> Int? {
        other.isSameStream(as: header) ? other.byteCount(freeSize: freeSize) : nil
    }

    func isSame(as other: MPEGStream) -> Bool { header.isSameStream(as: other.header) && freeSize == other.freeSize }
}

/// Finds frames of MPEG audio. A header alone is no proof, since its bits occur anywhere. The next header has to follow
/// at the distance of its size.
struct MPEGSync {
    /// Headers in a row that show that a file is MPEG audio.
    static let testedHeaders = 3
    /// The most bytes before the first frame.
    static let mostJunk: Int64 = 65_536
    private static let mostGuesses = 16
    /// The most bytes of damage after the header without sound.
    private static let mostDamage: Int64 = 16_384

    private let source: any ByteSource
    /// The offset of the end of the frames, if it is known.
    let end: Int64?

    /// - Parameter source: should read a few bytes fast.
    init(_ source: any ByteSource, end: Int64? = nil) {
        self.source = source
        self.end = end
    }

    /// Whether a frame with this many bytes at an offset is before the end, as far as that is known.
    func hasRoom(at offset: Int64, for count: Int) -> Bool { end.map { offset + Int64(count) <= $0 } ?? true }

    /// - Returns: nil when there is none, or the source ends.
    func header(at offset: Int64) throws(Interruption) -> MPEGAudioHeader? {
        guard hasRoom(at: offset, for: MPEGAudioHeader.size) else { return nil }
        return MPEGAudioHeader(try word(at: offset))
    }

    /// Four bytes, the first one at the top; 0 when the source ends before.
    func word(at offset: Int64) throws(Interruption) -> UInt32 {
        var word: UInt32 = 0
        let isWhole = try withUnsafeMutableBytes(of: &word) { bytes throws(Interruption) -> Bool in
            var filled = 0
            while filled < bytes.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
                guard let count = try source.next(into: rest, at: offset + Int64(filled)) else { return false }
                filled += count
            }
            return true
        }
        return isWhole ? UInt32(bigEndian: word) : 0
    }

    /// The stream whose frames begin at an offset.
    /// - Parameters:
    ///   - headers: the number of headers in a row, or up to the end, that have to match.
    ///   - mayBeDamaged: whether the frame after a header without sound may be damaged.
    func stream(
        at offset: Int64, headers: Int = testedHeaders, mayBeDamaged: Bool = true
    ) throws(Interruption) -> MPEGStream? {
        guard let header = try header(at: offset) else { return nil }
        var freeSize: Int?
        if header.isFreeFormat {
            freeSize = try self.freeSize(of: header, at: offset)
            if freeSize == nil { return nil }
        }
        let stream = MPEGStream(header: header, freeSize: freeSize)
        if try follows(stream, at: offset, headers: headers) { return stream }
        // The first frame of sound may be damaged: the header without sound has a name that proves it.
        guard mayBeDamaged, try isInfo(header, at: offset) else { return nil }
        return try isResumed(stream, from: offset + 1) ? stream : nil
    }

    /// Whether a frame is the Xing header of a file, which may be joined to another one.
    func isInfo(_ header: MPEGAudioHeader, at offset: Int64) throws(Interruption) -> Bool {
        guard header.layer == 3 else { return false }
        for place in header.infoOffsets {
            let word = try word(at: offset + Int64(place))
            if word == 0x5869_6E67 || word == 0x496E_666F { return true }
        }
        return false
    }

    /// Whether frames of a stream come soon.
    private func isResumed(_ stream: MPEGStream, from start: Int64) throws(Interruption) -> Bool {
        var cursor = SourceCursor(source, from: start, to: min(end ?? .max, start + Self.mostDamage))
        while let byte = try cursor.byte() {
            guard byte == 0xFF else { continue }
            if try follows(stream, at: cursor.offset - 1, headers: Self.testedHeaders) { return true }
        }
        return false
    }

    /// Whether frames of a stream begin at an offset.
    func follows(_ stream: MPEGStream, at offset: Int64, headers: Int) throws(Interruption) -> Bool {
        var offset = offset
        for number in 0..<headers {
            guard let header = try header(at: offset), let size = stream.byteCount(of: header) else {
                return number > 0 ? try isEnd(at: offset, after: number) : false
            }
            offset += Int64(size)
        }
        return true
    }

    /// Whether the frames may end at an offset: with the source, or at a tag.
    /// - Parameter frames: how many there are. A single one has to end exactly there; of several the last one may be
    ///   cut off.
    private func isEnd(at offset: Int64, after frames: Int) throws(Interruption) -> Bool {
        let reader = SourceReader(source)
        if offset == end { return true }
        let bytes = try reader.bytes(MPEGTags.markerSize, at: offset)
        if bytes.isEmpty {
            if frames > 1 { return true }
            return try !reader.bytes(1, at: offset - 1).isEmpty
        }
        if let end, offset > end { return frames > 1 }
        return MPEGTags.isMarker(bytes)
    }

    /// The size of frames of free format: the distance to the next header, if the one after it is as far.
    private func freeSize(of header: MPEGAudioHeader, at offset: Int64) throws(Interruption) -> Int? {
        let padding = header.isPadded ? 1 : 0
        for distance in header.leastBytes...MPEGAudioHeader.mostBytes {
            guard let next = try self.header(at: offset + Int64(distance)), next.isSameStream(as: header) else {
                continue
            }
            let stream = MPEGStream(header: header, freeSize: distance - padding)
            if try follows(stream, at: offset, headers: Self.testedHeaders) { return distance - padding }
        }
        return nil
    }

    /// An offset where frames begin.
    struct Finding {
        var offset: Int64
        var stream: MPEGStream
    }

    /// The next offset where frames begin.
    /// - Parameters:
    ///   - limit: how many bytes further on at most.
    ///   - known: two headers in a row are enough for this stream.
    func search(from start: Int64, limit: Int64, like known: MPEGStream? = nil) throws(Interruption) -> Finding? {
        var cursor = SourceCursor(source, from: start, to: min(end ?? .max, start + limit))
        // Each guess at the size of a free-format frame is another search. Free format does not begin in the middle of
        // a file.
        var guesses = known == nil ? Self.mostGuesses : 0
        // So is each search after a header without sound.
        var infos = guesses
        while let byte = try cursor.byte() {
            guard byte == 0xFF else { continue }
            let offset = cursor.offset - 1
            guard let header = try header(at: offset) else { continue }
            if let known, known.byteCount(of: header) != nil, try follows(known, at: offset, headers: 2) {
                return Finding(offset: offset, stream: known)
            }
            if header.isFreeFormat {
                guard guesses > 0 else { continue }
                guesses -= 1
            }
            let headers = known == nil ? Self.testedHeaders : Self.testedHeaders + 1
            if infos > 0, try isInfo(header, at: offset) { infos -= 1 }
            if let stream = try stream(at: offset, headers: headers, mayBeDamaged: infos > 0) {
                return Finding(offset: offset, stream: stream)
            }
        }
        return nil
    }
}
