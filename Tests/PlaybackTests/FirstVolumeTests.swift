import Database
import Output
import OutputTestSupport
import PCM
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("A volume that is not known (docs/decisions/first-volume.md)")
struct FirstVolumeTests {
    private func volume(
        _ mixer: Mixer?, folder: String? = nil, first: Volume = .first
    ) throws -> (percent: Int, isKnown: Bool) {
        let fixture = try PlayerFixture(stateFolder: folder, firstVolume: first, mixer: mixer)
        fixture.settle()
        let values = fixture.player.playbackEngineConfig.values
        return (values.volume.percent, values.isVolumeKnown)
    }

    @Test("is −30 dB without a mixer, and is not stored like a volume that was set")
    func software() throws {
        let folder = try ScratchFolder()
        #expect(abs(Volume.first.decibels + 30) < 0.5)
        for _ in 0..<2 {
            #expect(try volume(nil, folder: folder["state"]) == (Volume.first.percent, false))
        }
    }

    @Test("is what the card's mixer has, also after the next start with another card")
    func mixer() throws {
        let folder = try ScratchFolder()
        let mixer = Mixer(initial: 63)
        #expect(try volume(mixer, folder: folder["state"]) == (63, true))
        #expect(mixer.percents.elements.allSatisfy { $0 == 63 })
        #expect(try volume(Mixer(initial: 80), folder: folder["state"]) == (63, true))
    }

    @Test("is −30 dB on a card at its loudest or silent: that is how drivers leave it", arguments: [0, 100])
    func untouchedMixer(initial: Int) throws {
        let mixer = Mixer(initial: initial)
        #expect(try volume(mixer) == (Volume.first.percent, false))
        #expect(mixer.percents.elements.last == Volume.first.percent)
    }

    @Test("is not what an earlier start set the mixer to, also when [audio] first-volume was lowered since")
    func ownSetting() throws {
        let folder = try ScratchFolder()
        let mixer = Mixer()
        for decibels in [-20.0, -20, -40, -30] {
            let first = Volume(decibels: decibels)
            #expect(try volume(mixer, folder: folder["state"], first: first) == (first.percent, false))
            #expect(mixer.percents.elements.last == first.percent)
        }
        // The user's choice still counts, on this card or on another one.
        #expect(try volume(Mixer(initial: 63), folder: folder["state"]) == (63, true))
    }

    @Test("a volume that was set applies, with any volume of the mixer")
    func known() throws {
        let folder = try ScratchFolder()
        do {
            let fixture = try PlayerFixture(stateFolder: folder["state"], firstVolume: .first)
            fixture.player.playbackEngineConfig.volume = .full
        }
        let mixer = Mixer(initial: 20)
        #expect(try volume(mixer, folder: folder["state"]) == (100, true))
        #expect(mixer.percents.elements.last == 100)
    }

    @Test(
        "a stored volume that is no percentage is not known",
        arguments: ["101", "-1", "9223372036854775807", "'loud'", "x'00'", "1e300", "NULL"])
    func absurd(value: String) throws {
        let folder = try ScratchFolder()
        do {
            let fixture = try PlayerFixture(stateFolder: folder["state"])
            fixture.player.playbackEngineConfig.maximumVolume = Volume(percent: 80)
            fixture.player.playbackEngineConfig.volume = Volume(percent: 80)
        }
        let database = try Database(path: folder["state/tonearm.db"])
        let column = value == "NULL" ? "DELETE FROM configuration" : "UPDATE configuration SET value = \(value)"
        try database.execute("\(column) WHERE key = 'playback.volume'")
        let fixture = try PlayerFixture(stateFolder: folder["state"], firstVolume: .first)
        #expect(fixture.player.playbackEngineConfig.volume == Volume.first)
        #expect(fixture.player.playbackEngineConfig.maximumVolume.percent == 80)
    }
}

/// With the real mixer. A restart is a new `LoudnessAndVolume` on a mixer whose setting remains.
@Suite("A volume that is not known, and a card's mixer (docs/decisions/first-volume.md)")
struct FirstCardVolumeTests {
    struct Card: Sendable {
        var steps: ClosedRange<Int>
        /// The level of the lowest step in hundredths of a decibel; nil without a scale.
        var least: Int32?
        var step: Int32 = 0
        var hasSwitch = false
        /// The step that the driver sets; nil for the last one.
        var initial: Int?
        var limits: ClosedRange<Int>?

        func mixer() throws -> SimulatedMixer {
            let mixer = try SimulatedMixer(steps, from: least, step: step, hasSwitch: hasSwitch)
            if let initial { mixer.set(initial) }
            return mixer
        }
    }

    /// The configuration at the first start.
    static func unknown(_ volume: Volume = .first) -> PlaybackEngineConfig.Values {
        var values = PlaybackEngineConfig.Values()
        (values.volume, values.isVolumeKnown) = (volume, false)
        return values
    }

    /// Opens `mixer` twice, for a player that begins with `values`.
    private func start(
        _ mixer: HardwareMixer, _ values: PlaybackEngineConfig.Values = unknown()
    ) -> PlaybackEngineConfig.Values {
        let configuration = PlaybackEngineConfig(values)
        let volume = LoudnessAndVolume(configuration: configuration, openMixer: { mixer })
        for _ in 0..<2 { volume.deviceChanged() }
        return configuration.values
    }

