import CLinux
import PCM
import Testing

@testable import Output

@Suite("A volume on a card's scale")
struct VolumeScaleTests {
    /// PCM512x: reaches 24 dB beyond full scale, which is never used.
    static let dac = -10_350...2_400

    @Test(
        "the setting is the curve of `Volume`, rounded down and clamped",
        arguments: [
            (dac, [100: 0, 99: -61, 50: -3_031, 10: -5_455, 1: -6_000, 0: -10_350]),
            // A USB DAC that starts below full scale.
            (-6_000 ... -300, [100: -300, 96: -300, 95: -304, 50: -3_031, 1: -6_000, 0: -6_000]),
            // A card whose whole range is amplification.
            (0...1_200, [100: 0, 50: 0, 0: 0]),
            (300...1_200, [100: 0, 0: 0]),
            // The lowest step is silence.
            (-9_999_999...0, [100: 0, 1: -6_000, 0: -9_999_999]),
        ] as [(ClosedRange<Int>, [Int: Int])])
    func decibels(range: ClosedRange<Int>, expected: [Int: Int]) {
        let scale = VolumeScale(decibels: range)
        for (percent, setting) in expected {
            #expect(scale.setting(for: Volume(percent: percent)) == setting, "\(percent) %")
        }
    }

    @Test(
        "at every percent, card and samples together are never louder than the curve",
        arguments: [
            VolumeScale(decibels: dac), VolumeScale(decibels: -4_000...0), VolumeScale(decibels: 300...1_200),
            VolumeScale(decibels: -1_000 ... -900), VolumeScale(steps: 0...31), VolumeScale(steps: -5...250),
            VolumeScale(steps: 0...1), VolumeScale(steps: 7...7),
        ])
    func neverLouder(scale: VolumeScale) {
        for percent in 0...100 {
            let volume = Volume(percent: percent)
            let setting = scale.setting(for: volume)
            let total = scale.softwareFactor(for: volume, at: setting) * scale.factor(at: setting)
            #expect(total <= volume.factor * (1 + 1e-9), "\(percent) %")
            // The rest, beyond the range of the card, is exact, except for rounding to hundredths. A card that begins
            // below full scale cannot be louder than that.
            if scale.factor(at: scale.range.upperBound) >= volume.factor {
                #expect(total >= volume.factor * 0.9988, "\(percent) %")
            }
        }
    }

    @Test("a step that lies far below the volume gives way to the next louder one")
    func coarse() {
        let scale = VolumeScale(decibels: -9_999_999...0)
        let volume = Volume(percent: 50)
        #expect(scale.isTooSoft(-9_999_999, for: volume))
        #expect(scale.isTooSoft(-3_632, for: volume))
        #expect(!scale.isTooSoft(-3_631, for: volume))
        #expect(!scale.isTooSoft(-9_999_999, for: .muted))
        #expect(abs(scale.softwareFactor(for: volume, at: -2_000) * scale.factor(at: -2_000) - volume.factor) < 1e-12)
    }

    @Test("percent → setting → percent is the same percent")
    func roundTrip() {
        for scale in [VolumeScale(decibels: Self.dac), VolumeScale(steps: 0...1_000_000)] {
            for percent in 1...100 {
                let setting = scale.setting(for: Volume(percent: percent))
                #expect(scale.volume(at: setting).percent == percent)
            }
        }
    }

    @Test(
        "what a card is set to is the loudest volume that is not louder",
        arguments: [
            (2_400, 100), (0, 100), (-1, 99), (-60, 99), (-61, 99), (-62, 98), (-3_000, 50), (-3_031, 50), (-3_032, 49),
            (-6_000, 1), (-6_001, 0), (-9_999_999, 0),
        ] as [(Int, Int)])
    func reading(setting: Int, percent: Int) {
        #expect(VolumeScale(decibels: -9_999_999...2_400).volume(at: setting).percent == percent)
    }

    @Test("steps are steps of amplitude", arguments: [(0, 0), (1, 50), (5, 73), (16, 90), (31, 100)])
    func steps(step: Int, percent: Int) {
        #expect(VolumeScale(steps: 0...31).volume(at: step).percent == percent)
    }
}
