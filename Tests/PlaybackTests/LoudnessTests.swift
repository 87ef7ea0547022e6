import Foundation
import Output
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

    @Test(
        "A file with one gain and no peak is normalized by it, in both modes",
        arguments: [LoudnessNormalizationMode.track, .album], ["TRACK", "ALBUM"])
    func withoutPeak(mode: LoudnessNormalizationMode, tag: String) throws {
        let quieter = try Track("a", frames: 4000, tags: ["REPLAYGAIN_\(tag)_GAIN=-10 dB"])
        // Full scale limits it.
        let louder = try Track("b", frames: 4000, tags: ["REPLAYGAIN_\(tag)_GAIN=5 dB"])
        let fixture = try PlayerFixture()
        fixture.player.playbackEngineConfig.loudnessNormalizationMode = mode
        fixture.player.playbackEngineConfig.untaggedGain = -3
        try fixture.play([(quieter.product, quieter.frames), (louder.product, louder.frames)])
        #expect(
            fixture.card.recordings.map(\.samples) == [
                scaled(quieter.samples, by: 0.8 * pow(10, (-10.0 + 4) / 20)) + scaled(louder.samples, by: 0.8)
            ])
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
