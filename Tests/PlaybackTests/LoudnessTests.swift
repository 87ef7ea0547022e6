import Database
import Foundation
import Output
import OutputTestSupport
import PCM
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("Loudness and volume")
struct LoudnessTests {
    /// `gain` as the sample path has it, for a device of 32 bits: Q4.28, rounded to nearest, saturated.
    private func scaled(_ samples: [Int32], by factor: Double) -> [Int32] {
        let gain = Int64((factor * Double(1 << 28)).rounded())
        return samples.map { Int32(clamping: (Int64($0) * gain + 1 << 27) >> 28) }
    }

    private func ramped(_ samples: [Int32], from start: Int64, to target: Int64) -> [Int32] {
        // 20 ms of stereo at 8 kHz.
        samples.enumerated().map { index, sample in
            let gain = start + (target - start) * Int64(min(index / 2 + 1, 160)) / 160
            return Int32(clamping: (Int64(sample) * gain + 1 << 27) >> 28)
        }
    }

    private static func tags(track: String, album: String) -> [String] {
        [
            "REPLAYGAIN_TRACK_GAIN=\(track) dB", "REPLAYGAIN_TRACK_PEAK=0.5",
            "REPLAYGAIN_ALBUM_GAIN=\(album) dB", "REPLAYGAIN_ALBUM_PEAK=0.99",
        ]
    }

