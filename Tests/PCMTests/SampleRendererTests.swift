import PCM
import Testing

@Suite("Rendering at a constant gain")
struct SampleRendererTests {
    @Test("unity is exact for every bit depth that the format keeps", arguments: SampleFormat.allCases, 1...8)
    func unityIsExact(format: SampleFormat, channelCount: Int) {
        for bitDepth in 4...format.bitDepth {
            // Whole values of that depth: the lowest, the highest, and all between or a selection of them.
            let values = telltaleSamples.map { $0 >> Int32(32 - bitDepth) }
            let frames = values.count / channelCount
            let source = values.prefix(frames * channelCount)
            var renderer = SampleRenderer(format: format, channelCount: channelCount, sampleRate: 48_000, seed: 1)
            renderer.sourceBitDepth = bitDepth
            let rendered = render(source.map { $0 << Int32(32 - bitDepth) }, with: &renderer)
            #expect(rendered == source.map { $0 << Int32(format.bitDepth - bitDepth) }, "\(bitDepth) bits")
        }
    }

    @Test(
        "at unity, bits below those that a source says it has are rounded to nearest and not dithered",
        arguments: SampleFormat.allCases)
    func unityNarrows(format: SampleFormat) {
        let expected = telltaleSamples.map { exactSample($0, gain: .unity, bitDepth: format.bitDepth) }
        #expect(render(telltaleSamples, as: format, gain: .unity) == expected)
    }

    @Test(
        "ties go up, and rounding up saturates",
        arguments: [
            (0x0000_7fff, 0), (0x0000_8000, 1), (-0x8000, 0), (-0x8001, -1), (0x0001_8000, 2), (-0x1_8000, -1),
            (.max, 0x7fff), (0x7fff_8000, 0x7fff), (0x7fff_7fff, 0x7fff), (0x7ffe_8000, 0x7fff), (.min, -0x8000),
        ] as [(Int32, Int32)])
    func ties(sample: Int32, expected: Int32) {
        #expect(render([sample], as: .s16, gain: .unity) == [expected])
    }

    @Test(
        "a gain to 32 bits is the exact product, rounded and saturated once, and never dithered",
        arguments: [
            1, 268_435, 1 << 27, 214_748_365, (1 << 28) - 1, (1 << 28) + 1, 1 << 29, 0x3fff_ffff, .max,
        ] as [Int32])
    func gainTo32Bits(rawValue: Int32) {
        let gain = Gain(factor: Double(rawValue) / 0x1p28)
        let expected = telltaleSamples.map { exactSample($0, gain: gain, bitDepth: 32) }
        #expect(render(telltaleSamples, as: .s32, gain: gain) == expected)
    }

    @Test(
        "saturation to 32 bits begins exactly where the range ends",
        arguments: [
            (0x3fff_ffff, 0x7fff_fffe), (0x4000_0000, .max), (-0x4000_0000, .min), (-0x4000_0001, .min), (.max, .max),
            (.min, .min),
        ] as [(Int32, Int32)])
    func saturation(sample: Int32, doubled: Int32) {
        #expect(render([sample], as: .s32, gain: Gain(factor: 2)) == [doubled])
    }

    @Test(
        "narrow formats saturate with the dither inside the range",
        arguments: [SampleFormat.s24, .s24Packed, .s16, .iec958Subframe])
    func saturationWithDither(format: SampleFormat) {
        let highest = Int32.max >> Int32(32 - format.bitDepth)
        for gain in [Gain(factor: 2), .maximum] {
            #expect(render(Array(repeating: .max, count: 4096), as: format, gain: gain).allSatisfy { $0 == highest })
            #expect(render(Array(repeating: .min, count: 4096), as: format, gain: gain).allSatisfy { $0 == ~highest })
        }
    }

    @Test("muted is digital zero, without dither", arguments: SampleFormat.allCases)
    func muted(format: SampleFormat) {
        #expect(render(telltaleSamples, as: format, gain: .muted).allSatisfy { $0 == 0 })
    }

    @Test("24 bits in 4 bytes are sign-extended and equal to those in 3 bytes")
    func justification() {
        for gain in [Gain.unity, Gain(factor: 0.3)] {
            // `decode` reads all four bytes: were they not sign-extended, the numbers would differ.
            let packed = render(telltaleSamples, as: .s24Packed, gain: gain)
            #expect(render(telltaleSamples, as: .s24, gain: gain) == packed)
        }
    }

    @Test("the gain switches exactly at the next sample", arguments: 1...8)
    func switchGain(channelCount: Int) {
        var renderer = SampleRenderer(format: .s32, channelCount: channelCount, sampleRate: 44_100, seed: 1)
        let frame = (1...Int32(channelCount)).map { $0 << 20 }
        #expect(render(frame + frame, with: &renderer) == frame + frame)
        renderer.switchGain(to: Gain(factor: 0.5))
        #expect(render(frame, with: &renderer) == frame.map { $0 / 2 })
        renderer.switchGain(to: Gain(factor: 2))
        #expect(render(frame, with: &renderer) == frame.map { $0 * 2 })
        renderer.switchGain(to: .unity)
        #expect(render(frame, with: &renderer) == frame)
    }

    @Test("what comes out does not depend on how it is cut into calls", arguments: SampleFormat.allCases, [1, 2, 3, 6])
    func cuts(format: SampleFormat, channelCount: Int) {
        let samples = Array(telltaleSamples.prefix(960))
        let frames = samples.count / channelCount
        func rendered(inPiecesOf piece: Int) -> [Int32] {
            var renderer = SampleRenderer(format: format, channelCount: channelCount, sampleRate: 5000, seed: 3)
            renderer.switchGain(to: Gain(factor: 0.7))
            renderer.rampGain(to: Gain(factor: 0.9))
            return stride(from: 0, to: frames, by: piece).flatMap { first in
                let end = min(first + piece, frames)
                return render(Array(samples[first * channelCount..<end * channelCount]), with: &renderer)
            }
        }
        let whole = rendered(inPiecesOf: frames)
        for piece in [1, 7, 64, 257] { #expect(rendered(inPiecesOf: piece) == whole) }
    }
}
