/// Moves through the frames of a file of MPEG audio, past tags, other bytes, and damage.
struct MPEGWalk {
    /// The content at a place.
    enum Step: Equatable {
        case frame(MPEGAudioHeader, offset: Int64, byteCount: Int)
        /// Bytes that are not frames, with their duration in frames of sound. Without any frames, another stream
        /// begins.
        case damage(frames: Int64, byteCount: Int64)
        case end(isCutShort: Bool)
    }

    /// The first stream, and those after it in a file that was joined from several.
    private(set) var streams: [MPEGStream]
    private let sync: MPEGSync
    private let source: any ByteSource
    /// The last header that was found after a frame, so that it is read once.
    private var ahead: (offset: Int64, header: MPEGAudioHeader)?

    /// The most bytes that are searched for the next frame: a hole in a file that was copied only in part.
    static let mostJunk: Int64 = 16_777_216
    /// A hole is played as silence of its length, but not of more than this many frames of MPEG.
    private static let mostLostFrames: Int64 = 38
    private static let mostStreams = 255
    private static let mostTagRuns = 64

    init(_ stream: MPEGStream, _ source: any ByteSource, end: Int64?) {
        streams = [stream]
        self.source = source
        sync = MPEGSync(source, end: end)
    }

    /// Steps over the content at `position`, which moves to its end.
    mutating func step(_ position: inout MPEGPlace) throws(Interruption) -> Step {
        var offset = position.offset
        for _ in 0..<Self.mostTagRuns {
            guard offset < AudioLimits.largestData else { break }
            let stream = streams[Int(position.stream)]
            let known = ahead?.offset == offset ? ahead?.header : try sync.header(at: offset)
            if let header = known, let size = stream.byteCount(of: header) {
                guard sync.hasRoom(at: offset, for: size) else { return .end(isCutShort: true) }
                if try !isProven(offset, size, stream),
                    let found = try sync.search(from: offset + 1, limit: Int64(size), like: stream),
                    found.offset < offset + Int64(size)
                {
                    // The header is damaged: the next frame is not at the distance of its size.
                    return try resume(at: found, from: offset, &position)
                }
                if try sync.isInfo(header, at: offset) {
                    offset += Int64(size)
                    continue
                }
                position = MPEGPlace(
                    offset: offset + Int64(size), frame: position.frame + Int64(header.frameCount),
                    stream: position.stream,
                    phase: (position.phase + 1) % MP3Codec.phases)
                return .frame(header, offset: offset, byteCount: size)
            }
            let next = try MPEGTags.end(of: source, at: offset)
            if next > offset {
                offset = next
                continue
            }
            guard let found = try sync.search(from: offset, limit: Self.mostJunk, like: stream) else { break }
            return try resume(at: found, from: offset, &position)
        }
        return .end(isCutShort: false)
    }

    /// Whether another frame or the end follows a frame.
    private mutating func isProven(_ offset: Int64, _ size: Int, _ stream: MPEGStream) throws(Interruption) -> Bool {
        let next = offset + Int64(size)
        if let header = try sync.header(at: next), stream.byteCount(of: header) != nil {
            ahead = (next, header)
            return true
        }
        return try sync.follows(stream, at: offset, headers: 2)
    }

    private mutating func resume(
        at found: MPEGSync.Finding, from start: Int64, _ position: inout MPEGPlace
    ) throws(Interruption) -> Step {
        guard let number = number(of: found.stream) else { return .end(isCutShort: true) }
        let lost = found.offset - start
        let header = found.stream.header
        let size = Int64(max(1, try sync.header(at: found.offset).flatMap { found.stream.byteCount(of: $0) } ?? 1))
        let frames = min((lost + size / 2) / size, Self.mostLostFrames) * Int64(header.frameCount)
        position = MPEGPlace(offset: found.offset, frame: position.frame + frames, stream: number)
        return .damage(frames: frames, byteCount: lost)
    }

    private mutating func number(of stream: MPEGStream) -> UInt8? {
        for (number, known) in streams.enumerated() where known.isSame(as: stream) { return UInt8(number) }
        guard streams.count < Self.mostStreams else { return nil }
        streams.append(stream)
        return UInt8(streams.count - 1)
    }
}
