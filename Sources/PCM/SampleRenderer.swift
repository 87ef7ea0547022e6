/// Converts left-justified interleaved samples to a device's format, with a gain that can switch at a sample or ramp.
///
/// - At unity without a ramp, when the device keeps all significant bits of the source: the unchanged samples.
/// - Otherwise `sample · gain` in 64 bits, rounded to nearest once (ties towards +∞) and saturated once. Devices of 24
///   and 16 bits get TPDF dither of ±1 LSB with an independent generator for each channel; those of 32 bits never.
/// - Muted: digital zero.
/// - Subframes of IEC 60958 have samples of 24 bits, in blocks that continue from call to call.
/// - Words of DSD become DSD over PCM: no gain applies to them, and muted or silent they are the idle pattern.
///
/// The result does not depend on how the samples are divided into calls (docs/decisions/dither.md).
///
/// Thread: one at a time. Does not allocate after `init`.
public final class SampleRenderer {
    public let format: SampleFormat
    public let channelCount: Int
    /// The gain of the next sample, or the ramp's target during a ramp.
    public private(set) var gain = Gain.unity

    /// Significant bits of the next samples, 4 to 32; the bits below them are zero. At unity it decides whether bits
    /// are dropped, which needs dither. 32 until it is set.
    public var sourceBitDepth = 32

    /// Frames of a ramp: 20 ms.
    public let rampFrames: Int

    /// Whether the lowest 8 bits of an `.s32` do not reach the converter.
    private let isConverterOf24: Bool
    private var noise: DitherNoise
    /// The packer for `.iec958Subframe`.
    private let packer: SubframePacker?
    /// The packer for words of DSD; nil for PCM.
    private let dop: DoPPacker?
    private var ramp: Ramp?

    /// - Parameters:
    ///   - channelCount: samples per frame, at least 1.
    ///   - sampleRate: the rate in Hz; sets the length of a ramp.
    ///   - significantBits: bits of a sample that reach the converter. An `.s32` with at most 24 of them is dithered as
    ///     24 bits are.
    ///   - isDSD: whether all samples are words of DSD. The format must be one that carries them.
    ///   - seed: the seed of the dither. Equal seeds give equal noise.
    public init(
        format: SampleFormat, channelCount: Int, sampleRate: Int, significantBits: Int = 32, isDSD: Bool = false,
        seed: UInt64
    ) {
        self.format = format
        isConverterOf24 = format == .s32 && significantBits <= 24
        self.channelCount = channelCount
        rampFrames = max(sampleRate / 50, 1)
        noise = DitherNoise(channelCount: channelCount, seed: seed)
        packer =
            format == .iec958Subframe
            ? SubframePacker(channelCount: channelCount, status: ChannelStatus(sampleRate: sampleRate)) : nil
        dop = isDSD ? DoPPacker(channelCount: channelCount) : nil
    }

    /// Whether the gain of the next frame differs from `gain` because of a ramp.
    public var isRamping: Bool { ramp != nil }

    /// The next sample and all after it have this gain; ends a ramp.
    public func switchGain(to gain: Gain) {
        self.gain = gain
        ramp = nil
    }

    /// Moves linearly to `target`, a step each frame; the last of `rampFrames` frames has exactly that gain. During a
    /// ramp the new one starts at the current gain.
    public func rampGain(to target: Gain) {
        let start = ramp?.current ?? gain
        gain = target
        ramp = start == target ? nil : Ramp(from: start, to: target, frames: rampFrames)
    }

    /// Renders the next `frames` frames.
    /// - Parameters:
    ///   - source: `frames · channelCount` samples.
    ///   - target: room for as many of the format, aligned for it.
    public func render(from source: UnsafePointer<Int32>, frames: Int, to target: UnsafeMutableRawPointer) {
        if let dop { return render(gain == .muted ? nil : source, frames: frames, to: target, dop) }
        switch format {
        case .s32 where isConverterOf24: render(S32Of24.self, from: source, frames: frames, to: target)
        case .s32: render(S32.self, from: source, frames: frames, to: target)
        case .s24: render(S24.self, from: source, frames: frames, to: target)
        case .s24Packed: render(S24Packed.self, from: source, frames: frames, to: target)
        case .s16: render(S16.self, from: source, frames: frames, to: target)
        case .iec958Subframe:
            packer?.pack(frames, to: target) { first, frames, samples in
                render(S24.self, from: source + first * channelCount, frames: frames, to: samples)
            }
        }
    }

