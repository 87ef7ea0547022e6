import PCM

/// The processing of samples between their ring and the gain: adapts channels to the device, and fades. Most samples
/// skip it (docs/decisions/gain-on-the-audio-thread.md).
///
/// Thread: the audio thread. Only `init` allocates.
final class SampleStage {
    /// Milliseconds of a fade.
    private static let fadeMilliseconds = 5
    /// When frames are taken back, those up to this many milliseconds after the hardware's position are left alone: the
    /// hardware may have fetched them already.
    private static let safetyMilliseconds = 2
    private static let capacity = 256

    let fadeFrames: Int
    let safetyFrames: Int
    private let channelCount: Int
    /// The mixer for each channel count of audio, from 1 on; nil when each channel is played as it is.
    private let mixers: [ChannelMixer?]
    private let frames: UnsafeMutablePointer<Int32>
    /// The current fade, or the last one since the device was silent; nil without one.
    private var fade: SampleFade?

    init(_ configuration: DeviceConfiguration) {
        channelCount = configuration.channelCount
        let rate = configuration.sampleRate
        fadeFrames = Int(clamping: FrameCount.lasting(milliseconds: Self.fadeMilliseconds, at: rate))
        safetyFrames = Int(clamping: FrameCount.lasting(milliseconds: Self.safetyMilliseconds, at: rate))
        mixers = (1...8).map { count in configuration.adaptation(ofChannels: count).map { ChannelMixer($0) } }
        frames = .allocate(capacity: Self.capacity * configuration.channelCount)
    }

    deinit { frames.deallocate() }

    /// Sets the sound before the next frames.
    func enter(_ entrance: PlayHead.Entrance, fades: Bool) {
        switch entrance {
        case .none: break
        // A fade-out that is being written continues.
        case .start where fade?.isFadeOut ?? false, .middle where fade?.isFadeOut ?? false: break
        case .start: fade = nil
        case .middle: fade = fades ? .fadeIn(frames: fadeFrames) : nil
        }
    }

    /// The next frames fade out.
    /// - Parameter frame: the number of the first one since the device was silent.
    func fadeOut(from frame: Int64) {
        fade = fade?.fadeOut(from: frame, frames: fadeFrames) ?? .fadeOut(frames: fadeFrames)
    }

    func endFade() { fade = nil }

    /// Whether audio of this format has to `pass`.
    func changes(_ format: PCMFormat) -> Bool {
        hasMixer(for: format.channelCount) || fade.map { !$0.isOver } ?? false
    }

    private func hasMixer(for count: Int) -> Bool { count <= mixers.count && mixers[count - 1] != nil }

    /// How many of the next `count` frames are treated alike: a fade ends exactly at its last frame, so that the frames
    /// after it are not dithered because of the fade.
    func framesAlike(_ count: Int) -> Int {
        guard let fade, !fade.isOver else { return count }
        return Int(min(Int64(count), fade.remainingFrames))
    }

    /// Bits of a sample that carry signal after this stage.
    func bitDepth(of format: PCMFormat) -> Int {
        if let fade, !fade.isOver { return 32 }
        return mixers[format.channelCount - 1]?.bitDepth(of: format.bitDepth) ?? format.bitDepth
    }

    /// Passes `count` frames on in the device's channels, in pieces.
    /// - Parameters:
    ///   - source: moved to the end of the frames.
    ///   - receive: takes frames, the number of the first one, and how many there are.
    func pass(
        _ source: inout UnsafePointer<Int32>, of format: PCMFormat, frames count: Int,
        _ receive: (_ staged: UnsafePointer<Int32>, _ first: Int, _ frames: Int) -> Void
    ) {
        var done = 0
        while done < count {
            let amount = min(count - done, Self.capacity)
            if let mixer = mixers[format.channelCount - 1] {
                mixer.mix(source, frames: amount, to: frames)
            } else {
                UnsafeMutableRawPointer(frames).copyMemory(
                    from: source, byteCount: amount * channelCount * MemoryLayout<Int32>.stride)
            }
            source += amount * format.channelCount
            fade?.apply(to: frames, frames: amount, channelCount: channelCount)
            receive(frames, done, amount)
            done += amount
        }
    }
}
