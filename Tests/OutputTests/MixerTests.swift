import Testing

@testable import Output

@Suite("The mixer control that sets the volume")
struct MixerControlTests {
    static func volume(_ name: String) -> MixerControl { MixerControl(name: name, decibelRange: -6000...0) }

    @Test(
        "is chosen by name, as cards call it",
        arguments: [
            // HiFiBerry DAC+: the PCM512x chip's own volume, not its 6 dB output switch.
            ([volume("Analogue"), volume("Digital")], "Digital"),
            // An HDA codec: the one that acts on all outputs.
            ([volume("Headphone"), volume("Speaker"), volume("PCM"), volume("Master")], "Master"),
            // A USB DAC.
            ([volume("Mic"), volume("PCM")], "PCM"),
            // The Pi's own jack.
            ([volume("Headphone")], "Headphone"),
            // An unknown name, but no choice.
            ([MixerControl(name: "Loopback", hasSwitch: true), volume("Topping E30")], "Topping E30"),
            // A volume without a decibel scale is none.
            ([MixerControl(name: "PCM"), volume("Speaker")], "Speaker"),
            ([volume("Left"), volume("Right")], nil),
            ([MixerControl(name: "Digital", hasSwitch: true)], nil),
            ([], nil),
        ] as [([MixerControl], String?)])
    func choice(controls: [MixerControl], expected: String?) {
        #expect(MixerControl.choose(among: controls)?.name == expected)
    }

    @Test("is the one that is asked for, or none")
    func named() {
        let controls = [Self.volume("Digital"), Self.volume("Analogue"), MixerControl(name: "Boost", hasSwitch: true)]
        #expect(MixerControl.choose(among: controls, named: "Analogue")?.name == "Analogue")
        #expect(MixerControl.choose(among: controls, named: "Master") == nil)
        #expect(MixerControl.choose(among: controls, named: "Boost") == nil)
    }
}

@Suite("What a volume in percent means on a card")
struct VolumeScaleTests {
    @Test(
        "percent to hundredths of a decibel",
        arguments: [
            // PCM512x: reaches 24 dB beyond full scale, which is never used.
            (-10_350...2_400, [100: 0, 50: -1_806, 10: -6_000, 1: -10_350, 0: -10_350]),
            // A USB DAC that starts below full scale.
            (-6_000 ... -300, [100: -300, 50: -2_106, 10: -6_000, 0: -6_000]),
            // A card whose whole range is amplification.
            (0...1_200, [100: 0, 50: 0, 0: 0]),
            // The lowest step is mute.
            (-9_999_999...0, [100: 0, 1: -12_000, 0: -9_999_999]),
        ] as [(ClosedRange<Int>, [Int: Int])])
    func decibels(range: ClosedRange<Int>, expected: [Int: Int]) {
        let scale = VolumeScale(range: range)
        for (percent, decibels) in expected {
            #expect(scale.decibels(percent: percent) == decibels)
        }
        #expect(scale.decibels(percent: 101) == scale.decibels(percent: 100))
        #expect(scale.decibels(percent: -1) == scale.decibels(percent: 0))
    }

    @Test("louder in percent is never softer, and comes back as it was")
    func roundTrip() {
        let scale = VolumeScale(range: -12_750...0)
        let decibels = (0...100).map(scale.decibels(percent:))
        #expect(decibels == decibels.sorted())
        #expect(decibels.map(scale.percent(decibels:)) == Array(0...100))
    }
}