    /// Renders `frames` frames of silence: a gain and a ramp stay as they are.
    public func renderSilence(frames: Int, to target: UnsafeMutableRawPointer) {
        if let dop { return render(nil, frames: frames, to: target, dop) }
        guard let packer else {
            let byteCount = frames * channelCount * format.byteCount
            target.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
            return
        }
        packer.pack(frames, to: target) { _, frames, samples in
            samples.update(repeating: 0, count: frames * channelCount)
        }
    }

    /// - Parameter words: nil for silence.
    private func render(
        _ words: UnsafePointer<Int32>?, frames: Int, to target: UnsafeMutableRawPointer, _ dop: DoPPacker
    ) {
        dop.pack(words, frames: frames) { first, frames, samples in
            let count = frames * channelCount
            let offset = target + first * channelCount * format.byteCount
            switch format {
            case .s32: offset.copyMemory(from: samples, byteCount: count * format.byteCount)
            case .s24: SampleLoops<S24>.narrow(samples, count: count, to: offset)
            case .s24Packed: SampleLoops<S24Packed>.narrow(samples, count: count, to: offset)
            // They do not carry DSD.
            case .s16, .iec958Subframe:
                offset.initializeMemory(as: UInt8.self, repeating: 0, count: count * format.byteCount)
            }
        }
    }

    // MARK: The position in the stream of the device, which subframes and DSD over PCM have

    /// Restarts the output of the device: no frame precedes the next one.
    /// - Parameter unheard: the last frames that the device has dropped. The markers of DSD continue before them.
    public func restart(unheard: Int = 0) {
        packer?.restart()
        dop?.rewind(unheard)
    }

    /// Makes the next frames replace the last `frames` frames, which the device has taken back.
    public func rewind(_ frames: Int) {
        packer?.rewind(frames)
        dop?.rewind(frames)
    }

    private func render<Target: DeviceSample>(
        _: Target.Type, from source: UnsafePointer<Int32>, frames: Int, to target: UnsafeMutableRawPointer
    ) {
        var done = 0
        while done < frames, var ramp {
            apply(ramp.next(), Target.self, from: source, firstFrame: done, frames: 1, to: target)
            self.ramp = ramp.isOver ? nil : ramp
            done += 1
        }
        if done < frames {
            apply(gain, Target.self, from: source, firstFrame: done, frames: frames - done, to: target)
        }
    }

    /// Renders frames of one gain.
    private func apply<Target: DeviceSample>(
        _ gain: Gain, _: Target.Type, from start: UnsafePointer<Int32>, firstFrame: Int, frames: Int,
        to memory: UnsafeMutableRawPointer
    ) {
        var source = start + firstFrame * channelCount
        var target = memory + firstFrame * channelCount * format.byteCount
        let count = frames * channelCount
        if gain == .muted {
            target.initializeMemory(as: UInt8.self, repeating: 0, count: count * format.byteCount)
        } else if gain == .unity, sourceBitDepth <= 32 - Int(Target.droppedBits) {
            if format == .s32 {
                target.copyMemory(from: source, byteCount: count * format.byteCount)
            } else {
                SampleLoops<Target>.narrow(source, count: count, to: target)
            }
        } else if Target.droppedBits == 0 {
            scaleToS32(source, count: count, by: gain, to: target.assumingMemoryBound(to: Int32.self))
        } else {
            var remaining = frames
            while remaining > 0 {
                let (dither, taken) = noise.take(remaining)
                let count = taken * channelCount
                SampleLoops<Target>.scale(source, count: count, by: gain, dither: dither, to: target)
                source += count
                target += count * format.byteCount
                remaining -= taken
            }
        }
    }
}

/// A gain ramp: frame `n` of `frames` has `start + (target − start) · n / frames`.
private struct Ramp: BitwiseCopyable {
    private let start: Int64
    private let distance: Int64
    private let frames: Int64
    private var frame: Int64 = 0

    init(from start: Gain, to target: Gain, frames: Int) {
        self.start = Int64(start.rawValue)
        distance = Int64(target.rawValue) - self.start
        self.frames = Int64(frames)
    }

    /// The gain of the frame before the next one.
    var current: Gain { Gain(rawValue: Int32(truncatingIfNeeded: start + distance * frame / frames)) }

    var isOver: Bool { frame == frames }

    mutating func next() -> Gain {
        frame += 1
        return current
    }
}
