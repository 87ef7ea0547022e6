import Media
import PCM
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player
@testable import Fetching

@Suite("The quality that is reported is the one that is decoded (docs/playback.md, 15.11)", StreamTool.needed)
struct HeardQualityTests {
    @Test("A lossy codec is never lossless, whatever was named")
    func named() {
        let format = PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16)
        var lossy = AudioProperties(format: format, frameCount: nil, container: .mp4, codec: .aac, bitRate: 96_000)
        let lossless = AudioProperties(format: format, frameCount: nil, container: .mp4, codec: .flac, bitRate: nil)
        #expect(AudioQuality.lossless.heard(in: lossy) == .low)
        #expect(AudioQuality.hiResLossless.heard(in: lossy) == .low)
        lossy.bitRate = 320_000
        #expect(AudioQuality.lossless.heard(in: lossy) == .high)
        #expect(AudioQuality.low.heard(in: lossy) == .low)
        #expect(AudioQuality.high.heard(in: lossless) == .high)
        #expect(AudioQuality.hiRes.heard(in: lossless) == .hiRes)
    }

    @Test("A set for each codec, as Shaka Packager writes it: lossless plays and is reported where it is wanted")
    func sets() throws {
        let content = try PackagedContent()
        let track = try Track("a", frames: 160_001, in: content.folder)
        try content.encode(track, to: "aac.mp4", ["-c:a", "aac", "-b:a", "48k"])
        try content.encode(track, to: "flac.mp4")
        let manifest = try content.package(["aac.mp4", "flac.mp4"], ["--segment_duration", "1"])
        try #require(manifest.components(separatedBy: "<AdaptationSet").count == 3)
        content.throughput.add(bytes: 1 << 20, nanoseconds: 8_388_608)
        let played = try content.open(manifest).decodeRest().samples
        let isEqual = played == track.samples
        #expect(isEqual)
        let fixture = try PlayerFixture(source: content.source(manifest))
        try fixture.play(PackagedContent.product)
        #expect(fixture.engine.playbackContext?.audioCodec == "flac")
        #expect(fixture.engine.playbackContext?.audioQuality == .lossless)
    }

    @Test("With AAC alone, lossless is not reported")
    func lossyAlone() throws {
        let content = try PackagedContent()
        let track = try Track("a", frames: 80_001, in: content.folder)
        try content.encode(track, to: "aac.mp4", ["-c:a", "aac", "-b:a", "48k"])
        let manifest = try content.package(["aac.mp4"], ["--segment_duration", "1"])
        let fixture = try PlayerFixture(source: content.source(manifest))
        try fixture.play(PackagedContent.product)
        #expect(fixture.engine.playbackContext?.audioCodec == "aac")
        #expect(fixture.engine.playbackContext?.audioQuality == .high)
    }
}
