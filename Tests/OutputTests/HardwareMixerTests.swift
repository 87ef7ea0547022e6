import CALSA
import OutputTestSupport
import PCM
import SimulatedCard
import Testing

@testable import Output

@Suite("The volume in a card's mixer")
struct HardwareMixerTests {
    @Test(
        "at every percent the card takes the loudest step that is not louder than the curve; samples stay as they are"
    )
    func everyPercent() throws {
        // PCM512x: −103.5 to +24 dB in steps of half a decibel.
        let card = try SimulatedMixer(0...255, from: -10_350, step: 50, hasSwitch: true)
        let mixer = try card.open()
        #expect(mixer.scale.range == -10_350...0)
        for percent in Array(0...100) + (0...100).reversed() {
            let applied = try mixer.setVolume(percent: percent)
            let decibels = -103.5 + 0.5 * Double(card.value)
            if percent == 0 {
                #expect(card.value == 0 && !card.isOn && applied == AppliedVolume(softwareFactor: 0, factor: 0))
            } else {
                let wanted = Volume(percent: percent).decibels
                #expect(decibels <= wanted && decibels > wanted - 0.51, "\(percent) %")
                #expect(applied.softwareFactor == 1 && card.isOn)
                #expect(applied.factor <= Volume(percent: percent).factor)
            }
            #expect(simulated_mixer_value(card.raw, 1) == card.value)
        }
    }

    @Test("what the mixer does not reach is left to the samples, exactly")
    func shortRange() throws {
        // A card that goes down to −40 dB, and one whose lowest step above silence is −50 dB.
        for (card, lowest) in [
            (try SimulatedMixer(0...80, from: -4_000, step: 50), -40.0),
            (try SimulatedMixer(0...50, from: -5_100, step: 100, mutesAtFirst: true), -50.0),
        ] {
            let mixer = try card.open()
            for percent in 1...100 where Volume(percent: percent).decibels < lowest {
                let applied = try mixer.setVolume(percent: percent)
                #expect(applied.softwareFactor < 1)
                #expect(abs(applied.factor / Volume(percent: percent).factor - 1) < 1e-9, "\(percent) %")
            }
        }
    }

    @Test("limits are the part of the range that is used")
    func limits() throws {
        let card = try SimulatedMixer(0...255, from: -10_350, step: 50)
        let mixer = try card.open(limits: -6_000 ... -1_000)
        #expect(try mixer.setVolume(percent: 100).softwareFactor == 1)
        #expect(card.value == 187)
        #expect(try mixer.setVolume(percent: 1).softwareFactor == 1)
        #expect(card.value == 87)
    }

    @Test("without decibels the steps follow the same curve, and the samples carry what lies between them")
    func steps() throws {
        let card = try SimulatedMixer(0...31)
        let mixer = try card.open()
        for percent in Array(1...100) + (1...100).reversed() {
            let applied = try mixer.setVolume(percent: percent)
            let wanted = Volume(percent: percent).factor
            #expect(card.value == Int((wanted * 31).rounded(.up)))
            #expect(abs(applied.factor / wanted - 1) < 1e-9, "\(percent) %")
            #expect(abs(applied.softwareFactor * Double(card.value) / 31 / wanted - 1) < 1e-9)
        }
    }

    @Test("volume 0 is silence also on a mixer without a switch", arguments: [true, false])
    func silence(hasDecibels: Bool) throws {
        let card = try SimulatedMixer(0...31, from: hasDecibels ? -3_100 : nil, step: 100)
        let mixer = try card.open()
        #expect(!mixer.control.hasSwitch)
        #expect(try mixer.setVolume(percent: 0).softwareFactor == 0)
        #expect(card.value == 0)
        #expect(try mixer.setVolume(percent: 100) == AppliedVolume(softwareFactor: 1, factor: 1))
    }

    @Test("a codec that starts switched off is prepared; a control that it does not have changes nothing")
    func preparation() throws {
        // 24 steps of half a decibel below 0 dB, and as many above.
        let card = try SimulatedMixer(0...48, from: -1_200, step: 50, hasSwitch: true)
        let mixer = try MixerHandle(adopting: simulated_mixer_control(card.raw))
        let control = try #require(mixer.controls().first)
        #expect(snd_mixer_selem_set_playback_switch_all(try mixer.element(of: control), 0) == 0)
        card.set(3)
        #expect(!card.isOn)
        MixerPreparation(switches: ["Digital", "None"], levels: ["None", "Digital"]).apply(to: mixer)
        #expect(card.isOn && card.value == 24)
        MixerPreparation(switches: ["None"], levels: ["None"]).apply(to: mixer)
        #expect(card.isOn && card.value == 24)
    }

    @Test("what the card is set to can be read, and reading changes nothing")
    func reading() throws {
        let card = try SimulatedMixer(0...255, from: -10_350, step: 50, hasSwitch: true)
        let mixer = try card.open()
        // +24 dB.
        #expect(try mixer.volume() == .full)
        #expect(card.value == 255 && card.isOn)
        // −40 and −30 dB: the louder channel counts.
        let other = try SimulatedMixer(0...255, from: -10_350, step: 50)
        simulated_mixer_set_value(other.raw, 0, 127)
        simulated_mixer_set_value(other.raw, 1, 147)
        #expect(try other.open().volume().percent == 50)
        #expect(other.value == 127)
        for percent in 1...100 {
            _ = try mixer.setVolume(percent: percent)
            let read = try mixer.volume()
            #expect(read.percent <= percent && read.percent >= percent - 1)
        }
        try mixer.setMuted(true)
        #expect(try mixer.volume() == .muted)
    }

    @Test("what will be read after a setting is known before, and asking changes nothing")
    func foretelling() throws {
        for card in [
            try SimulatedMixer(0...255, from: -10_350, step: 50, hasSwitch: true),
            // Ends below 0 dB; has no setting at 0 dB; is only amplification; in coarse steps; without decibels.
            try SimulatedMixer(0...57, from: -6_000, step: 100), try SimulatedMixer(0...127, from: -6_370, step: 100),
            try SimulatedMixer(0...12, from: 300, step: 100), try SimulatedMixer(0...5, from: -5_000, step: 1_000),
            try SimulatedMixer(0...31), try SimulatedMixer(0...31, hasSwitch: true), try SimulatedMixer(0...1),
        ] {
            let mixer = try card.open()
            for percent in 0...100 {
                let before = card.value
                let expected = try mixer.reading(afterSetting: percent)
                #expect(card.value == before)
                _ = try mixer.setVolume(percent: percent)
                #expect(try mixer.volume() == expected, "\(percent) %")
            }
        }
    }
}
