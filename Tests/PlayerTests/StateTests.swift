import Media
import Output
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("Playback states")
struct StateTests {
    @Test("A player begins idle and says nothing")
    func initial() throws {
        let fixture = try PlayerFixture()
        fixture.settle()
        #expect(fixture.engine.playbackState == .idle)
        #expect(fixture.engine.mediaProduct == nil)
        #expect(fixture.engine.playbackContext == nil)
        #expect(fixture.engine.assetPosition == nil)
        #expect(fixture.messages.isEmpty)
    }

    @Test("Calls without an active product are ignored")
    func idleCalls() throws {
        let track = try Track("a", frames: 100)
        let fixture = try PlayerFixture()
        fixture.engine.play()
        fixture.engine.pause()
        fixture.engine.seek(1)
        fixture.engine.setNext(track.product)
        fixture.engine.skipToNext()
        fixture.engine.reset()
        fixture.settle()
        #expect(fixture.messages.isEmpty)
        #expect(fixture.engine.assetPosition == nil)
        #expect(fixture.card.openingCount == 0)
    }

    @Test("Load answers NOT_PLAYING at once and the transition when the product is known")
    func load() throws {
        let recording = ScriptedRecording("a", frames: 8000, isOpenable: false)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        fixture.engine.load(recording.product)
        fixture.settle()
        #expect(fixture.messages == ["NOT_PLAYING"])
        #expect(fixture.engine.mediaProduct == nil)
        recording.letOpen()
        try fixture.wait(forTransitions: 1)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a"])
        #expect(fixture.engine.mediaProduct == recording.product)
        let context = try #require(fixture.engine.playbackContext)
        #expect(context.productId == "actual a")
        #expect(context.referenceId == "a")
        #expect(context.playbackSessionId == "session-1")
        #expect(context.duration == 1)
        #expect(context.audioSampleRate == 8000)
        #expect(context.audioBitDepth == 16)
        #expect(fixture.engine.assetPosition == 0)
        // The device is not needed yet.
        #expect(fixture.card.openingCount == 0)
    }

    @Test("Loading twice plays as once")
    func loadTwice() throws {
        let track = try Track("a", frames: 2000)
        let fixture = try PlayerFixture()
        fixture.card.playFreely()
        // In one step, so that the first one cannot have been opened before the second one comes.
        fixture.onControl { [engine = fixture.engine] in
            engine.load(track.product)
            engine.load(track.product)
        }
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > -", "IDLE"])
        #expect(fixture.card.recordings.map(\.samples) == [track.samples])
    }

