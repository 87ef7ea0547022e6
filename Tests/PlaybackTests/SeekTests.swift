import Media
import PCM
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("Seeking")
struct SeekTests {
    private static let frames = 20_000

    @Test("While playing: to the exact frame", arguments: [0, 1, 839, 840, 4095, 4096, 4097, 10_000, 19_999])
    func playing(target: Int) throws {
        let track = try Track("a", frames: Self.frames)
        let fixture = try PlayerFixture()
        try fixture.play(track.product, hearing: 500)
        fixture.engine.seek(Double(target) / 8000)
        try fixture.wait(forFrame: target)
        fixture.settle()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        let recordings = fixture.card.recordings.map(\.samples)
        #expect(recordings == [track.samples(0..<500) + track.samples(from: target)])
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > -", "IDLE"])
    }

    @Test("While paused: the position is the target at once, and playing begins there", arguments: [0, 777, 12_345])
    func paused(target: Int) throws {
        let track = try Track("a", frames: Self.frames)
        let fixture = try PlayerFixture()
        try fixture.play(track.product, hearing: 2500)
        fixture.engine.pause()
        fixture.engine.seek(Double(target) / 8000)
        fixture.settle()
        #expect(fixture.engine.assetPosition == Double(target) / 8000)
        #expect(fixture.card.pendingFrames == 0)
        fixture.engine.play()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [track.samples(0..<2500) + track.samples(from: target)])
        #expect(
            fixture.messages
                == ["NOT_PLAYING", "- > a", "PLAYING", "NOT_PLAYING", "PLAYING", "a > -", "IDLE"])
    }

    @Test("Before the product is loaded: it starts there", arguments: [false, true])
    func beforeLoaded(isOpenable: Bool) throws {
        // The request may come before, while or just after the product is opened.
        let recording = ScriptedRecording("a", frames: Self.frames, isOpenable: isOpenable)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        fixture.engine.load(recording.product)
        fixture.onControl { [engine = fixture.engine] in engine.seek(9999.0 / 8000) }
        fixture.settle()
        recording.letOpen()
        try fixture.wait(forTransitions: 1)
        if !isOpenable { #expect(fixture.engine.playbackContext?.startAssetPosition == 9999.0 / 8000) }
        try fixture.wait(forFrame: 9999)
        fixture.settle()
        fixture.card.playFreely()
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [recording.samples(from: 9999)])
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > -", "IDLE"])
    }

    @Test("Before the product is loaded, beyond its end", arguments: [2.6, 1e12, .infinity] as [Double])
    func beforeLoadedBeyondEnd(target: Double) throws {
        let track = try Track("a", frames: Self.frames)
        let fixture = try PlayerFixture()
        fixture.engine.load(track.product)
        fixture.engine.seek(target)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.card.heardFrames == 0)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "a > -", "IDLE"])
    }

    @Test("Before the beginning is the beginning", arguments: [-1, -0.0001, -.infinity] as [Double])
    func beforeBeginning(target: Double) throws {
        let track = try Track("a", frames: 3000)
        let fixture = try PlayerFixture()
        fixture.engine.load(track.product)
        fixture.engine.seek(target)
        fixture.card.playFreely()
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [track.samples])
    }

    @Test("Beyond the end, the product has ended", arguments: [2.5, 2.6, 1e12, .infinity] as [Double])
    func beyondEnd(target: Double) throws {
        let track = try Track("a", frames: Self.frames)
        let fixture = try PlayerFixture()
        try fixture.play(track.product, hearing: 500)
        fixture.engine.seek(target)
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [track.samples(0..<500)])
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > -", "IDLE"])
    }

    @Test("Beyond the end of a product that does not tell its length", arguments: [3, 1e12, .infinity] as [Double])
    func beyondUnknownEnd(target: Double) throws {
        let recording = ScriptedRecording("a", frames: Self.frames, tellsLength: false)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        try fixture.play(recording.product, hearing: 500)
        fixture.engine.seek(target)
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [recording.samples(0..<500)])
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > -", "IDLE"])
    }

    @Test("Beyond the end while paused: it ends when it is played")
    func beyondEndPaused() throws {
        let track = try Track("a", frames: Self.frames)
        let fixture = try PlayerFixture()
        fixture.engine.load(track.product)
        try fixture.wait(forTransitions: 1)
        fixture.engine.seek(100)
        fixture.settle()
        #expect(fixture.engine.assetPosition == 2.5)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a"])
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "a > -", "IDLE"])
    }

    @Test("Beyond the end with a next product: that one plays, from its first frame")
    func beyondEndWithNext() throws {
        let (one, two) = (try Track("a", frames: 8000), try Track("b", frames: 3000))
        let fixture = try PlayerFixture()
        try fixture.play(one.product, next: two.product)
        try fixture.waitForNext()
        try fixture.hear(500)
        fixture.engine.seek(10)
        try fixture.spin("the seek to be there") { fixture.engine.assetPosition == 1 }
        fixture.settle()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [one.samples(0..<500) + two.samples])
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > b", "b > -", "IDLE"])
    }

    @Test("With a next product that is in the device already: it still follows, whole")
    func whileJoined() throws {
        let (one, two) = (try Track("a", frames: 5000), try Track("b", frames: 5000))
        let fixture = try PlayerFixture()
        try fixture.play(one.product, next: two.product)
        try fixture.waitForNext()
        try fixture.hear(4500)
        try fixture.wait(forPending: 1600)
        fixture.engine.seek(1000.0 / 8000)
        try fixture.wait(forFrame: 1000)
        fixture.settle()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(
            fixture.card.recordings.map(\.samples)
                == [one.samples(0..<4500) + one.samples(from: 1000) + two.samples])
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > b", "b > -", "IDLE"])
    }

    @Test("A seek to infinity is one to the end, also before the product is loaded", arguments: [true, false])
    func infinity(tellsLength: Bool) throws {
        let recording = ScriptedRecording("a", frames: 4000, isOpenable: false, tellsLength: tellsLength)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        fixture.engine.load(recording.product)
        fixture.engine.seek(.infinity)
        fixture.settle()
        #expect(fixture.engine.assetPosition == nil)
        recording.letOpen()
        try fixture.wait(forTransitions: 1)
        fixture.settle()
        #expect(fixture.engine.assetPosition == (tellsLength ? 0.5 : 1e9))
        fixture.engine.seek(.infinity)
        fixture.settle()
        #expect(fixture.engine.assetPosition?.isFinite == true)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "a > -", "IDLE"])
    }

    @Test("Of many seeks the last one counts")
    func many() throws {
        let track = try Track("a", frames: Self.frames)
        let fixture = try PlayerFixture()
        try fixture.play(track.product, hearing: 500)
        for index in 0..<200 { fixture.engine.seek(Double(index % 26) / 10) }
        fixture.engine.seek(15_000.0 / 8000)
        try fixture.wait(forFrame: 15_000)
        fixture.settle()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [track.samples(0..<500) + track.samples(from: 15_000)])
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > -", "IDLE"])
    }

    @Test("A seek to the end that is taken back at once does not end the product")
    func takenBack() throws {
        let recording = ScriptedRecording("a", frames: 8000)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        try fixture.play(recording.product, hearing: 500)
        recording.holdSeeks()
        fixture.engine.seek(1)
        try fixture.spin("the seek to begin") { recording.seekCount == 1 }
        fixture.engine.seek(0.5)
        fixture.settle()
        recording.letSeek()
        try fixture.wait(forFrame: 4000)
        fixture.settle()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [recording.samples(0..<500) + recording.samples(from: 4000)])
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > -", "IDLE"])
    }

    @Test("While a seek takes its time there is silence; after a second, STALLED")
    func slow() throws {
        let recordings = [ScriptedRecording("a", frames: 8000), ScriptedRecording("b", frames: 3000)]
        let fixture = try PlayerFixture(source: ScriptedSource(recordings))
        try fixture.play(recordings[0].product, next: recordings[1].product)
        try fixture.waitForNext()
        try fixture.hear(7900)
        recordings[0].holdSeeks()
        fixture.engine.seek(0.5)
        fixture.settle()
        // No frame of the old position is heard, and the next product does not start.
        fixture.card.playFreely()
        #expect(fixture.card.pendingFrames == 0)
        #expect(fixture.engine.assetPosition == 0.5)
        fixture.advance(by: 1_000_000_000)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "STALLED"])
        recordings[0].letSeek()
        try fixture.wait(for: .idle)
        let (one, two) = (recordings[0], recordings[1])
        #expect(
            fixture.card.recordings.map(\.samples)
                == [one.samples(0..<7900) + one.samples(from: 4000) + two.samples])
        #expect(
            fixture.messages
                == ["NOT_PLAYING", "- > a", "PLAYING", "STALLED", "PLAYING", "a > b", "b > -", "IDLE"])
    }

    @Test("Pause and play during a seek: nothing of the old position is heard")
    func pauseDuringSeek() throws {
        let recording = ScriptedRecording("a", frames: 8000)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        try fixture.play(recording.product, hearing: 500)
        recording.holdSeeks()
        fixture.engine.seek(0.5)
        fixture.engine.pause()
        fixture.engine.play()
        fixture.settle()
        fixture.card.playFreely()
        fixture.settle()
        #expect(fixture.card.heardFrames == 500)
        recording.letSeek()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [recording.samples(0..<500) + recording.samples(from: 4000)])
        #expect(
            fixture.messages
                == ["NOT_PLAYING", "- > a", "PLAYING", "NOT_PLAYING", "PLAYING", "a > -", "IDLE"])
    }

    @Test("A seek that fails raises the error")
    func failing() throws {
        let recording = ScriptedRecording("a", frames: 8000)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        try fixture.play(recording.product, hearing: 500)
        recording.holdSeeks()
        recording.fail(with: .damaged(what: "everything"))
        fixture.engine.seek(0.5)
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "error m3 (a)", "IDLE"])
    }

    @Test("Back into the first part of a file whose format changes inside", arguments: [0, 1, 2000, 3999])
    func backAcrossFormats(target: Int) throws {
        let parts = [
            try Track("part 1", frames: 4000), try Track("part 2", frames: 4000, rate: 16_000),
        ]
        let whole = try Track("whole", joining: parts)
        let fixture = try PlayerFixture()
        try fixture.play(whole.product, hearing: 4100)
        try fixture.log.wait("the quality") { $0.contains { $0.line == "quality 16000/16" } }
        fixture.engine.seek(Double(target) / 8000)
        try fixture.wait(forFrame: target)
        fixture.settle()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        let heard = fixture.card.recordings.filter { $0.frames > 0 }
        #expect(heard.map(\.frames) == [4000, 100, 4000 - target, 4000])
        #expect(
            heard.map(\.samples)
                == [parts[0].samples, parts[1].samples(0..<100), parts[0].samples(from: target), parts[1].samples])
        #expect(
            fixture.messages == [
                "NOT_PLAYING", "- > whole", "PLAYING", "quality 16000/16", "quality 8000/16", "quality 16000/16",
                "whole > -", "IDLE",
            ])
    }
}