    @Test(
        "a card at its own loudest is set to −30 dB, and the volume stays not known",
        arguments: [
            // The loudest is −3 dB, −0.5 dB, or +24 dB and the driver has left it at 0 dB.
            Card(steps: 0...57, least: -6_000, step: 100), Card(steps: 0...595, least: -6_000, step: 10),
            Card(steps: 0...255, least: -10_350, step: 50, hasSwitch: true, initial: 207),
            // No step at 0 dB: the loudest that is used is −0.7 dB.
            Card(steps: 0...127, least: -6_370, step: 100, initial: 63),
            // The board's limits end at −10.1 dB, and no step is there.
            Card(steps: 0...255, least: -10_350, step: 50, initial: 186, limits: -6_000 ... -1_010),
            // Louder than −30 dB at its lowest, coarse, and only amplification: the samples carry the rest.
            Card(steps: 0...10, least: -1_100, step: 100), Card(steps: 0...5, least: -5_200, step: 1_000),
            Card(steps: 0...12, least: 300, step: 100),
            // Without a decibel scale.
            Card(steps: 0...31), Card(steps: 0...31, hasSwitch: true), Card(steps: 0...1),
        ])
    func loudest(card: Card) throws {
        let simulated = try card.mixer()
        let mixer = try simulated.open(limits: card.limits)
        let values = start(mixer)
        #expect(values.volume == .first && !values.isVolumeKnown)
        let set = simulated.value
        #expect(try mixer.reading(afterSetting: Volume.first.percent) == mixer.volume())
        // A restart, with the state and without it.
        for next in [values, Self.unknown()] {
            let values = start(mixer, next)
            #expect(values.volume == .first && !values.isVolumeKnown)
            #expect(simulated.value == set)
        }
    }

    @Test("what a person sets is taken, before the first start or after it", arguments: [true, false])
    func chosen(isFirst: Bool) throws {
        // −60 to −3 dB.
        let simulated = try SimulatedMixer(0...57, from: -6_000, step: 100)
        let mixer = try simulated.open()
        var values = Self.unknown()
        if !isFirst { values = start(mixer) }
        simulated.set(40)
        values = start(mixer, values)
        // −20 dB, rounded down.
        #expect(values.volume == Volume(percent: 67) && values.isVolumeKnown)
        #expect(simulated.value <= 40 && simulated.value >= 39)
    }

    @Test("what a person sets while the player runs is taken when the card is opened again")
    func chosenWhileRunning() throws {
        let simulated = try SimulatedMixer(0...31)
        let mixer = try simulated.open()
        let configuration = PlaybackEngineConfig(Self.unknown())
        let volume = LoudnessAndVolume(configuration: configuration, openMixer: { mixer })
        volume.deviceChanged()
        volume.deviceLost()
        simulated.set(16)
        volume.deviceChanged()
        #expect(configuration.values.isVolumeKnown && configuration.values.volume.percent == 90)
        #expect(simulated.value == 16)
    }

    @Test("a card that is muted is opened at −30 dB, whatever is behind the mute, and that is not taken either")
    func muted() throws {
        let simulated = try SimulatedMixer(0...255, from: -10_350, step: 50, hasSwitch: true)
        let mixer = try simulated.open()
        simulated.set(187)
        try mixer.setMuted(true)
        for _ in 0..<2 {
            let values = start(mixer)
            #expect(values.volume == .first && !values.isVolumeKnown)
            #expect(simulated.isOn && simulated.value == 146)
        }
    }

    @Test("a maximum below the first volume is not taken for a choice when it is raised again")
    func maximum() throws {
        let simulated = try SimulatedMixer(0...57, from: -6_000, step: 100)
        let mixer = try simulated.open()
        let configuration = PlaybackEngineConfig(Self.unknown())
        let volume = LoudnessAndVolume(configuration: configuration, openMixer: { mixer })
        volume.deviceChanged()
        // Opened again before the new maximum is set on the card.
        configuration.maximumVolume = Volume(percent: 30)
        volume.deviceChanged()
        #expect(configuration.values.volume.percent == 30 && !configuration.values.isVolumeKnown)
        #expect(try mixer.volume() <= Volume(percent: 30))
        configuration.maximumVolume = .full
        // The next start.
        var values = configuration.values
        values.volume = .first
        values = start(mixer, values)
        #expect(values.volume == .first && !values.isVolumeKnown)
    }

    @Test("a person's choice above the maximum is the maximum")
    func chosenAboveMaximum() throws {
        let simulated = try SimulatedMixer(0...57, from: -6_000, step: 100)
        simulated.set(50)
        var values = Self.unknown(Volume(percent: 40))
        values.maximumVolume = Volume(percent: 40)
        let mixer = try simulated.open()
        values = start(mixer, values)
        #expect(values.volume.percent == 40 && values.isVolumeKnown)
        #expect(try mixer.volume() <= Volume(percent: 40))
    }
}
