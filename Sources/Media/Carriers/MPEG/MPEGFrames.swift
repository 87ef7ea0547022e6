/// The frames of MPEG audio in a source, in order and from one segment to the next. Finds the places where a decoder
/// can start.
struct MPEGFrames {
    /// The place where a step found the end.
    var endPlace: MPEGPlace?

    private var walk: MPEGWalk
    private var index: MPEGIndex
    private let sync: MPEGSync
    /// For a file whose frames have one size.
    private let uniform: MPEGUniform?
    private let segments: PackedSegments?
    /// The offset of the last segment that was begun. There has to be a frame at it.
    private var segmentStart: Int64 = -1

    /// - Parameters:
    ///   - position: that of the first frame of sound.
    ///   - segments: the segments in the source, if it is made of them.
    init(
        _ stream: MPEGStream, at position: MPEGPlace, _ sync: MPEGSync, _ source: any ByteSource, uniform: MPEGUniform?,
        segments: PackedSegments?
    ) {
        walk = MPEGWalk(stream, source, end: sync.end)
        index = MPEGIndex(position)
        self.sync = sync
        self.uniform = uniform
        self.segments = segments
    }

    var isSegmented: Bool { segments != nil }

    /// Frames of sound in a frame of MPEG.
    var packetFrames: Int64 { Int64(walk.streams[0].header.frameCount) }

    /// Whether a step found the end at this place.
    func isAtEnd(_ position: MPEGPlace) -> Bool { position == endPlace }

    /// Goes through all frames of MPEG.
    /// - Returns: how many frames of sound they have.
    mutating func scan() throws(Interruption) -> Int64 {
        var position = index.frontier
        while true {
            let start = position
            if case .end = try walk.step(&position) { return position.frame }
            index.add(position, after: start)
        }
    }

    /// A step that stores places for later seeks.
    mutating func step(_ position: inout MPEGPlace) throws(Interruption) -> MPEGWalk.Step {
        let start = position
        var step = try walk.step(&position)
        while case .end = step, let segments {
            // A server may send something else instead of a segment.
            guard position.offset != segmentStart else { throw Self.unusable }
            guard let next = try segments.next(after: position.offset) else { break }
            position.offset = next
            segmentStart = next
            step = try walk.step(&position)
        }
        if case .end = step { return step }
        index.add(position, after: start)
        return step
    }

    /// The error for a segment that ends inside of a frame.
    static var unusable: Interruption { SegmentChain.unusable("is cut off, or is not MP3") }

    /// A place at a packet or before it where a decoder can start.
    mutating func start(forPacket packet: Int64) throws(Interruption) -> MPEGPlace {
        let packetFrames = packetFrames
        if let found = try jump(to: packet) { return found }
        if let found = try segment(of: packet), let position = try start(before: packet * packetFrames, from: found) {
            return position
        }
        var number = index.number(before: packet * packetFrames)
        while true {
            if let found = try start(before: packet * packetFrames, from: index.positions[number]) { return found }
            guard number > 0 else { return index.positions[0] }
            number -= 1
        }
    }

    /// Whether the frames of MPEG from `start` on have all main data of the one at `frame`.
    mutating func hasMainData(from start: MPEGPlace, upTo frame: Int64) throws(Interruption) -> Bool {
        var here = start
        var byteCount = 0
        while here.frame < frame {
            guard case .frame(let header, _, let size) = try step(&here) else { return true }
            byteCount += size - header.leastBytes
            if byteCount >= header.largestReservoir { return true }
        }
        return false
    }

    /// The last place before a frame where a decoder can start.
    private mutating func start(before wanted: Int64, from known: MPEGPlace) throws(Interruption) -> MPEGPlace? {
        var here = known
        var found: MPEGPlace? = here.phase == 0 ? here : nil
        while here != endPlace {
            var next = here
            if case .end = try step(&next) {
                endPlace = here
                break
            }
            if next.frame > wanted { return found }
            here = next
            if here.phase == 0 { found = here }
        }
        return here
    }

    /// The start of the segment that contains a packet far after the current one, or of a segment before it.
    private func segment(of packet: Int64) throws(Interruption) -> MPEGPlace? {
        let header = walk.streams[0].header
        let (packetFrames, phases) = (Int64(header.frameCount), Int64(MP3Codec.phases))
        guard let segments, packet * packetFrames > index.frontier.frame,
            // Its first packet must be followed by one where a decoder can start.
            let found = try segments.segment(
                of: max(0, packet - phases), secondsPerPacket: Double(packetFrames) / Double(header.sampleRate)),
            found.packet * packetFrames > index.frontier.frame
        else { return nil }
        return MPEGPlace(
            offset: found.offset, frame: found.packet * packetFrames, phase: UInt8(found.packet % phases))
    }

    /// A place far after the current one, in a file whose frames have one size.
    private func jump(to packet: Int64) throws(Interruption) -> MPEGPlace? {
        guard let uniform, packet * Int64(uniform.stream.header.frameCount) > index.frontier.frame else { return nil }
        let number = packet / Int64(MP3Codec.phases) * Int64(MP3Codec.phases)
        guard let offset = try uniform.offset(of: number, sync) else { return nil }
        return MPEGPlace(offset: offset, frame: number * Int64(uniform.stream.header.frameCount))
    }
}
