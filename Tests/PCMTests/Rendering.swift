import PCM

/// Renders frames of `renderer.channelCount` samples and reads the device's bytes back as numbers.
func render(_ samples: [Int32], with renderer: inout SampleRenderer) -> [Int32] {
    let byteCount = samples.count * renderer.format.byteCount
    // The old content of a device's memory: every byte must be overwritten.
    var bytes = [UInt8](repeating: 0xa5, count: byteCount)
    bytes.withUnsafeMutableBytes { target in
        samples.withUnsafeBufferPointer { source in
            guard let source = source.baseAddress, let target = target.baseAddress else { return }
            renderer.render(from: source, frames: samples.count / renderer.channelCount, to: target)
        }
    }
    return decode(bytes, as: renderer.format)
}

/// Renders one channel at a constant gain.
/// - Parameter bitDepth: the declared depth of the samples; nil for that of the format.
func render(_ samples: [Int32], as format: SampleFormat, gain: Gain, bitDepth: Int? = nil) -> [Int32] {
    var renderer = SampleRenderer(format: format, channelCount: 1, sampleRate: 44_100, seed: 1)
    renderer.switchGain(to: gain)
    renderer.sourceBitDepth = bitDepth ?? format.bitDepth
    return render(samples, with: &renderer)
}

/// Little-endian signed samples; only the samples of subframes, without the other bits.
func decode(_ bytes: [UInt8], as format: SampleFormat) -> [Int32] {
    stride(from: 0, to: bytes.count, by: format.byteCount).map { start in
        let sample = bytes[start..<start + format.byteCount].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        if format == .iec958Subframe { return Int32(bitPattern: sample << 4) >> 8 }
        let unused = UInt32(32 - 8 * format.byteCount)
        return Int32(bitPattern: sample << unused) >> Int32(unused)
    }
}

/// The specification in plain 64-bit arithmetic, without dither: half up, saturated once.
func exactSample(_ sample: Int32, gain: Gain, bitDepth: Int) -> Int32 {
    let shift = Int64(28 + 32 - bitDepth)
    let rounded = (Int64(sample) * Int64(gain.rawValue) + 1 << (shift - 1)) >> shift
    let highest = Int64(Int32.max >> Int32(32 - bitDepth))
    return Int32(min(max(rounded, -highest - 1), highest))
}

/// The same numbers in every run.
struct FixedRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        var mixed = state
        mixed = (mixed ^ mixed >> 32) &* 0xd6e8_feb8_6659_fd93
        return mixed ^ mixed >> 32
    }
}

/// Extremes, neighbours of zero, of the rounding ties of 16 and 24 bits, and random samples of every magnitude.
let telltaleSamples: [Int32] = {
    var samples: [Int32] = [0, 1, -1, .max, .min, .max - 1, .min + 1]
    for tie: Int32 in [1 << 7, 1 << 15] {
        for multiple: Int32 in [-3, -1, 1, 3, 5] {
            samples += [tie * multiple - 1, tie * multiple, tie * multiple + 1]
        }
        samples += [.max - tie, .max - tie + 1, .max - tie - 1]
    }
    var random = FixedRandom(state: 7)
    for _ in 0..<1000 {
        samples.append(Int32.random(in: .min ... .max, using: &random) >> Int32.random(in: 0..<31, using: &random))
    }
    return samples
}()
