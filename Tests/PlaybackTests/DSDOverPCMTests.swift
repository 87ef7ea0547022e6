import Foundation
import Output
import PCM
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("DSD over PCM (docs/decisions/dsd-over-pcm.md)")
struct DSDOverPCMTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// A player that sends DSD to a card of these rates.
    private func fixture(
        _ formats: [SampleFormat] = [.s32], rates: Set<Int> = [44_100, 88_200, 176_400, 352_800],
        _ set: (inout PlayerSettings) -> Void = { _ in }
    ) throws -> PlayerFixture {
        let fixture = try PlayerFixture {
            $0.output.sendsDSD = true
            set(&$0)
        }
        fixture.card.support(formats, rates: rates)
        return fixture
    }

    private func play(_ products: [MediaProduct], _ fixture: PlayerFixture) throws {
        let engine = fixture.engine
        engine.bus.subscribe { message in
            guard case .mediaProductTransition(let transition) = message, let active = transition.active,
                let index = products.firstIndex(where: { $0.productId == active.productId }), index + 1 < products.count
            else { return }
            engine.setNext(products[index + 1])
        }
        fixture.card.playFreely()
        engine.load(products[0])
        engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.log.messages.compactMap(\.error).isEmpty)
    }

    /// Checks the samples of each opening of the card.
    private func expect(
        _ fixture: PlayerFixture, _ expected: [[Int32]], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let heard = fixture.card.recordings.map(\.samples)
        let isEqual = heard == expected
        #expect(isEqual, "\(heard.map(\.count)), not \(expected.map(\.count))", sourceLocation: sourceLocation)
    }

    private func contexts(_ fixture: PlayerFixture) -> [PlaybackContext] {
        fixture.log.messages.compactMap(\.context)
    }

    @Test(
        "Whole files reach the card bit for bit, and the context has the format of the DSD",
        arguments: [
            ("a.dsf", 2_822_400, .s24Packed), ("a.dff", 2_822_400, .s32), ("a.dsf", 5_644_800, .s24),
            ("a.dff", 5_644_800, .s24Packed),
        ] as [(String, Int, SampleFormat)])
    func whole(name: String, rate: Int, format: SampleFormat) throws {
        let track = try DSDTrack(name, bytes: 30_001, rate: rate, in: folder)
        let fixture = try fixture([format])
        try play([track.product], fixture)
        expect(fixture, [track.packed])
        #expect(fixture.card.recordings.first?.configuration.sampleRate == rate / 16)
        #expect(fixture.card.openingCount == 1)
        let context = try #require(contexts(fixture).last)
        #expect(context.isDSDOverPCM && context.audioSampleRate == rate && context.audioBitDepth == 1)
        #expect(context.audioCodec == "dsd" && context.convertedSampleRate == nil)
        #expect(abs((context.duration ?? 0) - Double(track.frames) / Double(rate / 16)) < 1e-9)
    }

    @Test("An album of files with odd numbers of frames and bytes is one stream of words")
    func gapless() throws {
        let album = try [("1.dsf", 30_002), ("2.dff", 9_999), ("3.dsf", 20_001)].map {
            try DSDTrack($0, bytes: $1, in: folder)
        }
        let fixture = try fixture()
        try play(album.map(\.product), fixture)
        expect(fixture, [DSDTrack.packed(album.flatMap { $0.words() }, channels: 2)])
    }

    @Test("Pauses keep the alternation of the markers, and a volume of -20 dB changes no bit")
    func pauses() throws {
        let track = try DSDTrack("a.dsf", bytes: 90_000, in: folder)
        let fixture = try fixture()
        fixture.player.playbackEngineConfig.volume = Volume(decibels: -20)
        fixture.player.playbackEngineConfig.loudnessNormalizationMode = .track
        fixture.engine.load(track.product)
        for frames in [1001, 1, 2000, 777] {
            fixture.engine.play()
            try fixture.wait(for: .playing)
            try fixture.hear(frames)
            let path = try #require(fixture.engine.signalPath)
            #expect(path.isBitPerfect && path.note == "software volume and normalization do not apply")
            fixture.engine.pause()
            try fixture.wait(for: .notPlaying)
            fixture.settle()
        }
        fixture.card.playFreely()
        fixture.engine.play()
        try fixture.wait(for: .idle)
        expect(fixture, [track.packed])
    }

    @Test("Mute is the idle pattern of DSD, also a volume of 0")
    func mute() throws {
        let track = try DSDTrack("a.dsf", bytes: 30_000, in: folder)
        for isMuted in [true, false] {
            let fixture = try fixture()
            let configuration = fixture.player.playbackEngineConfig
            if isMuted { configuration.isMuted = true } else { configuration.volume = .muted }
            try fixture.play(track.product)
            #expect(fixture.engine.signalPath?.changes == [.mute])
            fixture.card.playFreely()
            try fixture.wait(for: .idle)
            expect(fixture, [DSDTrack.packed([UInt32](repeating: 0x6969, count: track.frames * 2), channels: 2)])
        }
    }

    @Test("A seek lands on the exact word", arguments: [20_001, 7, 0])
    func seek(frame: Int) throws {
        let track = try DSDTrack("a.dff", bytes: 90_001, in: folder)
        let fixture = try fixture()
        fixture.engine.load(track.product)
        try fixture.wait(forTransitions: 1)
        fixture.engine.play()
        try fixture.wait(for: .playing)
        try fixture.hear(1001)
        fixture.engine.seek(Double(frame) / 176_400)
        try fixture.wait(forFrame: frame, rate: 176_400)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        let heard = fixture.card.recordings.flatMap(\.samples).map { UInt32(bitPattern: $0) >> 8 & 0xFFFF }
        let expected = track.words(from: frame)
        let isEqual = Array(heard.suffix(expected.count)) == expected
        #expect(isEqual, "\(heard.count) \(expected.count)")
    }

    @Test("Between PCM and DSD the card is opened again: DSD, FLAC, DSD")
    func queue() throws {
        let one = try DSDTrack("1.dsf", bytes: 10_002, in: folder)
        let two = try Track("b", frames: 5000, rate: 44_100, in: folder)
        let three = try DSDTrack("3.dff", bytes: 6_001, in: folder)
        let fixture = try fixture()
        try play([one.product, two.product, three.product], fixture)
        expect(fixture, [one.packed, two.samples, three.packed])
        let kinds = contexts(fixture).map(\.isDSDOverPCM)
        let changes = kinds.indices.filter { $0 == 0 || kinds[$0] != kinds[$0 - 1] }.map { kinds[$0] }
        #expect(changes == [true, false, true])
    }

    @Test("The tracks of a cue sheet, joined, are the file")
    func sheet() throws {
        let track = try DSDTrack("album.dsf", bytes: 120_001, in: folder)
        let sheet = """
            FILE "album.dsf" WAVE
              TRACK 01 AUDIO
                INDEX 01 00:00:00
              TRACK 02 AUDIO
                INDEX 01 00:00:13
            """
        try Data(sheet.utf8).write(to: URL(fileURLWithPath: folder["album.cue"]))
        let products = (1...2).map {
            MediaProduct(productType: .track, productId: folder["album.cue/track000\($0)"], referenceId: "\($0)")
        }
        let fixture = try fixture()
        try play(products, fixture)
        expect(fixture, [track.packed])
    }

    // MARK: PCM instead

    /// Plays two files that the card gets as PCM. The card is opened in vain for the first one alone, when nothing is
    /// known of it.
    private func expectPCM(
        channels: Int = 2, _ fixture: PlayerFixture, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let one = try DSDTrack("1.dsf", bytes: 8_000, channels: channels, in: folder)
        let two = try DSDTrack("2.dff", bytes: 4_000, channels: channels, in: folder)
        let engine = fixture.engine
        fixture.card.holdOpenings()
        engine.load(one.product)
        engine.setNext(two.product)
        engine.play()
        // Both are decoded to words now. The renderer waits for the card.
        try fixture.spin("the next product") {
            let value = engine.published.value
            return value.following != nil && value.following != value.stream
        }
        let following = engine.published.value.following
        fixture.card.letOpen()
        try fixture.wait(for: .playing)
        try fixture.spin("the next product as PCM") { ![nil, following].contains(engine.published.value.following) }
        fixture.settle()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.log.messages.compactMap(\.error).isEmpty)
        let formats = contexts(fixture)
        #expect(formats.last?.isDSDOverPCM == false, sourceLocation: sourceLocation)
        #expect(formats.last?.audioBitDepth == 24 && formats.last?.audioSampleRate == 88_200)
        #expect(fixture.card.openingCount == 2, sourceLocation: sourceLocation)
        let recording = try #require(fixture.card.recordings.last)
        #expect(recording.configuration.sampleRate == 88_200)
        if recording.configuration.sampleFormat == .s32, channels == 2 {
            let isEqual = recording.samples == (try one.pcm()) + (try two.pcm())
            #expect(isEqual, sourceLocation: sourceLocation)
        }
    }

    @Test("A card without 176.4 kHz gets PCM")
    func rate() throws { try expectPCM(try fixture(rates: [44_100, 88_200])) }

    @Test("A card of 16 bits gets PCM, and one of subframes", arguments: [SampleFormat.s16, .iec958Subframe])
    func narrow(format: SampleFormat) throws { try expectPCM(try fixture([format])) }

    @Test("A card without the channels gets PCM")
    func channels() throws {
        let fixture = try fixture()
        fixture.card.support(channels: [2])
        try expectPCM(channels: 1, fixture)
    }

    @Test("A card that is known is never opened in vain, and a highest or fixed rate counts")
    func known() throws {
        let first = try Track("b", frames: 12_000, rate: 44_100, in: folder)
        let dsd = try DSDTrack("1.dsf", bytes: 8_000, in: folder)
        func openings(_ fixture: PlayerFixture) throws -> [Int] {
            try fixture.play(first.product)
            fixture.engine.setNext(dsd.product)
            try fixture.waitForNext()
            fixture.card.playFreely()
            try fixture.wait(for: .idle)
            #expect(contexts(fixture).allSatisfy { !$0.isDSDOverPCM })
            #expect(fixture.card.openingCount == fixture.card.recordings.count)
            return fixture.card.recordings.map(\.configuration.sampleRate)
        }
        #expect(try openings(fixture(rates: [44_100, 88_200])) == [44_100, 88_200])
        #expect(try openings(fixture([.s16])) == [44_100, 88_200])
        #expect(try openings(fixture { $0.output.sampleRates.highest = 96_000 }) == [44_100, 88_200])
        #expect(try openings(fixture { $0.output.sampleRates.fixed = 44_100 }) == [44_100])
        #expect(try openings(fixture { $0.output.sendsDSD = false }) == [44_100, 88_200])
    }

    @Test("The known rates of a card, and DSD")
    func deviceRates() {
        let dsd = PCMFormat.dsd(bitRate: 2_822_400, channelCount: 2)
        var device = DeviceConfiguration(
            device: "d", sampleRate: 44_100, channelCount: 2, sampleFormat: .s32, significantBits: 32, bufferFrames: 4,
            periodFrames: 2, memoryMapped: true, rates: [44_100, 176_400])
        var rates = DeviceRates(sendsDSD: true)
        #expect(rates.takes(dsd: dsd) && !DeviceRates().takes(dsd: dsd))
        rates.opened(device)
        #expect(rates.takes(dsd: dsd) && !rates.takes(dsd: .dsd(bitRate: 5_644_800, channelCount: 2)))
        #expect(!rates.takes(dsd: .dsd(bitRate: 2_822_400, channelCount: 1)))
        // A converter of 20 bits loses some of the DSD.
        device.significantBits = 20
        rates.opened(device)
        #expect(!rates.takes(dsd: dsd))
        rates.lost()
        let isDecodedAgain = rates.refuse(
            dsd, because: .rateNotSupported(device: "d", rate: 176_400, supported: [44_100]))
        #expect(isDecodedAgain && !rates.takes(dsd: dsd) && rates.rate(for: 88_200) == 88_200)
        rates.lost()
        let isRefused = rates.refuse(dsd, because: .refused(device: "d", code: -22, reason: ""))
        #expect(!isRefused && rates.takes(dsd: dsd))
        // No card names 1411.2 kHz.
        #expect(!rates.takes(dsd: .dsd(bitRate: 22_579_200, channelCount: 2)))
    }
}
