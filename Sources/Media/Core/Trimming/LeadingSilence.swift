/// The silence of damaged packets before the first packet that is decoded. It is held back until then, because a stream
/// of which nothing can be decoded is an error (docs/playback.md, "Formats").
///
/// Thread: only the decoder thread.
struct LeadingSilence {
    enum Step: Equatable {
        /// The frames are played.
        case play
        /// The frames are silence, and held back.
        case hold
        /// The frames are kept: the silence before them comes first.
        case keep
        /// Too much silence was held back.
        case fail
    }

    /// Whether a packet was decoded, and nothing is held back.
    private(set) var isOver = false
    private var hasSound = false
    /// Whether the decoder has jumped: bytes that are missing after the position say nothing about those before it.
    private var hasSought = false
    /// Decoded frames, and those of them that a codec replaced by silence.
    private var frames: Int64 = 0
    private var held: Int64 = 0
    /// The samples of the first packet that was decoded.
    private var kept: [Int32] = []
    private let sample: Int32

    /// The longest silence, in seconds: as long as a gap in a stream may be.
    private static let longest: Int64 = 600

    /// - Parameter sample: of silence.
    init(of sample: Int32 = 0) { self.sample = sample }

    /// Whether a stream that ends here had no packet that could be decoded.
    /// - Parameter damage: of the whole stream.
    func isFailure(_ damage: DamageReport) -> Bool {
        !hasSound && (damage.truncated ? !hasSought : damage.incidents > 0)
    }

    /// Decides on the next frames of a codec.
    /// - Parameters:
    ///   - decoded: frames of the codec.
    ///   - played: how many of them are played.
    ///   - damage: that of the codec, with these frames.
    mutating func step(decoded: Int, played: Int, _ damage: DamageReport, sampleRate: Int) -> Step {
        frames += Int64(decoded)
        hasSound = hasSound || frames > damage.silencedFrames
        guard hasSound else {
            held += Int64(played)
            return held > Self.longest * Int64(sampleRate) ? .fail : .hold
        }
        if held > 0, played > 0 { return .keep }
        isOver = held == 0
        return .play
    }

    mutating func keep(_ samples: UnsafeMutableBufferPointer<Int32>) { kept = Array(samples) }

    /// Takes the silence that was held back, then the samples after it.
    /// - Returns: the number of frames in `buffer`; nil when nothing is left.
    mutating func take(into buffer: UnsafeMutableBufferPointer<Int32>, channelCount: Int) -> Int? {
        guard hasSound, !kept.isEmpty else { return nil }
        let room = buffer.count / channelCount
        if held > 0 {
            let count = Int(min(held, Int64(room)))
            buffer[..<(count * channelCount)].update(repeating: sample)
            held -= Int64(count)
            return count
        }
        let count = min(kept.count, room * channelCount)
        _ = buffer.update(fromContentsOf: kept[..<count])
        kept.removeFirst(count)
        isOver = kept.isEmpty
        return count / channelCount
    }

    /// Drops what was held back, before a seek.
    mutating func drop() {
        held = 0
        kept = []
        hasSought = true
        isOver = hasSound
    }
}
