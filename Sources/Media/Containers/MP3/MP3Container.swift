import PCM

/// MPEG audio of layer II or III in an elementary stream (`.mp3`, `.mp2`): frames one after the other, with tags around
/// them (docs/decisions/mp3.md). It also reads packed segments of HLS, as `ADTSContainer` does.
final class MP3Container: TimedPacketSource {
    let track: TrackDescription
    private(set) var isCutShort = false

    private let source: PagePairSource
    private let sync: MPEGSync
    private let uniform: MPEGUniform?
    private let segments: PackedSegments?
    /// The offset of the last segment that was begun. There has to be a frame at it.
    private var segmentStart: Int64 = -1
    /// Frames that the header gives, if the file has all of them.
    private let declaredFrames: Int64?
    private var walk: MPEGWalk
    private var index: MPEGIndex
    private var place: MPEGPlace
    /// The place where the last step found the end.
    private var endPlace: MPEGPlace?
    private let buffer = PacketBuffer()

    /// How many frames of MPEG are decoded before one that is played. The numbers are tried in order, until the frames
    /// have all main data that belongs to it. The smallest frames have one byte of 255.
    private static let prerolls: [Int64] = [31, 103, 263]
    /// The filters of a decoder take this many more.
    private static let filterPackets: Int64 = 2
    /// Samples that a decoder's filters add in front.
    static let decoderDelay: Int64 = 529
    /// A file is read to its end to learn its length, if it has no more bytes than this.
    private static let mostScannedBytes: Int64 = 16_777_216
    /// The limit for free format. A higher bit rate is a mistake of the header.
    private static let highestBitRate = 1_000_000.0
    /// Lossy audio has no bits that are exact, as for AAC.
    private static let bitDepth = 24

    /// - Parameters:
    ///   - source: begins with a frame.
    ///   - tags: of the file's front.
    ///   - base: where `source` begins in the file.
    ///   - chain: the segments that `source` reads, if it is made of them; then `base` is the first frame.
    init(
        _ source: any ByteSource, tags: TrackMetadata, base: Int64 = 0, chain: SegmentChain? = nil
    ) throws(Interruption) {
        let paged = PagePairSource(source)
        self.source = paged
        segments = if let chain { try PackedSegments(chain, paged, start: base) } else { nil }
        let first = segments?.start ?? 0
        let length = paged.length.map { min($0, AudioLimits.largestData) }
        let trailing: TrailingTags? =
            if let length, !paged.isStreamed {
                try TrailingTags(of: paged, length: length, base: base)
            } else {
                nil
            }
        let sync = MPEGSync(paged, end: trailing?.start ?? length)
        self.sync = sync
        guard let stream = try sync.stream(at: first), let size = stream.byteCount(of: stream.header) else {
            throw .damaged(what: "MP3 that does not begin with a frame")
        }
        // A header in a segment would describe only that segment; it is skipped.
        let info =
            segments == nil ? MPEGInfo(try SourceReader(paged).bytes(size, at: first), stream.header) : nil
        let start: Int64 = info == nil ? first : Int64(size)
        walk = MPEGWalk(stream, paged, end: sync.end)
        place = MPEGPlace(offset: start)
        index = MPEGIndex(place)
        // In other parts of a stream, nothing is read to prove it.
        let mayBeUniform = segments == nil && info.map { $0.isConstant } ?? !paged.isStreamed
        uniform = mayBeUniform ? try MPEGUniform(stream, at: start, sync, isProved: !paged.isStreamed) : nil
        let extent = try MPEGExtent(info, uniform, sync, paged)
        let packetFrames = Int64(stream.header.frameCount)
        declaredFrames = info?.packetCount.map { $0 * packetFrames }
        var frames = extent.packetCount.map { $0 * packetFrames }
        if let seconds = segments?.duration {
            frames = Int64(exactly: (seconds * Double(stream.header.sampleRate)).rounded())
        }
        if frames == nil, let end = sync.end, end <= Self.mostScannedBytes, !paged.isStreamed {
            frames = try Self.scan(&walk, &index)
        }
        track = Self.track(stream, info, extent, frames, tags, trailing, sync.end)
    }

    /// Goes through all frames of MPEG.
    /// - Returns: how many frames of sound they have.
    private static func scan(_ walk: inout MPEGWalk, _ index: inout MPEGIndex) throws(Interruption) -> Int64 {
        var place = index.frontier
        while true {
            let start = place
            if case .end = try walk.step(&place) { return place.frame }
            index.add(place, after: start)
        }
    }

