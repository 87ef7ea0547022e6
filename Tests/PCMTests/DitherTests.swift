import Testing

@testable import PCM

@Suite("Dither: TPDF of ±1 LSB, a generator for each channel")
struct DitherTests {
    private let narrowFormats: [SampleFormat] = [.s24, .s24Packed, .s16, .iec958Subframe]

    /// Errors in LSB of the format, against the exact product.
    private func errors(
        of samples: [Int32], as format: SampleFormat, gain: Gain, channelCount: Int = 1, bitDepth: Int = 32
    ) -> [Double] {
        var renderer = SampleRenderer(format: format, channelCount: channelCount, sampleRate: 44_100, seed: 11)
        renderer.switchGain(to: gain)
        renderer.sourceBitDepth = bitDepth
        let unit = Double(Int64(1) << (32 - format.bitDepth))
        return zip(samples, render(samples, with: &renderer)).map { sample, result in
            Double(result) - Double(sample) * gain.factor / unit
        }
    }

    @Test(
        "no error is more than the dither's 1 LSB and the rounding's half",
        arguments: [SampleFormat.s24, .s24Packed, .s16, .iec958Subframe])
    func bounds(format: SampleFormat) {
        let samples = telltaleSamples.map { $0 / 2 }
        for gain in [Gain(factor: 0.3), Gain(factor: 1.9), Gain(factor: 0.001)] {
            for error in errors(of: samples, as: format, gain: gain) { #expect(abs(error) <= 1.5) }
        }
    }

    /// The purpose of TPDF: neither mean nor variance of the error depends on where the signal is between two steps.
    /// Expected are mean 0 and variance 1/12 (rounding) + 1/6 (dither) = 1/4.
    @Test(
        "the error has mean 0 and variance 1/4 LSB² wherever the signal lies between two steps",
        arguments: [SampleFormat.s24, .s16], [0, 1, 4, 7])
    func moments(format: SampleFormat, eighth: Int32) {
        let count = 100_000
        let unit = Int32(1) << Int32(32 - format.bitDepth)
        let samples = [Int32](repeating: 2000 * unit + 2 * unit / 8 * eighth, count: count)
        let errors = errors(of: samples, as: format, gain: Gain(factor: 0.5))
        let (mean, variance) = meanAndVariance(errors)
        // Five standard deviations of either estimate: 0.5/√n and about 0.35/√n.
        #expect(abs(mean) < 0.008)
        #expect(abs(variance - 0.25) < 0.0056)
    }

    @Test("the noise is triangular: mean 0, variance 1/6 LSB², the right share in each eighth")
    func triangle() {
        let noise = channels(2, frames: 400_000, seed: 3)[0]
        let (mean, variance) = meanAndVariance(noise)
        #expect(abs(mean) < 0.0033)
        #expect(abs(variance - 1.0 / 6) < 0.0015)
        #expect(noise.allSatisfy { $0 > -1 && $0 < 1 })
        // Density 1 − |x| over eight bins of a quarter.
        let expected = [1, 3, 5, 7, 7, 5, 3, 1].map { Double($0) / 32 }
        var counts = [Double](repeating: 0, count: 8)
        for value in noise { counts[Int((value + 1) * 4)] += 1 }
        for (count, share) in zip(counts, expected) { #expect(abs(count / 400_000 - share) < 0.004) }
    }

    @Test("channels know nothing of each other", arguments: [2, 3, 8])
    func independence(channelCount: Int) {
        let noise = channels(channelCount, frames: 50_000, seed: 42)
        for (first, second) in [(0, 1), (0, channelCount - 1), (channelCount - 2, channelCount - 1)] {
            for lag in 0...4 {
                #expect(abs(correlation(noise[first], noise[second], lag: lag)) < 0.0224)
                #expect(abs(correlation(noise[second], noise[first], lag: lag)) < 0.0224)
            }
        }
    }

    @Test("a channel knows nothing of its past")
    func whiteness() {
        let noise = channels(1, frames: 50_000, seed: 42)[0]
        for lag in 1...32 { #expect(abs(correlation(noise, noise, lag: lag)) < 0.0224) }
    }

    @Test("the seed alone decides, and any seed serves", arguments: [0, 1, .max] as [UInt64])
    func seeds(seed: UInt64) {
        let noise = channels(2, frames: 1000, seed: seed)
        #expect(noise == channels(2, frames: 1000, seed: seed))
        #expect(noise != channels(2, frames: 1000, seed: seed ^ 2))
        #expect(meanAndVariance(noise[0]).variance > 0.14)
    }

    @Test(
        "bits that carry signal and are dropped are dithered at unity too",
        arguments: [(SampleFormat.s16, 24), (.s16, 17), (.s16, 32), (.s24, 32), (.s24Packed, 25)])
    func unity(format: SampleFormat, bitDepth: Int) {
        let unit = Int32(1) << Int32(32 - format.bitDepth)
        for eighth in [0, 1, 4, 7] as [Int32] {
            let samples = [Int32](repeating: 1000 * unit + unit / 8 * eighth, count: 100_000)
            let (mean, variance) = meanAndVariance(errors(of: samples, as: format, gain: .unity, bitDepth: bitDepth))
            #expect(abs(mean) < 0.008)
            #expect(abs(variance - 0.25) < 0.0056)
        }
    }

    @Test("a source that fits is exact at unity, and the next one that does not fit is dithered")
    func switchingDepth() {
        var renderer = SampleRenderer(format: .s16, channelCount: 1, sampleRate: 44_100, seed: 5)
        let constant = [Int32](repeating: 1234 << 16, count: 1000)
        for (bitDepth, isExact) in [(16, true), (24, false), (8, true)] {
            renderer.sourceBitDepth = bitDepth
            let rendered = render(constant, with: &renderer)
            #expect(rendered.allSatisfy { $0 == 1234 } == isExact, "\(bitDepth) bits")
        }
    }

    @Test("32 bits of which 24 reach the converter: exact for 24 bits at unity, else dithered as 24 bits are")
    func converterOf24() {
        let samples = telltaleSamples.dropLast(telltaleSamples.count % 2).map { $0 & ~0xff }
        func rendered(_ format: SampleFormat, significantBits: Int, bitDepth: Int, _ gain: Gain) -> [Int32] {
            var renderer = SampleRenderer(
                format: format, channelCount: 2, sampleRate: 44_100, significantBits: significantBits, seed: 7)
            renderer.switchGain(to: gain)
            renderer.sourceBitDepth = bitDepth
            return render(samples, with: &renderer)
        }
        #expect(rendered(.s32, significantBits: 24, bitDepth: 24, .unity) == samples)
        #expect(rendered(.s32, significantBits: 32, bitDepth: 32, .unity) == samples)
        for (bitDepth, gain) in [(24, Gain(factor: 0.7)), (32, .unity)] {
            let expected = rendered(.s24, significantBits: 24, bitDepth: bitDepth, gain).map { $0 << 8 }
            #expect(rendered(.s32, significantBits: 24, bitDepth: bitDepth, gain) == expected)
        }
    }

    @Test("a gain other than unity dithers the narrow formats, and only them")
    func onlyNarrow() {
        let constant = [Int32](repeating: 1 << 24, count: 1000)
        for format in SampleFormat.allCases {
            let values = Set(render(constant, as: format, gain: Gain(factor: 0.7)))
            #expect(narrowFormats.contains(format) ? values.count > 2 : values.count == 1)
        }
    }

    /// Noise of each channel, in LSB.
    private func channels(_ channelCount: Int, frames: Int, seed: UInt64) -> [[Double]] {
        var dither = DitherNoise(channelCount: channelCount, seed: seed)
        var noise = [[Double]](repeating: [], count: channelCount)
        var remaining = frames
        while remaining > 0 {
            let (values, taken) = dither.take(min(remaining, 100))
            for index in 0..<taken * channelCount {
                noise[index % channelCount].append((Double(values[index]) - Double(DitherNoise.mean)) / 65_536)
            }
            remaining -= taken
        }
        return noise
    }

    private func meanAndVariance(_ values: [Double]) -> (mean: Double, variance: Double) {
        let mean = values.reduce(0, +) / Double(values.count)
        return (mean, values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count))
    }

    private func correlation(_ first: [Double], _ second: [Double], lag: Int) -> Double {
        let covariance = zip(first, second.dropFirst(lag)).reduce(0) { $0 + $1.0 * $1.1 } / Double(first.count - lag)
        return covariance * 6
    }

    @Test("the noise is that of four xorshift64 generators a channel, bit for bit", arguments: 1...8)
    func generators(channelCount: Int) {
        var noise = DitherNoise(channelCount: channelCount, seed: 5)
        var state = seeds(5, count: 4 * channelCount)
        // More than two blocks, taken in several calls.
        var left = 600
        var expected: [UInt32] = []
        while left > 0 {
            let (samples, frames) = noise.take(min(left, 77))
            for index in 0..<(frames * channelCount) {
                if expected.isEmpty { expected = row(&state) }
                if samples[index] != expected.removeFirst() { return #expect(Bool(false), "\(left) frames left") }
            }
            left -= frames
        }
    }

    /// SplitMix64.
    private func seeds(_ seed: UInt64, count: Int) -> [UInt64] {
        (1...UInt64(count)).map { number in
            var z = seed &+ number &* 0x9e37_79b9_7f4a_7c15
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
    }

    /// The output of all generators in one step: first their lower halves, then their upper halves.
    private func row(_ state: inout [UInt64]) -> [UInt32] {
        for index in state.indices {
            state[index] ^= state[index] << 13
            state[index] ^= state[index] >> 7
            state[index] ^= state[index] << 17
        }
        let halves = state.map { $0 & 0xffff_ffff } + state.map { $0 >> 32 }
        return halves.map { UInt32($0 & 0xffff) + UInt32($0 >> 16) }
    }
}
