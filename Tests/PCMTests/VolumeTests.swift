import PCM
import Testing

@Suite("Volume: percent on a decibel curve")
struct VolumeTests {
    @Test("0 % is silence, 100 % is unity, 1 % is the floor of −60 dB")
    func ends() {
        #expect(Volume.muted.decibels == -.infinity)
        #expect(Gain(factor: Volume.muted.factor) == .muted)
        #expect(Volume.full.decibels == 0)
        #expect(Gain(factor: Volume.full.factor) == .unity)
        #expect(Volume(percent: 1).decibels == -60)
        #expect(Gain(factor: Volume(percent: 1).factor) == Gain(decibels: -60))
    }

    @Test("every percent from 1 to 100 is 60/99 dB louder than the one before")
    func linear() {
        for percent in 2...100 {
            let step = Volume(percent: percent).decibels - Volume(percent: percent - 1).decibels
            #expect(abs(step - 60.0 / 99) < 1e-12)
        }
    }

    @Test("percent → dB → percent is the same percent")
    func roundTrip() {
        for percent in 0...100 {
            #expect(Volume(decibels: Volume(percent: percent).decibels).percent == percent)
        }
    }

    @Test(
        "the percentage nearest to a level",
        arguments: [
            (12.0, 100), (0.0, 100), (-0.3, 100), (-0.31, 99), (-29.9, 51), (-30.1, 50), (-59.69, 2),
            (-59.7, 1), (-60.0, 1), (-96.0, 1),
            (-.greatestFiniteMagnitude, 1), (-.infinity, 0), (.nan, 0), (.infinity, 100),
        ] as [(Double, Int)])
    func nearest(level: Double, percent: Int) {
        #expect(Volume(decibels: level).percent == percent)
    }

    @Test("percentages are clamped", arguments: [(-5, 0), (101, 100), (Int.max, 100), (Int.min, 0)])
    func clamped(percent: Int, expected: Int) {
        #expect(Volume(percent: percent).percent == expected)
    }

    @Test("a maximum holds what is louder and leaves the rest")
    func limited() {
        let maximum = Volume(percent: 70)
        #expect(Volume(percent: 71).limited(to: maximum) == maximum)
        #expect(Volume(percent: 70).limited(to: maximum) == maximum)
        #expect(Volume(percent: 20).limited(to: maximum).percent == 20)
        #expect(Volume.muted.limited(to: maximum) == .muted)
    }
}
