import Foundation
import PCM
import Testing

@Suite("Loudness normalization (docs/playback.md, 9)")
struct LoudnessTests {
    private let complete = ReplayGain(trackGain: -9.8, trackPeak: 0.9, albumGain: -3, albumPeak: 2)

    @Test("off is exactly 1")
    func off() {
        #expect(Loudness.factor(mode: .off, preAmp: 4, replayGain: complete) == 1)
    }

    @Test("each mode takes its own gain and peak")
    func modes() {
        // 10^((−9.8 + 4) / 20) · 0.8, and 0.8 / 2 because the album's peak allows no more.
        #expect(abs(Loudness.factor(mode: .track, preAmp: 4, replayGain: complete) - 0.410_289) < 1e-6)
        #expect(Loudness.factor(mode: .album, preAmp: 4, replayGain: complete) == 0.4)
    }

    @Test(
        "a missing or impossible field of the mode means factor 1, without the base volume",
        arguments: [
            (nil, nil), (nil, 1.0), (-7.0, nil), (-7.0, 0.0), (-7.0, -0.5), (-7.0, .nan), (-7.0, .infinity),
            (.nan, 1.0), (.infinity, 1.0), (-.infinity, 1.0),
        ] as [(Double?, Double?)])
    func incomplete(gain: Double?, peak: Double?) {
        var replayGain = complete
        (replayGain.trackGain, replayGain.trackPeak) = (gain, peak)
        #expect(Loudness.factor(mode: .track, preAmp: 4, replayGain: replayGain) == 1)
        #expect(Loudness.factor(mode: .album, preAmp: 4, replayGain: replayGain) == 0.4)

        replayGain = complete
        (replayGain.albumGain, replayGain.albumPeak) = (gain, peak)
        #expect(Loudness.factor(mode: .album, preAmp: 4, replayGain: replayGain) == 1)
        #expect(Loudness.factor(mode: .track, preAmp: 4, replayGain: replayGain) != 1)
    }

    @Test("may exceed 1 for a quiet product; only the range of the gain limits it")
    func loud() {
        let quiet = ReplayGain(trackGain: 12, trackPeak: 0.125)
        #expect(abs(Loudness.factor(mode: .track, preAmp: 0, replayGain: quiet) - 3.184_857) < 1e-6)
        let silent = ReplayGain(trackGain: 64, trackPeak: 1e-5)
        #expect(Loudness.factor(mode: .track, preAmp: 0, replayGain: silent) > 1000)
        #expect(Gain(factor: Loudness.factor(mode: .track, preAmp: 0, replayGain: silent)) == .maximum)
    }

    @Test("without any gain it is the gain for untagged music, and exactly 1 for 0 dB", arguments: [-20, -6, 0, 6])
    func untagged(decibels: Int) {
        let expected = decibels == 0 ? 1 : pow(10, Double(decibels) / 20)
        for replayGain in [ReplayGain(), ReplayGain(trackPeak: 0.5, albumPeak: 0.5)] {
            for mode in [LoudnessNormalizationMode.track, .album] {
                let factor = Loudness.factor(mode: mode, preAmp: 4, replayGain: replayGain, untaggedGain: decibels)
                #expect(abs(factor - expected) < 1e-15 && (decibels != 0 || factor == 1))
            }
            #expect(Loudness.factor(mode: .off, preAmp: 4, replayGain: replayGain, untaggedGain: decibels) == 1)
        }
        let tagged = ReplayGain(trackGain: -3, trackPeak: 1)
        #expect(Loudness.factor(mode: .album, preAmp: 4, replayGain: tagged, untaggedGain: decibels) == 1)
    }

