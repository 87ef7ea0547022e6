import Output
import PCM
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("The signal path")
struct SignalPathTests {
    private static func path(
        bits: Int = 16, converted: Int? = nil, format: SampleFormat = .s32, significant: Int = 32, from source: Int = 2,
        routing: ChannelRouting = .straight, route: DeviceRoute = .direct, _ scaling: SampleScaling = SampleScaling()
    ) -> SignalPath {
        var context = PlaybackContext(productId: "a.flac", playbackSessionId: "", referenceId: "")
        context.audioBitDepth = bits
        context.convertedSampleRate = converted
        var device = DeviceConfiguration(
            device: "hw:0", sampleRate: 48_000, channelCount: 2, sampleFormat: format, significantBits: significant,
            bufferFrames: 4800, periodFrames: 1200, memoryMapped: true)
        device.adaptation = ChannelAdaptation(from: source, to: 2, routing: routing)
        device.route = route
        return SignalPath(context, device, scaling)
    }

    @Test("Samples that stay as they are: also mono on both channels, exchanged sides, and 24 bits in 24")
    func bitPerfect() {
        let paths = [
            Self.path(), Self.path(bits: 16, format: .s16), Self.path(bits: 24, format: .s24Packed),
            Self.path(bits: 24, significant: 24), Self.path(bits: 32), Self.path(from: 1), Self.path(routing: .swapped),
        ]
        for path in paths {
            #expect(path.isBitPerfect)
            #expect(path.description == "bit-perfect")
        }
    }

    @Test("Each change has a name of its own, in the order of the path")
    func changes() {
        #expect(Self.path(converted: 48_000, format: .s16).description == "rate converted")
        #expect(Self.path(from: 6).description == "channels mixed")
        #expect(Self.path(routing: .mono).changes == [.channels])
        #expect(Self.path(SampleScaling(isNormalized: true)).description == "loudness normalized")
        #expect(Self.path(bits: 24, format: .s16).description == "bits dithered")
        #expect(Self.path(bits: 32, significant: 24).changes == [.depth])
        // Mute is silence, for any factors.
        #expect(Self.path(SampleScaling(isNormalized: true, isVolumeScaled: true, isMuted: true)).changes == [.mute])
        let all = Self.path(
            bits: 24, format: .s16, from: 6, SampleScaling(isNormalized: true, isVolumeScaled: true))
        #expect(all.description == "channels mixed, loudness normalized, volume scaled, bits dithered")
        for change in SignalPath.Change.allCases { #expect(SignalPath.Change(named: change.rawValue) == change) }
        #expect(SignalPath.Change(named: "sound") == nil)
    }

    @Test("A sound server or a plug-in may change samples: the path is not bit-perfect, and says so after the others")
    func unknown() {
        #expect(!Self.path(route: .server).isBitPerfect && !Self.path(route: .plugIn).isBitPerfect)
        #expect(Self.path(route: .server).description == "through a sound server")
        #expect(Self.path(route: .plugIn).description == "through a plug-in of ALSA")
        let scaled = Self.path(route: .server, SampleScaling(isVolumeScaled: true))
        #expect(scaled.description == "volume scaled, through a sound server")
    }

    @Test("Of DSD over PCM only silence is a change, and the path says what does not apply")
    func dsd() {
        var device = DeviceConfiguration(
            device: "hw:0", sampleRate: 176_400, channelCount: 2, sampleFormat: .s24, significantBits: 24,
            bufferFrames: 4800, periodFrames: 1200, memoryMapped: true)
        var context = PlaybackContext(productId: "a.dsf", playbackSessionId: "", referenceId: "")
        (context.audioBitDepth, context.isDSDOverPCM) = (1, true)
        let path = SignalPath(context, device, SampleScaling(isNormalized: true, isVolumeScaled: true))
        #expect(path.isBitPerfect && path.isDSDOverPCM && path.description == "bit-perfect, DSD over PCM")
        #expect(path.note == "software volume and normalization do not apply" && Self.path().note == nil)
        #expect(SignalPath(context, device, SampleScaling(isMuted: true, isSilent: true)).changes == [.mute])
        #expect(SignalPath(context, device, SampleScaling(isSilent: true)).description == "muted, DSD over PCM")
        device.route = .server
        #expect(SignalPath(context, device, SampleScaling()).changes == [.server])
    }

    @Test("The engine says it of the product that is heard: its own gain, mute, and the mean of both channels")
    func engine() throws {
        let gain = ["REPLAYGAIN_TRACK_GAIN=-10 dB", "REPLAYGAIN_TRACK_PEAK=0.5"]
        let one = try Track("a", frames: 4000)
        let two = try Track("b", frames: 40_000, tags: gain)
        let fixture = try PlayerFixture()
        fixture.player.playbackEngineConfig.loudnessNormalizationMode = .track
        #expect(fixture.engine.signalPath == nil)
        try fixture.play(one.product, next: two.product)
        try fixture.waitForNext()
        #expect(fixture.engine.signalPath?.isBitPerfect == true)
        try fixture.hear(4001)
        try fixture.wait(forTransitions: 2)
        #expect(fixture.engine.signalPath?.changes == [.loudness])
        fixture.player.playbackEngineConfig.isMuted = true
        try waitUntil("mute") { fixture.engine.signalPath?.changes == [.mute] }
        fixture.engine.reset()
        try waitUntil("the end") { fixture.engine.signalPath == nil }
    }
}
