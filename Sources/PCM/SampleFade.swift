/// A linear fade over some frames, from silence to the unchanged samples, or to silence. Applied to samples before
/// their gain, so that the gain may change meanwhile.
///
/// Frame n of N that fade in is multiplied with (n + 1) / (N + 1); frame n of N that fade out with (N − n) / (N + 1),
/// and with the level at the start of the fade.
public struct SampleFade: BitwiseCopyable {
    private static let fractionBits: Int64 = 30
    private static let one: Int64 = 1 << fractionBits

    private let frames: Int64
    /// The factor times 2³⁰ before the first frame, and how it changes over `frames + 1` steps.
    private let start: Int64
    private let change: Int64
    private var frame: Int64 = 0

    private init(frames: Int, start: Int64, change: Int64) {
        self.frames = Int64(frames)
        self.start = start
        self.change = change
    }

    /// Returns a fade from silence to the unchanged samples.
    public static func fadeIn(frames: Int) -> SampleFade { SampleFade(frames: frames, start: 0, change: one) }

    /// Returns a fade to silence, from the factor of this fade for frame number `frame`.
    public func fadeOut(from frame: Int64, frames: Int) -> SampleFade {
        let level = factor(of: frame)
        return SampleFade(frames: frames, start: level, change: -level)
    }

    /// Returns a fade to silence, from the unchanged samples.
    public static func fadeOut(frames: Int) -> SampleFade { SampleFade(frames: frames, start: one, change: -one) }

    /// Whether all of its frames were faded.
    public var isOver: Bool { frame >= frames }

    /// Frames that are still to be faded.
    public var remainingFrames: Int64 { max(0, frames - frame) }

    public var isFadeOut: Bool { change < 0 }

    private func factor(of frame: Int64) -> Int64 {
        frame >= frames ? start + change : start + change * (frame + 1) / (frames + 1)
    }

    /// Fades the next `count` frames in place; frames after the end of the fade get its end level.
    @_optimize(speed)
    public mutating func apply(to samples: UnsafeMutablePointer<Int32>, frames count: Int, channelCount: Int) {
        var next = samples
        for _ in 0..<count {
            let factor = self.factor(of: frame)
            for channel in 0..<channelCount {
                let product = Int64(next[channel]) &* factor &+ Self.one / 2
                next[channel] = Int32(truncatingIfNeeded: product &>> Self.fractionBits)
            }
            next += channelCount
            frame += 1
        }
    }
}
