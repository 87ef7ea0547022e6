import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("A slow medium (docs/playback.md, 6)")
struct SlowMediumTests {
    @Test("Opening that takes long stalls playback, and the engine says that it waits for the medium")
    func opening() throws {
        let recording = ScriptedRecording("a", frames: 3000, isOpenable: false)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        fixture.engine.load(recording.product)
        fixture.engine.play()
        fixture.settle()
        #expect(!fixture.engine.isWaitingForMedium)
        fixture.advance(by: 1_000_000_000)
        try fixture.wait(for: .stalled)
        try fixture.spin("the wait") { fixture.engine.isWaitingForMedium }
        #expect(fixture.engine.decoderBeat == nil)
        recording.letOpen()
        try fixture.wait(for: .playing)
        #expect(!fixture.engine.isWaitingForMedium)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(!fixture.engine.isWaitingForMedium)
        #expect(fixture.messages == ["NOT_PLAYING", "STALLED", "- > a", "PLAYING", "a > -", "IDLE"])
    }

    @Test(
        "So does reading in the middle, whether it blocks or the bytes have not arrived yet", arguments: [false, true])
    func reading(answersNotYet: Bool) throws {
        let recording = ScriptedRecording("a", frames: 9000, available: 4000, answersNotYet: answersNotYet)
        let fixture = try stalledInTheMiddle(of: recording)
        try fixture.spin("the wait") { fixture.engine.isWaitingForMedium }
        recording.letDecode()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.flatMap(\.samples) == recording.samples)
    }

    @Test("A decoder that does not come to an end with bytes it has is no slow medium: opening")
    func busyOpening() throws {
        let recording = ScriptedRecording("a", frames: 3000, isOpenable: false, isMediumSlow: false)
        let fixture = try stalledAtTheStart(of: recording)
        try fixture.spin("the decoder") { recording.sleepCount > 0 }
        #expect(!fixture.engine.isWaitingForMedium)
        #expect(fixture.engine.decoderBeat != nil)
        recording.letOpen()
        try fixture.wait(for: .playing)
    }

    @Test("A decoder that does not come to an end with bytes it has is no slow medium: decoding")
    func busyDecoding() throws {
        let recording = ScriptedRecording("a", frames: 9000, available: 4000, isMediumSlow: false)
        let fixture = try stalledInTheMiddle(of: recording)
        try fixture.spin("the decoder") { recording.sleepCount > 0 }
        #expect(!fixture.engine.isWaitingForMedium)
        #expect(fixture.engine.decoderBeat != nil)
        recording.letDecode()
        try fixture.wait(for: .idle)
    }

    @Test("A missing device is no slow medium")
    func device() throws {
        let recording = ScriptedRecording("a", frames: 3000)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        fixture.card.unplug()
        fixture.engine.load(recording.product)
        fixture.engine.play()
        try fixture.wait(for: .stalled)
        // Everything is decoded.
        try fixture.spin("the end of decoding") { !fixture.engine.isWaitingForMedium }
        #expect(fixture.engine.deviceProblem != nil)
        // It sleeps: a thread without work does not count as hanging.
        try fixture.spin("rest") { fixture.engine.decoderBeat == nil }
    }

    private func stalledAtTheStart(of recording: ScriptedRecording) throws -> PlayerFixture {
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        fixture.engine.load(recording.product)
        fixture.engine.play()
        fixture.settle()
        fixture.advance(by: 1_000_000_000)
        try fixture.wait(for: .stalled)
        return fixture
    }

    /// Stalls after 4000 frames.
    private func stalledInTheMiddle(of recording: ScriptedRecording) throws -> PlayerFixture {
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        fixture.card.playFreely()
        try fixture.play(recording.product)
        try fixture.spin("4000 frames") { fixture.card.heardFrames == 4000 }
        fixture.advance(by: 1_000_000_000)
        try fixture.wait(for: .stalled)
        return fixture
    }
}
