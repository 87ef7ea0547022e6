import PCM

/// The decoder of a player: packets of a container, decoded by a codec, trimmed to the played part.
final class TrackDecoder: AudioDecoder {
    let properties: AudioProperties
    let metadata: TrackMetadata

    private let packets: any PacketSource
    private let codec: any Codec
    private let steps: StepSource
    private let edit: TrackEdit
    private var trim: FrameTrim
    /// Of the frames that the codec gives.
    private var channelCount: Int
    /// A seek that could not be carried out yet: its source failed, or had no bytes.
    private var pendingSeek: Int64?

    init(_ track: TrackDescription, _ packets: any PacketSource, _ codec: any Codec, _ steps: StepSource) {
        properties = track.properties
        metadata = track.metadata
        self.packets = packets
        self.codec = codec
        self.steps = steps
        edit = track.edit
        trim = FrameTrim(track.edit)
        channelCount = track.properties.format.channelCount
    }

    var damage: DamageReport {
        var damage = codec.damage
        if packets.isCutShort { damage.truncated = true }
        return damage
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        do throws(Interruption) {
            if let pendingSeek { try carryOutSeek(to: pendingSeek) }
            while true {
                if trim.isAtEnd { return .end }
                let run = try codec.read(into: buffer)
                steps.finishStep()
                switch run {
                case .end: return .end
                case .format(let format):
                    channelCount = format.channelCount
                    return .format(format)
                case .frames(let count):
                    let played = trim.take(count)
                    if played.isEmpty { continue }
                    if played.lowerBound > 0 { move(played, toFrontOf: buffer) }
                    return .frames(played.count)
                }
            }
        } catch {
            switch error {
            case .notYet: return .notYet
            case .failed(let error): throw error
            }
        }
    }

    func seek(toFrame frame: Int64) throws(MediaError) {
        pendingSeek = max(0, frame)
        do throws(Interruption) { try carryOutSeek(to: max(0, frame)) } catch {
            // The next read looks for missing bytes again.
            if case .failed(let error) = error { throw error }
        }
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { steps.whenReadable(wake) }

    private func carryOutSeek(to frame: Int64) throws(Interruption) {
        let decoded = try codec.seek(toFrame: FrameTrim.decodedFrame(of: frame, edit))
        trim = FrameTrim(edit, seekingTo: frame, decoded: decoded)
        pendingSeek = nil
        steps.finishStep()
    }

    private func move(_ frames: Range<Int>, toFrontOf buffer: UnsafeMutableBufferPointer<Int32>) {
        guard let start = buffer.baseAddress else { return }
        start.update(from: start + frames.lowerBound * channelCount, count: frames.count * channelCount)
    }
}