    @Test(
        "Each product has its own gain, from its first sample to its last",
        arguments: [
            (.off, 1, 1),
            (.track, 0.8 * pow(10, (-10.0 + 4) / 20), 0.8 * pow(10, (1.5 + 4) / 20)),
            // The peak limits a gain that makes the music louder.
            (.album, 0.8 * pow(10, (-6.0 + 4) / 20), 0.8 / 0.99),
        ] as [(LoudnessNormalizationMode, Double, Double)])
    func boundary(mode: LoudnessNormalizationMode, first: Double, second: Double) throws {
        let one = try Track("a", frames: 4000, tags: Self.tags(track: "-10", album: "-6"))
        let two = try Track("b", frames: 4000, tags: Self.tags(track: "1.5", album: "3"))
        let fixture = try PlayerFixture()
        fixture.player.playbackEngineConfig.loudnessNormalizationMode = mode
        try fixture.play([(one.product, one.frames), (two.product, two.frames)])
        #expect(
            fixture.card.recordings.map(\.samples)
                == [scaled(one.samples, by: first) + scaled(two.samples, by: second)])
    }

    @Test("A product without replay gain stays unchanged, also between others")
    func missing() throws {
        let one = try Track("a", frames: 4000, tags: Self.tags(track: "-10", album: "-6"))
        let two = try Track("b", frames: 4000)
        let fixture = try PlayerFixture()
        fixture.player.playbackEngineConfig.loudnessNormalizationMode = .album
        try fixture.play([(one.product, one.frames), (two.product, two.frames)])
        #expect(
            fixture.card.recordings.map(\.samples)
                == [scaled(one.samples, by: 0.8 * pow(10, (-6.0 + 4) / 20)) + two.samples])
    }

    @Test(
        "With normalization, a local file without loudness has the gain for untagged music; others do not",
        arguments: [LoudnessNormalizationMode.off, .track, .album])
    func untagged(mode: LoudnessNormalizationMode) throws {
        let one = try Track("a", frames: 4000)
        let two = try Track("b", frames: 4000, tags: Self.tags(track: "-10", album: "-10"))
        let fixture = try PlayerFixture()
        fixture.player.playbackEngineConfig.loudnessNormalizationMode = mode
        fixture.player.playbackEngineConfig.untaggedGain = -6
        try fixture.play([(one.product, one.frames), (two.product, two.frames)])
        let isOn = mode != .off
        #expect(
            fixture.card.recordings.map(\.samples) == [
                scaled(one.samples, by: isOn ? pow(10, -6.0 / 20) : 1)
                    + scaled(two.samples, by: isOn ? 0.8 * pow(10, (-10.0 + 4) / 20) : 1)
            ])
    }

    @Test("The gain for untagged music is not that of other sources")
    func untaggedElsewhere() throws {
        let track = try Track("a", frames: 4000)
        let fixture = try PlayerFixture(source: ElsewhereSource())
        fixture.player.playbackEngineConfig.loudnessNormalizationMode = .album
        fixture.player.playbackEngineConfig.untaggedGain = -6
        try fixture.play([(track.product, track.frames)])
        #expect(fixture.card.recordings.map(\.samples) == [track.samples])
    }

    /// Files, as a source opens them whose products are not local.
    private final class ElsewhereSource: PlaybackSource {
        func open(
            _ product: MediaProduct, session: PlaybackSession, cancellation: Cancellation, medium: MediumAccess
        ) throws(PlayerError) -> OpenedProduct {
            var opened = try LocalFiles().open(product, session: session, cancellation: cancellation, medium: medium)
            opened.isLocal = false
            return opened
        }
    }

    @Test("A turn of the volume is ramped over 20 ms, and mute ends in digital silence")
    func volume() throws {
        let track = try Track("a", frames: 12_000)
        let fixture = try PlayerFixture()
        let configuration = fixture.player.playbackEngineConfig
        try fixture.play(track.product, hearing: 400)
        try fixture.wait(forPending: 1600)
        configuration.volume = Volume(percent: 60)
        fixture.settle()
        try fixture.hear(1600)
        try fixture.wait(forPending: 1600)
        configuration.isMuted = true
        fixture.settle()
        try fixture.hear(2000)
        try fixture.wait(forPending: 1600)
        configuration.isMuted = false
        configuration.volume = .full
        fixture.settle()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        let unity = Int64(1 << 28)
        let quiet = Int64((pow(10, -60.0 * 40 / 99 / 20) * Double(1 << 28)).rounded())
        let expected =
            track.samples(0..<2000) + ramped(track.samples(2000..<3600), from: unity, to: quiet)
            + ramped(track.samples(3600..<5600), from: quiet, to: 0)
            + ramped(track.samples(from: 5600), from: 0, to: unity)
        let heard = fixture.card.recordings.flatMap(\.samples)
        #expect(heard == expected)
        #expect(heard[((3600 + 160) * 2)..<(5600 * 2)].allSatisfy { $0 == 0 })
    }

    @Test("After a pause the new volume holds from the first frame on")
    func volumeWhilePaused() throws {
        let track = try Track("a", frames: 8000)
        let fixture = try PlayerFixture()
        try fixture.play(track.product, hearing: 1000)
        fixture.engine.pause()
        try fixture.wait(for: .notPlaying)
        fixture.player.playbackEngineConfig.volume = Volume(percent: 1)
        fixture.settle()
        fixture.card.playFreely()
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(
            fixture.card.recordings.flatMap(\.samples)
                == track.samples(0..<1000) + scaled(track.samples(from: 1000), by: 0.001))
    }

    @Test("The highest volume limits the volume, now and later")
    func maximumVolume() throws {
        let fixture = try PlayerFixture()
        let configuration = fixture.player.playbackEngineConfig
        configuration.maximumVolume = Volume(percent: 30)
        #expect(configuration.volume.percent == 30)
        configuration.volume = .full
        #expect(configuration.volume.percent == 30)
        configuration.maximumVolume = .full
        #expect(configuration.volume.percent == 30)
    }

    @Test("A card's own mixer takes the volume; the samples stay as they are")
    func hardwareVolume() throws {
        let track = try Track("a", frames: 4000)
        let mixer = Mixer()
        let fixture = try PlayerFixture(mixer: mixer)
        fixture.settle()
        fixture.player.playbackEngineConfig.volume = Volume(percent: 40)
        fixture.settle()
        #expect(mixer.percents.elements.first == 100)
        #expect(mixer.percents.elements.last == 40)
        fixture.card.playFreely()
        fixture.engine.load(track.product)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(mixer.percents.elements.last == 40)
        #expect(fixture.card.recordings.map(\.samples) == [track.samples])
    }

    @Test(
        "The samples get the rest that the mixer cannot do, and volume 0 is digital zero",
        arguments: [(40, 0.25), (0, 0)])
    func remainder(percent: Int, factor: Double) throws {
        let track = try Track("a", frames: 4000)
        let fixture = try PlayerFixture(mixer: Mixer(softwareFactor: 0.25))
        fixture.player.playbackEngineConfig.volume = Volume(percent: percent)
        fixture.settle()
        fixture.card.playFreely()
        fixture.engine.load(track.product)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [scaled(track.samples, by: factor)])
    }

    @Test("A mixer that fails leaves the volume to the samples")
    func failingMixer() throws {
        let track = try Track("a", frames: 4000)
        let mixer = Mixer(fails: true)
        let fixture = try PlayerFixture(mixer: mixer)
        fixture.player.playbackEngineConfig.volume = Volume(percent: 1)
        fixture.settle()
        fixture.card.playFreely()
        fixture.engine.load(track.product)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [scaled(track.samples, by: 0.001)])
    }
}

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

private final class Mixer: HardwareVolume, Sendable {
    let percents = Recorder<Int>()
    private let fails: Bool

    private let initial: Volume
    /// The factor for the samples. The card halves them itself.
    private let softwareFactor: Double

    init(fails: Bool = false, initial: Int = 100, softwareFactor: Double = 1) {
        self.fails = fails
        self.initial = Volume(percent: initial)
        self.softwareFactor = softwareFactor
    }

    func volume() throws(DeviceError) -> Volume { percents.elements.last.map { Volume(percent: $0) } ?? initial }

    func reading(afterSetting percent: Int) throws(DeviceError) -> Volume { Volume(percent: percent) }

    func setVolume(percent: Int) throws(DeviceError) -> AppliedVolume {
        if fails { throw .absent(device: "mixer", present: []) }
        percents.record(percent)
        return percent == 0
            ? AppliedVolume(softwareFactor: 0, factor: 0)
            : AppliedVolume(softwareFactor: softwareFactor, factor: softwareFactor * 0.5)
    }
}
