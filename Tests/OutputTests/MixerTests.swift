import Testing

@testable import Output

@Suite("The mixer control that sets the volume")
struct MixerControlTests {
    static func steps(_ name: String) -> MixerControl { MixerControl(name: name, stepRange: 0...31) }
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
            // An unknown name, but the only control with a volume.
            ([MixerControl(name: "Loopback", hasSwitch: true), volume("Topping E30")], "Topping E30"),
            // A control without a volume is not chosen.
            ([MixerControl(name: "PCM"), volume("Speaker")], "Speaker"),
            // Steps without decibels serve when there is no better control.
            ([steps("Master"), volume("Speaker")], "Speaker"),
            ([steps("Other"), steps("PCM"), MixerControl(name: "Digital", hasSwitch: true)], "PCM"),
            ([steps("Knob")], "Knob"),
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
