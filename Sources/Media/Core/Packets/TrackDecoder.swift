import PCM

/// The decoder of a player: packets of a container, decoded by a codec, trimmed to the played parts.
final class TrackDecoder: AudioDecoder {
    let properties: AudioProperties
    private let tags: TrackMetadata

    private let packets: any PacketSource
    private let codec: any Codec
    private let steps: StepSource
    private var parts: PlayedParts
    /// The number of parts that ended since the last frame. The first of them contained that frame.
    private var partEnds = 0
    /// The channels of the frames that the codec returns.
    private var channelCount: Int
    /// A seek that could not be carried out yet: its source failed, or had no bytes.
    private var pendingPlace: (part: Int, frame: Int64)?
    private var leadingSilence: LeadingSilence

    /// The most parts in a row that may end without a frame. After them the track ends, because each part costs a
    /// search.
    private static let mostPartEnds = 9

    init(_ track: TrackDescription, _ packets: any PacketSource, _ codec: any Codec, _ steps: StepSource) {
        properties = track.properties
        tags = track.metadata
        self.packets = packets
        self.codec = codec
        self.steps = steps
        leadingSilence = LeadingSilence(of: codec.silence)
        parts = PlayedParts(track.edit)
        channelCount = track.properties.format.channelCount
        // The codec is at its first frame already.
        if !parts.beginsAtFirstFrame { pendingPlace = (0, 0) }
    }

    var metadata: TrackMetadata { codec.metadata ?? tags }
    var dsdWords: (any AudioDecoder)? { codec.dsdWords }

    var damage: DamageReport {
        var damage = codec.damage
        if packets.isCutShort { damage.truncated = true }
        return damage
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        do throws(Interruption) {
            while true {
                if let pendingPlace { try move(to: pendingPlace) }
                if let run = try readPart(into: buffer) {
                    partEnds = 0
                    return run
                }
                partEnds += 1
                guard let next = parts.next, partEnds <= Self.mostPartEnds else {
                    if !leadingSilence.isOver, leadingSilence.isFailure(damage) { throw nothingDecoded }
                    return .end
                }
                pendingPlace = next
            }
        } catch {
            switch error {
            case .notYet: return .notYet
            case .failed(let error): throw error
            }
        }
    }

    /// - Returns: nil at the end of the part.
    private func readPart(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> DecodedRun? {
        if !leadingSilence.isOver, let count = leadingSilence.take(into: buffer, channelCount: channelCount) {
            return .frames(count)
        }
        if parts.isSilence { return readSilence(into: buffer) }
        while !parts.isAtEnd {
            let run = try codec.read(into: buffer)
            steps.finishStep()
            switch run {
            case .end: return nil
            case .format(let format):
                channelCount = format.channelCount
                return .format(format)
            case .frames(let count):
                let played = parts.take(count)
                if !leadingSilence.isOver, try hold(count, played, of: buffer) {
                    guard let count = leadingSilence.take(into: buffer, channelCount: channelCount) else { continue }
                    return .frames(count)
                }
                if played.isEmpty { continue }
                if played.lowerBound > 0 { move(played, toFrontOf: buffer) }
                return .frames(played.count)
            }
        }
        return nil
    }

    /// - Returns: whether the played frames are not returned yet.
    private func hold(
        _ count: Int, _ played: Range<Int>, of buffer: UnsafeMutableBufferPointer<Int32>
    ) throws(Interruption) -> Bool {
        let step = leadingSilence.step(
            decoded: count, played: played.count, codec.damage, sampleRate: properties.format.sampleRate)
        switch step {
        case .play: return false
        case .hold: return true
        case .keep:
            leadingSilence.keep(
                UnsafeMutableBufferPointer(
                    rebasing: buffer[(played.lowerBound * channelCount)..<(played.upperBound * channelCount)]))
            return true
        case .fail: throw nothingDecoded
        }
    }

    private var nothingDecoded: Interruption {
        .damaged(what: "not one packet of it can be decoded")
    }

    private func readSilence(into buffer: UnsafeMutableBufferPointer<Int32>) -> DecodedRun? {
        guard let count = parts.takeSilence(buffer.count / channelCount) else { return nil }
        buffer[..<(count * channelCount)].update(repeating: codec.silence)
        return .frames(count)
    }

    func seek(toFrame frame: Int64) throws(MediaError) {
        let position = parts.position(of: frame)
        pendingPlace = position
        partEnds = 0
        leadingSilence.drop()
        do throws(Interruption) { try move(to: position) } catch {
            // The next read waits for the missing bytes.
            if case .failed(let error) = error { throw error }
        }
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { steps.whenReadable(wake) }

    private func move(to position: (part: Int, frame: Int64)) throws(Interruption) {
        var leading: Int64 = 0
        if let target = parts.decodedFrame(at: position) { leading = target - (try codec.seek(toFrame: target)) }
        parts.enter(position, leading: leading)
        pendingPlace = nil
        steps.finishStep()
    }

    private func move(_ frames: Range<Int>, toFrontOf buffer: UnsafeMutableBufferPointer<Int32>) {
        guard let start = buffer.baseAddress else { return }
        UnsafeMutableRawPointer(start).copyMemory(
            from: start + frames.lowerBound * channelCount,
            byteCount: frames.count * channelCount * MemoryLayout<Int32>.stride)
    }
}