    private static func track(
        _ stream: MPEGStream, _ info: MPEGInfo?, _ extent: MPEGExtent, _ decoded: Int64?, _ tags: TrackMetadata,
        _ trailing: TrailingTags?, _ end: Int64?
    ) -> TrackDescription {
        let header = stream.header
        var metadata = TrackMetadata()
        if let info { metadata.replayGain = info.replayGain }
        metadata = metadata.overridden(by: trailing?.id3v1).overridden(by: trailing?.id3v2).overridden(by: tags)
            .overridden(by: trailing?.ape)
        let edit = edit(info, extent, metadata.gapless, header)
        var properties = AudioProperties(
            format: PCMFormat(sampleRate: header.sampleRate, channelCount: header.channelCount, bitDepth: bitDepth),
            frameCount: edit.frameCount(ofDecoded: decoded), container: .mp3, codec: header.layer == 3 ? .mp3 : .mp2,
            bitRate: header.bitRate > 0 ? header.bitRate : nil)
        let isVariable = info.map { !$0.isConstant } ?? false
        if isVariable || header.isFreeFormat, let byteCount = info?.byteCount ?? end, let decoded, decoded > 0 {
            let bitRate = Double(byteCount) * 8 * Double(header.sampleRate) / Double(decoded)
            properties.bitRate = bitRate < highestBitRate ? Int(bitRate) : nil
        }
        return TrackDescription(properties: properties, metadata: metadata, edit: edit)
    }

    /// The part that is played: without the frames that the encoder added, if the file contains their number.
    private static func edit(
        _ info: MPEGInfo?, _ extent: MPEGExtent, _ tag: GaplessTag?, _ header: MPEGAudioHeader
    ) -> TrackEdit {
        if let info, let delay = info.delay, let padding = info.padding {
            let count = extent.packetCount.map { $0 * Int64(header.frameCount) - delay - padding }
            return TrackEdit(leading: delay + decoderDelay, count: extent.isWhole ? count.map { max(0, $0) } : nil)
        }
        if let tag {
            return TrackEdit(leading: tag.delay + decoderDelay, count: extent.isWhole ? tag.frameCount : nil)
        }
        return TrackEdit()
    }

    func nextPacket() throws(Interruption) -> Packet? {
        while place != endPlace {
            var next = place
            let step = try step(&next)
            switch step {
            case .frame(let header, let offset, let byteCount):
                guard let bytes = try buffer.fill(byteCount, from: source, at: offset) else {
                    if segments != nil { throw Self.unusable }
                    isCutShort = true
                    return nil
                }
                let timeStamp = place.frame
                place = next
                return Packet(bytes: bytes, timeStamp: timeStamp, duration: Int64(header.frameCount))
            case .damage(let frames, let byteCount):
                let timeStamp = place.frame
                place = next
                if byteCount == 0 { continue }
                return Packet(
                    bytes: UnsafeRawBufferPointer(start: nil, count: 0), timeStamp: timeStamp, duration: frames)
            case .end(let isCut):
                endPlace = place
                // Some encoders count the frame with the header, too.
                let isShort =
                    declaredFrames.map { place.frame < $0 - Int64(walk.streams[0].header.frameCount) } ?? false
                if isCut || isShort { isCutShort = true }
            }
        }
        return nil
    }

    /// A step that stores places for later seeks.
    private func step(_ place: inout MPEGPlace) throws(Interruption) -> MPEGWalk.Step {
        let start = place
        var step = try walk.step(&place)
        while case .end = step, let segments {
            // A server may send something else instead of a segment.
            guard place.offset != segmentStart else { throw Self.unusable }
            guard let next = try segments.next(after: place.offset) else { break }
            place.offset = next
            segmentStart = next
            step = try walk.step(&place)
        }
        if case .end = step { return step }
        index.add(place, after: start)
        return step
    }

    private static var unusable: Interruption { SegmentChain.unusable("is cut off, or is not MP3") }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        let packetFrames = Int64(walk.streams[0].header.frameCount)
        for preroll in Self.prerolls {
            place = try start(forPacket: max(0, frame / packetFrames - preroll))
            // Nothing has to be dropped at the end.
            if place == endPlace { return frame }
            let needed = frame - (Self.filterPackets + 1) * packetFrames
            if place.frame == 0 { break }
            if try hasMainData(from: place, upTo: needed) { break }
        }
        return place.frame
    }

    /// A place at a packet or before it where a decoder can start.
    private func start(forPacket packet: Int64) throws(Interruption) -> MPEGPlace {
        let packetFrames = Int64(walk.streams[0].header.frameCount)
        if let found = try jump(to: packet) { return found }
        if let found = try segment(of: packet), let place = try start(before: packet * packetFrames, from: found) {
            return place
        }
        var number = index.number(before: packet * packetFrames)
        while true {
            if let found = try start(before: packet * packetFrames, from: index.places[number]) { return found }
            guard number > 0 else { return index.places[0] }
            number -= 1
        }
    }

    /// Whether the frames of MPEG from `start` on have all main data of the one at `frame`.
    private func hasMainData(from start: MPEGPlace, upTo frame: Int64) throws(Interruption) -> Bool {
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
    private func start(before wanted: Int64, from known: MPEGPlace) throws(Interruption) -> MPEGPlace? {
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
        let (packetFrames, phases) = (Int64(header.frameCount), Int64(MPEGPlace.phases))
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
        let number = packet / Int64(MPEGPlace.phases) * Int64(MPEGPlace.phases)
        guard let offset = try uniform.offset(of: number, sync) else { return nil }
        return MPEGPlace(offset: offset, frame: number * Int64(uniform.stream.header.frameCount))
    }
}
