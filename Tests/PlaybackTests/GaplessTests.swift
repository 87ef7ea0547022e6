import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("Gapless")
struct GaplessTests {
    /// The device holds 1600 frames of these, a FLAC block 4096.
    private static let lengths = [5000, 1599, 1600, 1601, 1, 4096, 7, 12_345, 800, 1, 3000]

    @Test("Ten boundaries in a row insert and lose no frame, however short the tracks")
    func tenBoundaries() throws {
        // A track of one frame ends with its transition, so its next product could not be set in time.
        let album = try Self.lengths.enumerated().map { try Track("\($0)", frames: max($1, 2)) }
        let (fixture, samples) = try playedThrough(album)
        #expect(samples == [album.flatMap(\.samples)])
        #expect(
            fixture.messages == ["NOT_PLAYING", "- > 0", "PLAYING"] + (1...10).map { "\($0 - 1) > \($0)" }
                + ["10 > -", "IDLE"])
        #expect(fixture.log.messages.compactMap(\.context?.startAssetPosition).allSatisfy { $0 == 0 })
    }

    @Test("Ten boundaries in a row insert and lose no frame on a card that does not wait")
    func tenBoundariesFreely() throws {
        let album = try Self.lengths.enumerated().map { try Track("\($0)", frames: $1) }
        let fixture = try PlayerFixture()
        let engine = fixture.engine
        engine.bus.subscribe { message in
            guard case .mediaProductTransition(let transition) = message, let active = transition.active,
                let next = Int(active.referenceId).map({ $0 + 1 }), next < album.count
            else { return }
            engine.setNext(album[next].product)
        }
        fixture.card.playFreely()
        engine.load(album[0].product)
        engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.count == 1)
        #expect(fixture.card.recordings[0].samples == album.flatMap(\.samples))
        #expect(
            fixture.messages.filter { $0.contains(">") }
                == ["- > 0"] + (1...10).map { "\($0 - 1) > \($0)" } + ["10 > -"])
        #expect(!fixture.messages.contains { $0.hasPrefix("error") })
    }

    @Test("A track's transition comes when its first frame is heard, not when it is decoded")
    func transitionIsHeard() throws {
        let (one, two) = (try Track("one", frames: 3000), try Track("two", frames: 3000))
        let fixture = try PlayerFixture()
        try fixture.play(one.product, next: two.product, hearing: 2999)
        // All that the device takes is of the second track now, and the first one's last frame is not heard.
        try fixture.wait(forPending: 1600)
        #expect(fixture.messages == ["NOT_PLAYING", "- > one", "PLAYING"])
        try fixture.wait(forFrame: 2999)
        try fixture.hear(1)
        try fixture.wait(forFrame: 3000)
        #expect(fixture.messages == ["NOT_PLAYING", "- > one", "PLAYING"])
        try fixture.hear(1)
        try fixture.wait(forTransitions: 2)
        #expect(fixture.messages == ["NOT_PLAYING", "- > one", "PLAYING", "one > two"])
        try fixture.wait(forFrame: 1)
        #expect(fixture.engine.mediaProduct == two.product)
        #expect(fixture.engine.playbackContext?.productId == two.product.productId)
    }

    @Test("16 and 24 bits of one rate follow each other on the same device")
    func bitDepths() throws {
        let tracks = [
            try Track("16", frames: 3000), try Track("24", frames: 3000, bits: 24),
            try Track("16 again", frames: 3000),
        ]
        let (fixture, samples) = try playedThrough(tracks)
        #expect(samples == [tracks.flatMap(\.samples)])
        #expect(fixture.log.messages.compactMap(\.context?.audioBitDepth) == [16, 24, 16])
    }

    @Test("A new rate or channel count drains the device and reopens it; every sample is heard")
    func formats() throws {
        let tracks = [
            try Track("44.1 kHz", frames: 10_000, rate: 44_100),
            try Track("96 kHz", frames: 21_000, rate: 96_000, bits: 24),
            try Track("mono", frames: 9999, rate: 44_100, channels: 1),
            try Track("stereo", frames: 100, rate: 44_100),
        ]
        let (fixture, samples) = try playedThrough(tracks)
        #expect(samples == tracks.map(\.samples))
        #expect(fixture.card.recordings.map(\.configuration.sampleRate) == [44_100, 96_000, 44_100, 44_100])
        #expect(fixture.card.recordings.map(\.configuration.channelCount) == [2, 2, 1, 2])
        #expect(
            fixture.messages == [
                "NOT_PLAYING", "- > 44.1 kHz", "PLAYING", "44.1 kHz > 96 kHz", "96 kHz > mono", "mono > stereo",
                "stereo > -", "IDLE",
            ])
    }

    @Test("A file whose format changes inside reports the quality when it is heard")
    func formatInside() throws {
        let parts = [
            try Track("part 1", frames: 3000), try Track("part 2", frames: 5000, rate: 16_000),
            try Track("part 3", frames: 3000, bits: 24),
        ]
        let whole = try Track("whole", joining: parts)
        let fixture = try PlayerFixture()
        try fixture.play(whole.product, hearing: 3000)
        try fixture.spin("another device") { fixture.card.recordings.count == 2 && fixture.card.isStarted }
        #expect(fixture.messages == ["NOT_PLAYING", "- > whole", "PLAYING"])
        try fixture.hear(1)
        try fixture.log.wait("the quality") { $0.contains { $0.line == "quality 16000/16" } }
        #expect(fixture.engine.playbackContext?.audioSampleRate == 16_000)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == parts.map(\.samples))
        #expect(
            fixture.messages == [
                "NOT_PLAYING", "- > whole", "PLAYING", "quality 16000/16", "quality 8000/24", "whole > -", "IDLE",
            ])
    }

    @Test("The same format again inside a file is no news")
    func sameFormatInside() throws {
        let parts = [try Track("part 1", frames: 3000), try Track("part 2", frames: 5000)]
        let whole = try Track("whole", joining: parts)
        let (fixture, samples) = try playedThrough([whole])
        #expect(samples == [whole.samples])
        #expect(fixture.messages == ["NOT_PLAYING", "- > whole", "PLAYING", "whole > -", "IDLE"])
    }

    private func playedThrough(_ tracks: [Track]) throws -> (PlayerFixture, [[Int32]]) {
        let fixture = try PlayerFixture()
        try fixture.play(tracks.map { ($0.product, $0.frames) })
        return (fixture, fixture.card.recordings.map(\.samples))
    }
}
