import PCM

/// MPEG audio of layer II or III in an elementary stream (`.mp3`, `.mp2`): frames one after the other, with tags around
/// them (docs/decisions/mp3.md). It also reads packed segments of HLS, as `ADTSContainer` does.
final class MP3Container: TimedPacketSource {
    let track: TrackDescription
    private(set) var isCutShort = false

    private let source: PagePairSource
    /// The fewest frames of a file that is whole, by its header.
    private let declaredFrames: Int64?
    private var frames: MPEGFrames
    private var position: MPEGPlace
    private let buffer = PacketBuffer()

    /// How many frames of MPEG are decoded before one that is played. The numbers are tried in order, until the frames
    /// have all main data that belongs to it. The smallest frames have one byte of 255.
    private static let prerolls: [Int64] = [31, 103, 263]
    /// The filters of a decoder take this many more.
    private static let filterPackets: Int64 = 2
    /// A file is read to its end to learn its length, if it has no more bytes than this.
    private static let mostScannedBytes: Int64 = 16_777_216
    /// The limit for free format. A higher bit rate is a mistake of the header.
    private static let highestBitRate = 1_000_000.0

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
        let segments: PackedSegments? =
            if let chain { try PackedSegments(chain, paged, start: base) } else { nil }
        let first = segments?.start ?? 0
        let length = paged.length.map { min($0, AudioLimits.largestData) }
        let trailing: TrailingTags? =
            if let length, !paged.isStreamed {
                try TrailingTags(of: paged, length: length, base: base)
            } else {
                nil
            }
        let sync = MPEGSync(paged, end: trailing?.start ?? length)
        guard let stream = try sync.stream(at: first), let size = stream.byteCount(of: stream.header) else {
            throw .damaged(what: "MP3 that does not begin with a frame")
        }
        // A header in a segment would describe only that segment; it is skipped.
        let info =
            segments == nil ? MPEGInfo(try SourceReader(paged).bytes(size, at: first), stream.header) : nil
        let start: Int64 = info == nil ? first : Int64(size)
        position = MPEGPlace(offset: start)
        // In other parts of a stream, nothing is read to prove it.
        let mayBeUniform = segments == nil && info.map { $0.isConstant } ?? !paged.isStreamed
        let uniform = mayBeUniform ? try MPEGUniform(stream, at: start, sync, isProved: !paged.isStreamed) : nil
        let extent = try MPEGExtent(info, uniform, sync, paged)
        let packetFrames = Int64(stream.header.frameCount)
        // Some encoders count the frame with the header, too.
        let tolerance = extent.isCut ? 0 : packetFrames
        declaredFrames = info?.packetCount.map { $0 * packetFrames - tolerance }
        var frameCount = extent.packetCount.map { $0 * packetFrames }
        if let seconds = segments?.duration {
            frameCount = Int64(exactly: (seconds * Double(stream.header.sampleRate)).rounded())
        }
        frames = MPEGFrames(stream, at: position, sync, paged, uniform: uniform, segments: segments)
        if frameCount == nil, let end = sync.end, end <= Self.mostScannedBytes, !paged.isStreamed {
            frameCount = try frames.scan()
        }
        track = Self.track(stream, info, extent, frameCount, tags, trailing, sync.end)
    }

    private static func track(
        _ stream: MPEGStream, _ info: MPEGInfo?, _ extent: MPEGExtent, _ decoded: Int64?, _ tags: TrackMetadata,
        _ trailing: TrailingTags?, _ end: Int64?
    ) -> TrackDescription {
        let header = stream.header
        var metadata = TrackMetadata()
        if let info { metadata.replayGain = info.replayGain }
        metadata = TrailingTags.merged(tags, trailing, base: metadata)
        let edit = edit(info, extent, metadata.gapless, header)
        var properties = AudioProperties(
            format: PCMFormat(
                sampleRate: header.sampleRate, channelCount: header.channelCount, bitDepth: MP3Codec.bitDepth),
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
            return TrackEdit(leading: delay + MP3Codec.delay, count: extent.isWhole ? count.map { max(0, $0) } : nil)
        }
        if let tag {
            return TrackEdit(leading: tag.delay + MP3Codec.delay, count: extent.isWhole ? tag.frameCount : nil)
        }
        return TrackEdit()
    }

    func nextPacket() throws(Interruption) -> Packet? {
        while !frames.isAtEnd(position) {
            var next = position
            switch try frames.step(&next) {
            case .frame(let header, let offset, let byteCount):
                guard let bytes = try buffer.fill(byteCount, from: source, at: offset) else {
                    if frames.isSegmented { throw MPEGFrames.unusable }
                    isCutShort = true
                    return nil
                }
                let timeStamp = position.frame
                position = next
                return Packet(bytes: bytes, timeStamp: timeStamp, duration: Int64(header.frameCount))
            case .damage(let frames, let byteCount):
                let timeStamp = position.frame
                position = next
                if byteCount == 0 { continue }
                return Packet(
                    bytes: UnsafeRawBufferPointer(start: nil, count: 0), timeStamp: timeStamp, duration: frames)
            case .end(let isCut):
                frames.endPlace = position
                let isShort = declaredFrames.map { position.frame < $0 } ?? false
                if isCut || isShort { isCutShort = true }
            }
        }
        return nil
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        let packetFrames = frames.packetFrames
        for preroll in Self.prerolls {
            position = try frames.start(forPacket: max(0, frame / packetFrames - preroll))
            // Nothing has to be dropped at the end.
            if frames.isAtEnd(position) { return frame }
            let needed = frame - (Self.filterPackets + 1) * packetFrames
            if position.frame == 0 { break }
            if try frames.hasMainData(from: position, upTo: needed) { break }
        }
        return position.frame
    }
}
