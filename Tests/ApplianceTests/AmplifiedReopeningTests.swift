import ApplianceTestSupport
import OutputTestSupport
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance

@Suite("The amplifier is muted while the device is reopened for another sample rate")
struct AmplifiedReopeningTests {
    private static let amplifier = """
        [amplifier]
        line = 1
        active = high
        role = enable
        mute-before-start = 10 ms
        unmute-after-start = 30 ms
        mute-before-stop = 20 ms

        """

    private let tracks: Tracks
    private let folder: ScratchFolder
    private let fixture: DaemonFixture
    private var card: PacedCard { fixture.card }

    init() throws {
        tracks = try Tracks()
        folder = try ScratchFolder()
        fixture = DaemonFixture(folder: folder["state"])
    }

    /// Whether the amplifier could be heard, since it was switched on.
    private var audible: [Bool] {
        fixture.perform { [fixture] _ in fixture.lines.outputs["line 1 of c"] ?? [] }
    }

    /// A track of 1 kHz and one of 2 kHz; the first one plays, and the amplifier is heard.
    private func playFirst(_ board: String = amplifier) throws {
        try fixture.start("[audio]\nnormalization = off", board: board)
        fixture.pass(seconds: 1)
        let products = try tracks.make("a", frames: 4000) + tracks.make("b", frames: 4000, rate: 2000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.waitForSound()
        fixture.pass(milliseconds: 30)
        card.play(100)
        #expect(audible == [false, true])
    }

    /// Plays the first track to its end.
    private func playToEnd() {
        card.play(3900)
        waitForMute()
    }

    private func waitForMute() {
        card.waitUntil("the mute") { _ in self.audible == [false, true, false] }
        waitForEvents()
    }

    /// Returns when the daemon has handled all reports of the audio thread.
    private func waitForEvents() {
        fixture.waitForFocus()
        fixture.settle()
    }

    /// Returns when the device plays and the daemon knows it.
    private func waitForStart() {
        card.waitUntil("the start") { $0.isStarted }
        // The audio thread reports that it plays, and then asks which frame was heard.
        let heard = card.heardFrames
        card.playWhenAsked(1)
        card.waitUntil("a frame") { $0.heardFrames > heard }
        waitForEvents()
    }

    /// The device is opened 20 ms after the mute, and the amplifier heard 30 ms after the start.
    private func expectReopening(after milliseconds: Int64 = 20) {
        #expect(!card.isStarted)
        fixture.pass(milliseconds: milliseconds - 1)
        waitForEvents()
        #expect(card.openingCount == 1)
        #expect(!card.isStarted)
        fixture.pass(milliseconds: 1)
        waitForStart()
        #expect(card.openingCount == 2)
        fixture.pass(milliseconds: 29)
        #expect(audible == [false, true, false])
        fixture.pass(milliseconds: 1)
        #expect(audible == [false, true, false, true])
    }

    @Test("From one track to the next: played to the end, muted, waited, opened, started, waited, heard")
    func transition() throws {
        try playFirst()
        card.play(3899)
        waitForEvents()
        #expect(audible == [false, true])
        card.play(1)
        waitForMute()
        #expect(card.heardFrames == 4000)
        expectReopening()
        card.playFreely()
        fixture.wait("the end") { $0.playback == .stopped }
        #expect(card.heard == "a0-4000 b0-4000")
        fixture.end()
    }

    @Test("On a jump: silent, muted, waited, opened, started, waited, heard")
    func jump() throws {
        try playFirst()
        fixture.perform { $0.commands.perform(.next) }
        waitForMute()
        #expect(card.heardFrames == 100)
        expectReopening()
        card.playFreely()
        fixture.wait("the end") { $0.playback == .stopped }
        #expect(card.heard == "a0-100 b0-4000")
        fixture.end()
    }

    @Test("A jump without another sample rate does not mute the amplifier")
    func jumpOfOneRate() throws {
        try playFirst()
        fixture.perform { $0.commands.perform(.previous) }
        #expect(card.play(until: "a0 a0"))
        waitForEvents()
        #expect(audible == [false, true])
        #expect(card.openingCount == 1)
        fixture.end()
    }

    @Test("Without an amplifier no time has to pass")
    func noAmplifier() throws {
        try fixture.start("[audio]\nnormalization = off", board: "")
        let products = try tracks.make("a", frames: 4000) + tracks.make("b", frames: 4000, rate: 2000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        card.playFreely()
        fixture.wait("the end") { $0.playback == .stopped && self.card.openingCount == 2 }
        #expect(card.heard == "a0-4000 b0-4000")
        fixture.end()
    }

    // MARK: Requests meanwhile

    @Test("Paused and played: muted as long as it has to be")
    func pause() throws {
        try playFirst()
        playToEnd()
        fixture.pass(milliseconds: 5)
        fixture.perform { $0.commands.perform(.pause) }
        fixture.wait("the pause") { $0.playback == .paused }
        fixture.perform { $0.commands.perform(.play) }
        expectReopening(after: 15)
        fixture.end()
    }

    @Test("After a long pause the device is reopened at once, because the amplifier is muted")
    func longPause() throws {
        try playFirst()
        playToEnd()
        fixture.perform { $0.commands.perform(.pause) }
        fixture.pass(seconds: 5)
        #expect(card.openingCount == 1)
        fixture.perform { $0.commands.perform(.play) }
        waitForStart()
        #expect(card.openingCount == 2)
        #expect(audible == [false, true, false])
        fixture.pass(milliseconds: 30)
        #expect(audible == [false, true, false, true])
        fixture.end()
    }

    @Test("Back to a format of the device: it starts when the amplifier has been muted for long enough")
    func back() throws {
        try playFirst()
        playToEnd()
        try fixture.perform { try $0.queue.select($0.queue.contents.playOrder[0]) }
        fixture.waitForFocus()
        #expect(!card.isStarted)
        fixture.pass(milliseconds: 20)
        waitForStart()
        fixture.pass(milliseconds: 30)
        #expect(audible == [false, true, false, true])
        #expect(card.openingCount == 1)
        fixture.end()
    }

    @Test("A seek without a new format: heard again when the amplifier allows it")
    func seek() throws {
        try playFirst()
        playToEnd()
        fixture.perform { $0.queue.seek(to: 1) }
        waitForStart()
        fixture.pass(milliseconds: 20)
        #expect(audible == [false, true, false])
        fixture.pass(milliseconds: 30)
        #expect(audible == [false, true, false, true])
        #expect(card.beginnings == "a0 a1000")
        #expect(card.openingCount == 1)
        fixture.end()
    }

    @Test("Stopped: the device is free at once, and the next start is one as ever")
    func stop() throws {
        try playFirst()
        playToEnd()
        fixture.perform { $0.commands.perform(.stop) }
        card.waitUntil("the device is free") { !$0.isOpen }
        fixture.perform { $0.commands.perform(.play) }
        fixture.pass(milliseconds: 20)
        waitForStart()
        fixture.pass(milliseconds: 30)
        #expect(audible == [false, true, false, true])
        fixture.end()
    }

    @Test("An amplifier that needs longer than the engine waits for a start is waited for all the same")
    func slowAmplifier() throws {
        try playFirst("[amplifier]\nline = 1\nrole = enable\nunmute-after-start = 30 ms\nmute-before-stop = 10 s\n")
        fixture.perform { $0.commands.perform(.next) }
        waitForMute()
        fixture.wait("the stall") { $0.playback == .stalled }
        expectReopening(after: 10_000)
        fixture.end()
    }
}