    @Test("a track or an album without both of its fields takes both of another source, if that has both")
    func completed() {
        let other = ReplayGain(trackGain: -5, trackPeak: 0.4, albumGain: -4)
        #expect(complete.isComplete && complete.completed(by: other) == complete)
        #expect(ReplayGain().completed(by: other) == ReplayGain(trackGain: -5, trackPeak: 0.4))
        let partly = ReplayGain(trackGain: -9, albumGain: -8)
        #expect(
            !partly.isComplete
                && partly.completed(by: complete)
                    == ReplayGain(
                        trackGain: -9.8, trackPeak: 0.9, albumGain: -3, albumPeak: 2)
        )
    }

    @Test(
        "of tags, a gain counts without a peak, and that of the track is the one of the album where it is missing",
        arguments: [
            (ReplayGain(), ReplayGain()),
            (ReplayGain(trackPeak: 0.5), ReplayGain(trackPeak: 0.5)),
            (
                ReplayGain(trackGain: -7, albumGain: -6),
                ReplayGain(trackGain: -7, trackPeak: 1, albumGain: -6, albumPeak: 1)
            ),
            (
                ReplayGain(trackGain: -7, trackPeak: 0.5),
                ReplayGain(trackGain: -7, trackPeak: 0.5, albumGain: -7, albumPeak: 0.5)
            ),
            (ReplayGain(albumGain: -7), ReplayGain(trackGain: -7, trackPeak: 1, albumGain: -7, albumPeak: 1)),
            (
                // The gain and the peak of one measurement.
                ReplayGain(trackPeak: 0.5, albumGain: -7, albumPeak: 0.9),
                ReplayGain(trackGain: -7, trackPeak: 0.9, albumGain: -7, albumPeak: 0.9)
            ),
            (
                ReplayGain(trackGain: -7, trackPeak: 0, albumGain: -6, albumPeak: .infinity),
                ReplayGain(trackGain: -7, trackPeak: 1, albumGain: -6, albumPeak: 1)
            ),
        ])
    func filled(tags: ReplayGain, expected: ReplayGain) {
        #expect(tags.filled == expected)
    }

    @Test("the loudest sample never exceeds 0.8 of full scale")
    func peakLimit() {
        for row in LoudnessReference.table {
            #expect(factor(row) * row.peak <= Loudness.baseVolume.nextUp)
        }
    }

    @Test("the gain is the Q4.28 value nearest to the exact factor, in every row")
    func nearestGain() {
        for row in LoudnessReference.table {
            // Q8.56 to Q4.28, half up.
            let nearest = min((row.exact + 1 << 27) >> 28, UInt64(Int32.max))
            #expect(Gain(factor: factor(row)).rawValue == Int32(nearest), "gain \(row.gain) peak \(row.peak)")
        }
    }

    /// The numbers that the README quotes.
    @Test("worst errors: factor 10⁻¹⁵, gain half a step, samples 4.5 LSB of 32 bits")
    func worstErrors() {
        var worstFactor = 0.0
        var worstStep = 0.0
        var worstDecibels = 0.0
        var worstSample = 0.0
        for row in LoudnessReference.table {
            let factor = factor(row)
            worstFactor = max(worstFactor, abs(factor - row.nearest) / row.nearest)
            guard factor < 8 else { continue }
            let gain = Gain(factor: factor)
            worstStep = max(worstStep, abs(gain.factor - row.nearest) * 0x1p28)
            worstDecibels = max(worstDecibels, abs(20 * log10(gain.factor / row.nearest)))
            worstSample = max(worstSample, worstSampleError(gain, exact: row.exact))
        }
        print("Loudness factor: worst relative error \(worstFactor)")
        print("Loudness gain in Q4.28: worst error \(worstStep) steps, \(worstDecibels) dB")
        print("Loudness sample: worst error \(worstSample) LSB of 32 bits")
        #expect(worstFactor < 1e-15)
        #expect(worstStep < 0.500_001)
        #expect(worstDecibels < 2e-5)
        #expect(worstSample < 4.5)
    }

    private func factor(_ row: LoudnessReference) -> Double {
        let replayGain = ReplayGain(trackGain: row.gain, trackPeak: row.peak)
        return Loudness.factor(mode: .track, preAmp: row.preAmp, replayGain: replayGain)
    }

    /// In LSB of 32 bits, over samples of all magnitudes that do not saturate.
    private func worstSampleError(_ gain: Gain, exact: UInt64) -> Double {
        var samples: [Int32] = []
        for shift in 0..<31 {
            let magnitude = Int32.max >> Int32(shift)
            samples += [magnitude, -magnitude, magnitude / 3, -magnitude / 7, -1 - magnitude]
        }
        let rendered = render(samples, as: .s32, gain: gain)
        var worst = 0.0
        for (sample, result) in zip(samples, rendered) where result < .max && result > .min {
            let error = Int128(result) << 56 - Int128(sample) * Int128(exact)
            worst = max(worst, abs(Double(error)) * 0x1p-56)
        }
        return worst
    }
}
