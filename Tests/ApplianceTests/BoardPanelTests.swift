import ApplianceTestSupport
import Board
import BoardTestSupport
import Network
import OutputTestSupport
import Platform
import Queue
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import Player

@Suite("The daemon on a board")
struct BoardPanelTests {
    private let tracks: Tracks
    private let folder: ScratchFolder
    private let fixture: DaemonFixture

    init() throws {
        tracks = try Tracks()
        folder = try ScratchFolder()
        fixture = DaemonFixture(folder: folder["state"])
    }

    private func output(_ line: Int) -> [Bool] {
        fixture.perform { [fixture] _ in fixture.lines.outputs["line \(line) of c"] ?? [] }
    }

    private func passMilliseconds(_ count: Int) {
        for _ in 0..<count { fixture.pass(milliseconds: 1) }
    }

    @Test("A button does its action in the profile")
    func button() throws {
        try fixture.start(
            "[audio]\nnormalization = off", board: "[button play]\nline = 1\nactive = low\npress = toggle\n")
        let products = try tracks.make("a", frames: 9000)
        try fixture.perform { try $0.queue.set(products, playing: false) }
        fixture.perform { [fixture] _ in fixture.lines.inputs["line 1 of c"]?.edge(true, at: fixture.clock.now()) }
        fixture.waitForSound()
        fixture.end()
    }

    @Test("A line that cannot be opened is a problem, and the music plays")
    func missingLine() throws {
        let line = LineReference(chip: "c", line: .offset(1))
        fixture.lines.errors["line 1 of c"] = .chipMissing(line, present: [])
        try fixture.start("", board: "[button play]\nline = 1\nactive = low\npress = toggle\n")
        #expect(fixture.status.problems.map(\.subject) == ["button play"])
        let products = try tracks.make("a", frames: 9000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.waitForSound()
        fixture.end()
    }

    @Test("A button and a light of the same name have separate problems, also apart from the sound card's")
    func oneName() throws {
        for line in 1...4 {
            let reference = LineReference(chip: "c", line: .offset(line))
            fixture.lines.errors[reference.description] = .lineTaken(reference, by: nil)
        }
        try fixture.start(
            "",
            board: """
                [amplifier]
                line = 1
                role = mute
                [button device]
                line = 2
                press = stop
                [light device]
                line = 3
                playing = on
                [light amplifier]
                line = 4
                playing = on

                """)
        #expect(
            fixture.status.problems.map(\.subject) == ["light device", "light amplifier", "amplifier", "button device"])
        #expect(BoardPanel.conditions(of: fixture.status).contains(.error))
        fixture.lines.errors["line 3 of c"] = nil
        fixture.pass(seconds: 1)
        #expect(fixture.status.problems.map(\.subject) == ["light amplifier", "amplifier", "button device"])
        fixture.end()
    }

    @Test("Lights show the state of playback")
    func lights() throws {
        try fixture.start("", board: "[light a]\nline = 1\nplaying = on\n[light b]\nline = 2\npaused = on\n")
        #expect(output(2).last == true)
        let products = try tracks.make("a", frames: 9000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.waitForSound()
        #expect(output(1).last == true)
        #expect(output(2).last == false)
        fixture.end()
        #expect(fixture.lines.outputs["line 1 of c"]?.last == false)
    }

    @Test("The amplifier is muted before the device starts and before it stops, and after a stall it comes back")
    func amplifier() throws {
        try fixture.start(
            "[audio]\nnormalization = off",
            board: """
                [amplifier]
                line = 1
                active = high
                role = enable
                mute-before-start = 20 ms
                unmute-after-start = 30 ms
                mute-before-stop = 10 ms

                """)
        let products = try tracks.make("a", frames: 9000)
        #expect(output(1) == [false])
        fixture.pass(seconds: 1)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.waitForSound()
        // The message PLAYING has arrived. No frame is heard before 30 ms of the daemon's clock.
        #expect(output(1) == [false])
        passMilliseconds(30)
        #expect(output(1) == [false, true])
        fixture.play(200)
        fixture.perform { $0.commands.perform(.pause) }
        #expect(output(1) == [false, true, false])
        #expect(fixture.card.isStarted)
        passMilliseconds(10)
        fixture.card.waitUntil("silence") { !$0.isStarted }
        // Muted for longer than it has to be.
        passMilliseconds(20)
        fixture.perform { $0.commands.perform(.play) }
        fixture.card.waitUntil("sound") { $0.isStarted }
        fixture.waitForSound()
        passMilliseconds(30)
        #expect(output(1) == [false, true, false, true])
        fixture.card.unplug()
        fixture.wait("the stall") { $0.playback == .stalled }
        fixture.settle()
        #expect(output(1) == [false, true, false, true, false])
        fixture.end()
    }

    private static let slowAmplifier = "[amplifier]\nline = 1\nactive = high\nrole = enable\nmute-before-stop = 10 ms\n"

    @Test("An entry that is loaded while the amplifier is being muted stays loaded")
    func loadWhileMuting() throws {
        try fixture.start("[audio]\nnormalization = off", board: Self.slowAmplifier)
        let products = try tracks.make("a", frames: 9000) + tracks.make("b", frames: 9000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.waitForSound()
        fixture.perform {
            $0.commands.perform(.stop)
            $0.commands.perform(.next)
        }
        passMilliseconds(10)
        fixture.perform { $0.commands.perform(.play) }
        fixture.waitForSound()
        #expect(fixture.status.entry?.product.productId == products[1].productId)
        fixture.end()
    }

    @Test("A client that waits for the device is answered, also if playback resumes before the amplifier is muted")
    func playWhileMuting() throws {
        try fixture.start("[audio]\nnormalization = off", board: Self.slowAmplifier)
        let products = try tracks.make("a", frames: 9000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.waitForSound()
        // Safe: written on the engine's thread before the answer that is waited for, and read after it.
        nonisolated(unsafe) var isReported = false
        fixture.perform {
            $0.focus.set(.none)
            $0.focus.whenCarriedOut { isReported = true }
            $0.focus.set(.full)
        }
        // A later request is answered later.
        fixture.waitForFocus()
        #expect(fixture.perform { _ in isReported })
        fixture.end()
    }

    @Test(
        "The conditions of the lights",
        arguments: [
            (QueuePlayback.playing, [], [LightCondition.playing]), (.paused, [], [.paused]),
            (.stopped, [], [.paused]),
            (.stalled, ["device"], [.stalled]), (.playing, ["storage"], [.playing, .error]),
        ] as [(QueuePlayback, [String], [LightCondition])])
    func conditions(playback: QueuePlayback, problems: [String], expected: [LightCondition]) {
        var status = DaemonStatus()
        status.playback = playback
        status.problems = problems.map { DaemonProblem(subject: $0, message: "") }
        for link in [nil, Link(.wifi), Link(.ethernet), Link(.cellular)] as [Link?] {
            status.link = link
            #expect(BoardPanel.conditions(of: status) == Set(expected))
        }
        status.link = .offline
        #expect(BoardPanel.conditions(of: status) == Set(expected + [.offline]))
    }
}
