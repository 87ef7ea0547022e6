import Output
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("The next product")
struct NextTests {
    /// Product a plays and its last frames, and the first ones of b, are in the device.
    private func joined(_ fixture: PlayerFixture, _ one: Track, _ two: Track) throws {
        try fixture.play(one.product, next: two.product)
        try fixture.waitForNext()
        try fixture.hear(one.frames - 100)
        try fixture.wait(forPending: 1600)
    }

    @Test("Replaced when it was decoded into the device already: the first and the third are heard whole")
    func replaceJoined() throws {
        let folder = try ScratchFolder()
        let tracks = try ["a", "b", "c"].map { try Track($0, frames: 5000, in: folder) }
        let fixture = try PlayerFixture()
        try joined(fixture, tracks[0], tracks[1])
        fixture.engine.setNext(tracks[2].product)
        try fixture.waitForNext()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [tracks[0].samples + tracks[2].samples])
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > c", "c > -", "IDLE"])
    }

    @Test("Cleared when it was decoded into the device already: the first is heard whole, then nothing")
    func clearJoined() throws {
        let (one, two) = (try Track("a", frames: 5000), try Track("b", frames: 5000))
        let fixture = try PlayerFixture()
        try joined(fixture, one, two)
        fixture.engine.setNext(nil)
        fixture.settle()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [one.samples])
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > -", "IDLE"])
    }

    @Test("Replaced repeatedly while the device is full of it: the last one follows")
    func replaceOften() throws {
        let (one, two) = (try Track("a", frames: 5000), try Track("b", frames: 5000))
        let fixture = try PlayerFixture()
        try joined(fixture, one, two)
        for round in 0..<20 {
            var product = two.product
            product.referenceId = "b\(round)"
            fixture.engine.setNext(round % 3 == 0 ? nil : product)
            // Not between the renderer's question how far the card is and the drop that follows: it would be repeated.
            if round % 2 == 0 { fixture.card.playWhenAsked(4) }
        }
        try fixture.waitForNext()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [one.samples + two.samples])
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > b19", "b19 > -", "IDLE"])
    }

    @Test("Setting the same one again changes nothing")
    func setSame() throws {
        let recordings = ["a", "b"].map { ScriptedRecording($0, frames: 4000) }
        let fixture = try PlayerFixture(source: ScriptedSource(recordings))
        fixture.engine.load(recordings[0].product)
        for _ in 0..<5 { fixture.engine.setNext(recordings[1].product) }
        try fixture.waitForNext()
        #expect(recordings[1].decoderCount == 1)
        fixture.card.playFreely()
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.log.messages.compactMap(\.context?.playbackSessionId) == ["session-1", "session-2"])
        #expect(fixture.card.recordings.map(\.samples) == [recordings[0].samples + recordings[1].samples])
    }

    @Test("The active product may be its own next one")
    func repeatOne() throws {
        let track = try Track("a", frames: 3000)
        let fixture = try PlayerFixture()
        try fixture.play([(track.product, 3000), (track.product, 3000)])
        #expect(fixture.card.recordings.map(\.samples) == [track.samples + track.samples])
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > a", "a > -", "IDLE"])
        #expect(fixture.log.messages.compactMap(\.context?.playbackSessionId) == ["session-1", "session-2"])
    }

    @Test("Set before the active product is loaded, it follows all the same")
    func setWhileLoading() throws {
        let recordings = [
            ScriptedRecording("a", frames: 3000, isOpenable: false), ScriptedRecording("b", frames: 3000),
        ]
        let fixture = try PlayerFixture(source: ScriptedSource(recordings))
        fixture.engine.load(recordings[0].product)
        fixture.engine.setNext(recordings[1].product)
        fixture.engine.play()
        try fixture.spin("b to be open") { recordings[1].decoderCount == 1 }
        fixture.settle()
        recordings[0].letOpen()
        try fixture.waitForNext()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > b", "b > -", "IDLE"])
        #expect(fixture.card.recordings.map(\.samples) == [recordings[0].samples + recordings[1].samples])
    }

    @Test("Not ready in its turn: STALLED, then it plays from its first frame")
    func late() throws {
        let recordings = [
            ScriptedRecording("a", frames: 3000), ScriptedRecording("b", frames: 3000, isOpenable: false),
        ]
        let fixture = try PlayerFixture(source: ScriptedSource(recordings))
        fixture.card.playFreely()
        fixture.engine.load(recordings[0].product)
        fixture.engine.setNext(recordings[1].product)
        fixture.engine.play()
        try fixture.wait(for: .stalled)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "STALLED"])
        recordings[1].letOpen()
        try fixture.wait(for: .idle)
        #expect(
            fixture.messages
                == ["NOT_PLAYING", "- > a", "PLAYING", "STALLED", "a > b", "PLAYING", "b > -", "IDLE"])
        #expect(fixture.card.recordings.map(\.samples) == [recordings[0].samples + recordings[1].samples])
    }

    @Test("A failure is held back until its turn; until then the active product plays")
    func failing() throws {
        let folder = try ScratchFolder()
        let track = try Track("a", frames: 3000, in: folder)
        let missing = MediaProduct(productType: .track, productId: folder["missing"], referenceId: "b")
        let fixture = try PlayerFixture()
        try fixture.play(track.product, next: missing, hearing: 2999)
        fixture.settle()
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING"])
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "error s2 (b)", "IDLE"])
        #expect(fixture.card.recordings.map(\.samples) == [track.samples])
        let error = try #require(fixture.log.messages.compactMap(\.error).first)
        #expect(error.message.contains(folder["missing"]))
    }

    @Test("A failure that is replaced in time is never raised")
    func failingReplaced() throws {
        let folder = try ScratchFolder()
        let (one, two) = (try Track("a", frames: 3000, in: folder), try Track("c", frames: 3000, in: folder))
        let missing = MediaProduct(productType: .track, productId: folder["missing"], referenceId: "b")
        let fixture = try PlayerFixture()
        try fixture.play(one.product, next: missing)
        fixture.engine.setNext(two.product)
        try fixture.waitForNext()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > c", "c > -", "IDLE"])
    }

    @Test("Skipping while playing plays it at once")
    func skip() throws {
        let (one, two) = (try Track("a", frames: 8000), try Track("b", frames: 3000))
        let fixture = try PlayerFixture()
        try fixture.play(one.product, next: two.product)
        try fixture.waitForNext()
        try fixture.hear(1000)
        fixture.engine.skipToNext()
        try fixture.wait(forTransitions: 2)
        fixture.settle()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > b", "b > -", "IDLE"])
        #expect(fixture.card.recordings.map(\.samples) == [one.samples(0..<1000) + two.samples])
    }

    @Test("Skipping to a product that is in the device already plays it from its first frame")
    func skipJoined() throws {
        let (one, two) = (try Track("a", frames: 5000), try Track("b", frames: 5000))
        let fixture = try PlayerFixture()
        try joined(fixture, one, two)
        fixture.engine.skipToNext()
        try fixture.wait(forTransitions: 2)
        fixture.settle()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [one.samples(0..<4900) + two.samples])
    }

    @Test("Skipping while paused stays paused, at its first frame")
    func skipPaused() throws {
        let (one, two) = (try Track("a", frames: 8000), try Track("b", frames: 3000))
        let fixture = try PlayerFixture()
        fixture.engine.load(one.product)
        fixture.engine.setNext(two.product)
        try fixture.waitForNext()
        fixture.engine.skipToNext()
        try fixture.wait(forTransitions: 2)
        fixture.settle()
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "a > b"])
        #expect(fixture.engine.assetPosition == 0)
        fixture.card.playFreely()
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [two.samples])
    }

    @Test("Skipping to a product that is not loaded yet stalls, then plays")
    func skipLoading() throws {
        let recordings = [
            ScriptedRecording("a", frames: 8000), ScriptedRecording("b", frames: 3000, isOpenable: false),
        ]
        let fixture = try PlayerFixture(source: ScriptedSource(recordings))
        try fixture.play(recordings[0].product, next: recordings[1].product, hearing: 1000)
        fixture.engine.skipToNext()
        try fixture.wait(for: .stalled)
        fixture.settle()
        #expect(fixture.card.pendingFrames == 0)
        fixture.card.playFreely()
        recordings[1].letOpen()
        try fixture.wait(for: .idle)
        #expect(
            fixture.messages
                == ["NOT_PLAYING", "- > a", "PLAYING", "STALLED", "a > b", "PLAYING", "b > -", "IDLE"])
        #expect(fixture.card.recordings.map(\.samples) == [recordings[0].samples(0..<1000) + recordings[1].samples])
    }

    @Test("Skipping to what has failed raises its error")
    func skipFailed() throws {
        let folder = try ScratchFolder()
        let track = try Track("a", frames: 8000, in: folder)
        let missing = MediaProduct(productType: .track, productId: folder["missing"], referenceId: "b")
        let fixture = try PlayerFixture()
        try fixture.play(track.product, next: missing)
        fixture.engine.skipToNext()
        try fixture.wait(for: .idle)
        #expect(
            fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "error s2 (b)", "IDLE"]
                // Or it was skipped to before its failure was known.
                || fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "STALLED", "error s2 (b)", "IDLE"])
    }

    @Test("Skipping without a next product changes nothing")
    func skipNothing() throws {
        let track = try Track("a", frames: 3000)
        let fixture = try PlayerFixture()
        try fixture.play(track.product)
        fixture.engine.skipToNext()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > -", "IDLE"])
        #expect(fixture.card.recordings.map(\.samples) == [track.samples])
    }

    @Test(
        "Paused just before or just behind a boundary: both are heard whole", arguments: [-1599, -100, -1, 0, 1, 100])
    func pauseAtBoundary(offset: Int) throws {
        let (one, two) = (try Track("a", frames: 4000), try Track("b", frames: 4000))
        let fixture = try PlayerFixture()
        try fixture.play(one.product, next: two.product)
        try fixture.waitForNext()
        try fixture.hear(4000 + offset)
        fixture.engine.pause()
        try fixture.wait(for: .notPlaying)
        if offset > 0 { try fixture.wait(forTransitions: 2) }
        fixture.settle()
        #expect(fixture.messages.filter { $0.contains(">") } == (offset > 0 ? ["- > a", "a > b"] : ["- > a"]))
        let position = Double(offset > 0 ? offset : 4000 + offset) / 8000
        #expect(fixture.engine.assetPosition == position)
        fixture.engine.play()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [one.samples + two.samples])
        #expect(fixture.messages.filter { $0.contains(">") } == ["- > a", "a > b", "b > -"])
    }

    @Test("Replaced while the device waits to be reopened for it: the replaced one is never heard")
    func replaceWhileReopening() throws {
        let one = try Track("a", frames: 3000)
        let two = try Track("b", frames: 3000, rate: 16_000)
        let three = try Track("c", frames: 3000)
        let fixture = try PlayerFixture()
        try fixture.play(one.product, next: two.product)
        try fixture.waitForNext()
        fixture.card.refuse(with: .busy(device: "paced"))
        fixture.card.playFreely()
        try fixture.wait(for: .stalled)
        let replaced = fixture.engine.published.value.following
        fixture.engine.setNext(three.product)
        // The third one follows, or is the active one already: the first has ended.
        try fixture.spin("the third product") { fixture.engine.published.value.following != replaced }
        fixture.settle()
        fixture.card.plugIn()
        // The renderer may begin its wait of a second after the first step.
        try fixture.spin("the end") {
            fixture.advance(by: 1_000_000_000)
            return fixture.engine.playbackState == .idle
        }
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [one.samples, three.samples])
        #expect(fixture.messages.filter { $0.contains(">") } == ["- > a", "a > c", "c > -"])
    }
}
