import PCM

/// WavPack: packets with the blocks of the same frames (docs/decisions/wavpack.md).
final class WavPackContainer: TimedPacketSource {
    let track: TrackDescription
    /// The same track as words of DSD; nil for PCM.
    let words: TrackDescription?
    let setup: WavPackSetup
    private(set) var isCutShort = false

    private let blocks: WavPackBlocks
    private let search: WavPackSearch
    /// The number of the first frame that is played.
    private let base: Int64
    /// The number of frames from `base` on, if it is known.
    private let declaredFrames: Int64?
    private var position: Place
    private let buffer = PacketBuffer()

    private struct Place {
        var offset: Int64
        /// The number of the next frame, counted from `base`.
        var frame: Int64
        /// Frames of damaged runs since the last packet.
        var lostFrames: Int64 = 0
        /// Whether a damaged run was skipped since the last packet.
        var isAfterDamage = false
    }

    /// The most damaged runs at the start.
    private static let mostDamagedRuns = 16
    /// The longest silence in seconds, as for FLAC: an index that asks for more is itself damaged.
    private static let longestSilence: Int64 = 600

    /// - Parameters:
    ///   - source: begins with a block, or with bytes before one.
    ///   - tags: of the file's front.
    ///   - base: where `source` begins in the file.
    init(_ source: any ByteSource, tags: TrackMetadata, base start: Int64) throws(Interruption) {
        let paged = PagePairSource(source)
        let length = paged.length.map { min($0, AudioLimits.largestData) }
        let trailing: TrailingTags? =
            if let length, !paged.isStreamed {
                try TrailingTags(of: paged, length: length, base: start)
            } else {
                nil
            }
        let end = trailing?.start ?? length
        let blocks = WavPackBlocks(source: paged, end: end)
        let (front, first, setup) = try Self.first(blocks, buffer)
        self.blocks = blocks
        self.setup = setup
        let search = WavPackSearch(blocks: blocks, first: front)
        self.search = search
        base = front.header.index
        position = Place(offset: front.offset, frame: 0)

        var frames = base == 0 ? first.header.total : nil
        if frames == nil, let end, !paged.isStreamed { frames = try search.endIndex(before: end) }
        declaredFrames = frames.map { [base] in max(0, $0 - base) }
        var track = try setup.track(
            in: .wavpack, frameCount: declaredFrames, TrailingTags.merged(tags, trailing))
        if let end, let seconds = track.properties.duration, seconds > 0 {
            track.properties.bitRate = Int32(exactly: (Double(end - front.offset) * 8 / seconds).rounded(.down))
                .map { Int($0) }
        }
        words = try setup.words(of: track, frameCount: declaredFrames)
        self.track = track
    }

    /// - Returns: the first run, the first one that is not damaged, and its setup.
    private static func first(
        _ blocks: WavPackBlocks, _ buffer: PacketBuffer
    ) throws(Interruption) -> (WavPackBlocks.Run, WavPackBlocks.Run, WavPackSetup) {
        var front: WavPackBlocks.Run?
        var offset: Int64 = 0
        for _ in 0..<mostDamagedRuns {
            guard case .run(let run) = try blocks.next(from: offset) else { break }
            if let packet = try packet(run, blocks, buffer), let library = WavPackLibrary(packet) {
                let setup = library.setup
                guard let known = front, run.header.index >= known.header.index,
                    run.header.index - known.header.index <= longestSilence * Int64(setup.sampleRate)
                else { return (run, run, setup) }
                return (known, run, setup)
            }
            if front == nil { front = run }
            offset = run.end
        }
        throw .damaged(what: "WavPack without a block that can be decoded")
    }

    /// The bytes of a run; nil when it is damaged.
    private static func packet(
        _ run: WavPackBlocks.Run, _ blocks: WavPackBlocks, _ buffer: PacketBuffer
    ) throws(Interruption) -> UnsafeRawBufferPointer? {
        guard Int64(run.byteCount) <= PacketBuffer.mostBytes,
            let bytes = try buffer.fill(run.byteCount, from: blocks.source, at: run.offset),
            WavPackLibrary.isIntact(bytes)
        else { return nil }
        return bytes
    }

    func nextPacket() throws(Interruption) -> Packet? {
        while true {
            switch try blocks.next(from: position.offset) {
            case .end(let isCut): return atEnd(isCut)
            case .run(let run):
                var next = position
                guard let bytes = try Self.packet(run, blocks, buffer), run.channelCount == setup.channelCount,
                    try !isMisplaced(run)
                else {
                    // The size of the damaged run may be wrong, too.
                    next.offset =
                        try blocks.header(at: run.end) == nil
                        ? blocks.search(from: run.offset + 1, upTo: run.end) ?? run.end : run.end
                    next.lostFrames += Int64(run.header.frameCount)
                    next.isAfterDamage = true
                    position = next
                    continue
                }
                let index = run.header.index - base
                let missing = index - position.frame
                if missing > 0 || position.isAfterDamage {
                    // The run is read again after this packet.
                    position = Place(offset: run.offset, frame: max(position.frame, index))
                    return gap(max(0, missing), before: position.frame)
                }
                position = Place(offset: run.end, frame: position.frame)
                if missing < 0 { return gap(0, before: position.frame) }
                position.frame += Int64(run.header.frameCount)
                return Packet(bytes: bytes, timeStamp: index, duration: Int64(run.header.frameCount))
            }
        }
    }

    /// Whether the index of a run is wrong: it is too far ahead, or the next run comes before it. Blocks may have no
    /// checksum.
    private func isMisplaced(_ run: WavPackBlocks.Run) throws(Interruption) -> Bool {
        let missing = run.header.index - base - position.frame
        if missing > Self.longestSilence * Int64(setup.sampleRate) { return true }
        guard missing > 0, case .run(let following) = try blocks.next(from: run.end) else { return false }
        return following.header.index < run.header.index
    }

    /// A packet without bytes that stands for missing frames.
    private func gap(_ count: Int64, before frame: Int64) -> Packet {
        Packet(bytes: UnsafeRawBufferPointer(start: nil, count: 0), timeStamp: frame - count, duration: count)
    }

    private func atEnd(_ isCut: Bool) -> Packet? {
        let missing = declaredFrames.map { max(0, $0 - position.frame) } ?? position.lostFrames
        if isCut || missing > position.lostFrames { isCutShort = true }
        let lost = min(missing, position.lostFrames)
        guard position.isAfterDamage else { return nil }
        position.frame += lost
        position.lostFrames = 0
        position.isAfterDamage = false
        return gap(lost, before: position.frame)
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        let wanted = min(max(0, frame), AudioLimits.largestData)
        var run = search.first
        if wanted > 0 {
            run = try search.run(
                with: wanted + base, from: run, to: blocks.end, endIndex: declaredFrames.map { $0 + base })
            // The header of a damaged run may be wrong.
            if try Self.packet(run, blocks, buffer) == nil { run = search.first }
        }
        let found = run.header.index - base
        position = Place(offset: run.offset, frame: found)
        return found
    }
}