    @Test("Load while playing falls silent and leaves the device open")
    func loadWhilePlaying() throws {
        let (one, two) = (try Track("a", frames: 8000), try Track("b", frames: 2000))
        let fixture = try PlayerFixture()
        try fixture.play(one.product, hearing: 3000)
        fixture.engine.load(two.product)
        try fixture.wait(forTransitions: 2)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "NOT_PLAYING", "a > b"])
        fixture.settle()
        fixture.card.playFreely()
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [one.samples(0..<3000) + two.samples])
        #expect(fixture.messages.suffix(3) == ["PLAYING", "b > -", "IDLE"])
    }

    @Test("Play while loading plays as soon as it can")
    func playWhileLoading() throws {
        let recording = ScriptedRecording("a", frames: 3000, isOpenable: false)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        fixture.card.playFreely()
        fixture.engine.load(recording.product)
        fixture.engine.play()
        fixture.settle()
        #expect(fixture.messages == ["NOT_PLAYING"])
        recording.letOpen()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > -", "IDLE"])
        #expect(fixture.card.recordings.map(\.samples) == [recording.samples])
    }

    @Test("Play and pause while loading does not play")
    func playAndPauseWhileLoading() throws {
        let recording = ScriptedRecording("a", frames: 3000, isOpenable: false)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        fixture.card.playFreely()
        fixture.engine.load(recording.product)
        fixture.engine.play()
        fixture.engine.pause()
        recording.letOpen()
        try fixture.wait(forTransitions: 1)
        fixture.advance(by: 2_000_000_000)
        fixture.settle()
        #expect(fixture.messages == ["NOT_PLAYING", "- > a"])
        #expect(fixture.card.heardFrames == 0)
    }

    @Test("A product that takes longer than a second to open stalls")
    func slowOpening() throws {
        let recording = ScriptedRecording("a", frames: 3000, isOpenable: false)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        fixture.card.playFreely()
        fixture.engine.load(recording.product)
        fixture.engine.play()
        fixture.settle()
        fixture.advance(by: 999_999_999)
        #expect(fixture.messages == ["NOT_PLAYING"])
        fixture.advance(by: 1)
        #expect(fixture.messages == ["NOT_PLAYING", "STALLED"])
        recording.letOpen()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "STALLED", "- > a", "PLAYING", "a > -", "IDLE"])
    }

    @Test("Pause and play again in the middle lose and repeat no frame", arguments: [1, 799, 1600, 4095, 4096, 7999])
    func pause(frame: Int) throws {
        let track = try Track("a", frames: 8000)
        let fixture = try PlayerFixture()
        try fixture.play(track.product, hearing: frame)
        fixture.engine.pause()
        try fixture.wait(for: .notPlaying)
        fixture.settle()
        #expect(fixture.card.pendingFrames == 0)
        #expect(fixture.engine.assetPosition == Double(frame) / 8000)
        fixture.engine.play()
        try fixture.wait(for: .playing)
        #expect(fixture.engine.assetPosition == Double(frame) / 8000)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [track.samples])
        #expect(
            fixture.messages
                == ["NOT_PLAYING", "- > a", "PLAYING", "NOT_PLAYING", "PLAYING", "a > -", "IDLE"])
    }

    @Test("A pause after each few frames leaves the sound whole")
    func manyPauses() throws {
        let track = try Track("a", frames: 5000)
        let fixture = try PlayerFixture()
        fixture.engine.load(track.product)
        for _ in 0..<40 {
            fixture.engine.play()
            try fixture.wait(for: .playing)
            try fixture.hear(123)
            fixture.engine.pause()
            try fixture.wait(for: .notPlaying)
        }
        fixture.settle()
        #expect(fixture.engine.assetPosition == Double(40 * 123) / 8000)
        fixture.card.playFreely()
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.map(\.samples) == [track.samples])
    }

    @Test("At the end the product is gone: a transition to nothing, then IDLE; the device is free")
    func end() throws {
        let track = try Track("a", frames: 3000)
        let fixture = try PlayerFixture()
        fixture.card.playFreely()
        fixture.engine.load(track.product)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > -", "IDLE"])
        fixture.settle()
        #expect(fixture.engine.mediaProduct == nil)
        #expect(fixture.engine.playbackContext == nil)
        #expect(fixture.engine.assetPosition == nil)
        #expect(fixture.engine.deviceConfiguration == nil)
        #expect(!fixture.card.isOpen)
    }

    @Test("Reset while playing is IDLE at once, without a transition; the device is free")
    func reset() throws {
        let (one, two) = (try Track("a", frames: 8000), try Track("b", frames: 2000))
        let fixture = try PlayerFixture()
        try fixture.play(one.product, next: two.product, hearing: 1000)
        #expect(fixture.engine.deviceConfiguration?.sampleRate == 8000)
        fixture.engine.reset()
        try fixture.wait(for: .idle)
        fixture.settle()
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "IDLE"])
        #expect(fixture.card.recordings.map(\.samples) == [one.samples(0..<1000)])
        #expect(!fixture.card.isOpen)
        #expect(fixture.engine.mediaProduct == nil)
        #expect(fixture.engine.assetPosition == nil)
    }

    @Test("Reset while loading: nothing is opened, no error is raised")
    func resetWhileLoading() throws {
        let recording = ScriptedRecording("a", frames: 3000, isOpenable: false)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        fixture.engine.load(recording.product)
        fixture.engine.play()
        fixture.engine.reset()
        try fixture.wait(for: .idle)
        try fixture.spin("the decoder to be gone") { recording.decoderCount == 0 }
        fixture.settle()
        #expect(fixture.messages == ["NOT_PLAYING", "IDLE"])
    }

    @Test(
        "A source that starves, blocking or with “not yet”, stalls the player; with more data it continues exactly",
        arguments: [false, true])
    func starving(answersNotYet: Bool) throws {
        let recording = ScriptedRecording("a", frames: 8000, available: 3000, answersNotYet: answersNotYet)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        try fixture.play(recording.product, hearing: 3000)
        try fixture.wait(forFrame: 3000)
        fixture.settle()
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING"])
        fixture.advance(by: 1_000_000_000)
        try fixture.wait(for: .stalled)
        #expect(fixture.engine.assetPosition == 3000.0 / 8000)
        // It sleeps until there is more: only calls of the test wake it up.
        #expect(recording.notYetCount <= (answersNotYet ? 10 : 0))
        fixture.card.playFreely()
        recording.letDecode()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "STALLED", "PLAYING", "a > -", "IDLE"])
        #expect(fixture.card.recordings.map(\.samples) == [recording.samples])
    }

    @Test("Pause and play while stalled: NOT_PLAYING, and it resumes when data comes", arguments: [false, true])
    func pauseWhileStalled(answersNotYet: Bool) throws {
        let recording = ScriptedRecording("a", frames: 8000, available: 3000, answersNotYet: answersNotYet)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        try fixture.play(recording.product, hearing: 3000)
        try fixture.wait(forFrame: 3000)
        fixture.advance(by: 1_000_000_000)
        try fixture.wait(for: .stalled)
        fixture.engine.pause()
        try fixture.wait(for: .notPlaying)
        fixture.engine.play()
        fixture.settle()
        fixture.advance(by: 1_000_000_000)
        try fixture.wait(for: .stalled)
        recording.letDecode()
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(
            fixture.messages == [
                "NOT_PLAYING", "- > a", "PLAYING", "STALLED", "NOT_PLAYING", "STALLED", "PLAYING", "a > -", "IDLE",
            ])
        #expect(fixture.card.recordings.map(\.samples) == [recording.samples])
    }

    @Test("A product without a single frame ends when it is played; nothing is PLAYING")
    func empty() throws {
        let recording = ScriptedRecording("a", frames: 0)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        fixture.card.playFreely()
        fixture.engine.load(recording.product)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "a > -", "IDLE"])
    }
}
