import Database
import Foundation
import Output
import PCM
import Platform
import Testing
import TestSupport

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
        let folder = try ScratchFolder()
        let one = try Track("a", frames: 4000, tags: Self.tags(track: "-10", album: "-6"), in: folder)
        let two = try Track("b", frames: 4000, tags: Self.tags(track: "1.5", album: "3"), in: folder)
        let fixture = try PlayerFixture()
        fixture.player.playbackEngineConfig.loudnessNormalizationMode = mode
        try fixture.play([(one.product, one.frames), (two.product, two.frames)])
        #expect(
            fixture.card.recordings.map(\.samples)
                == [scaled(one.samples, by: first) + scaled(two.samples, by: second)])
    }

    @Test("A product without replay gain stays unchanged, also between others")
    func missing() throws {
        let folder = try ScratchFolder()
        let one = try Track("a", frames: 4000, tags: Self.tags(track: "-10", album: "-6"), in: folder)
        let two = try Track("b", frames: 4000, in: folder)
        let fixture = try PlayerFixture()
        fixture.player.playbackEngineConfig.loudnessNormalizationMode = .album
        try fixture.play([(one.product, one.frames), (two.product, two.frames)])
        #expect(
            fixture.card.recordings.map(\.samples)
                == [scaled(one.samples, by: 0.8 * pow(10, (-6.0 + 4) / 20)) + two.samples])
    }

    @Test("A turn of the volume is ramped over 20 ms, and mute ends in digital silence")
    func volume() throws {
        let folder = try ScratchFolder()
        let track = try Track("a", frames: 12_000, in: folder)
        let fixture = try PlayerFixture()
        let configuration = fixture.player.playbackEngineConfig
        fixture.engine.load(track.product)
        fixture.engine.play()
        try fixture.wait(for: .playing)
        try fixture.hear(400)
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
        let folder = try ScratchFolder()
        let track = try Track("a", frames: 8000, in: folder)
        let fixture = try PlayerFixture()
        fixture.engine.load(track.product)
        fixture.engine.play()
        try fixture.wait(for: .playing)
        try fixture.hear(1000)
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
        let folder = try ScratchFolder()
        let track = try Track("a", frames: 4000, in: folder)
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
        "What the mixer cannot do is left to the samples, and volume 0 is digital zero",
        arguments: [(40, 0.25), (0, 0)])
    func remainder(percent: Int, factor: Double) throws {
        let folder = try ScratchFolder()
        let track = try Track("a", frames: 4000, in: folder)
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
        let folder = try ScratchFolder()
        let track = try Track("a", frames: 4000, in: folder)
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
    private func volume(_ mixer: Mixer?, folder: String? = nil) throws -> (percent: Int, isKnown: Bool) {
        let fixture = try PlayerFixture(stateFolder: folder, firstVolume: .first, mixer: mixer)
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

    func setVolume(percent: Int) throws(DeviceError) -> AppliedVolume {
        if fails { throw .absent(device: "mixer", present: []) }
        percents.record(percent)
        return percent == 0
            ? AppliedVolume(softwareFactor: 0, factor: 0)
            : AppliedVolume(softwareFactor: softwareFactor, factor: softwareFactor * 0.5)
    }
}
