import ApplianceTestSupport
import Foundation
import Output
import Platform
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import Playback
@testable import Player

@Suite("Health")
struct HealthTests {
    @Test("A player is healthy while its threads answer and its clock advances during playback")
    func table() {
        let looks: [(HealthCheck.Observation, HealthCheck.Finding)] = [
            (look(.idle, nil, at: nil), .healthy), (look(.idle, nil, at: nil), .healthy),
            (look(.playing, at: 1), .healthy), (look(.playing, at: 2), .healthy),
            // The clock has stopped.
            (look(.playing, at: 2), .clockStands), (look(.playing, at: 2), .clockStands),
            // Another track, or a pause, resets the check.
            (look(.playing, "2.2", at: 2), .healthy), (look(.notPlaying, at: 2), .healthy),
            (look(.notPlaying, at: 2), .healthy), (look(.playing, at: 2), .healthy),
            // A card that was pulled out is looked for.
            (look(.stalled, at: 2, waits: true), .healthy), (look(.stalled, at: 2, waits: true), .healthy),
            // A file that takes minutes to open, or to read on.
            (look(.stalled, at: 2), .healthy), (look(.stalled, at: 2), .healthy), (look(.stalled, at: 2), .healthy),
            // Its threads must answer in every state.
            (look(.idle, answers: false), .loopsHang), (look(.notPlaying, answers: false), .loopsHang),
            (look(.stalled, waits: true, answers: false), .loopsHang),
            (look(.playing, at: 9, answers: false), .loopsHang),
            (look(.playing, at: 9), .healthy),
        ]
        var check = HealthCheck()
        for (index, (look, finding)) in looks.enumerated() { #expect(check.look(look) == finding, "look \(index)") }
    }

    @Test("A decoder thread that works must give a sign of life within a minute, in every state")
    func decoder() {
        let looks: [(HealthCheck.Observation, HealthCheck.Finding)] = [
            (look(.stalled, beat: 1, seconds: 0), .healthy), (look(.stalled, beat: 1, seconds: 59), .healthy),
            (look(.stalled, beat: 1, seconds: 60), .decoderHangs),
            (look(.stalled, beat: 1, seconds: 300), .decoderHangs),
            // The decoder makes progress.
            (look(.stalled, beat: 2, seconds: 310), .healthy), (look(.stalled, beat: 2, seconds: 369), .healthy),
            // It may wait for its medium, or have nothing to do, for any time.
            (look(.stalled, beat: nil, seconds: 370), .healthy), (look(.stalled, beat: nil, seconds: 9000), .healthy),
            (look(.stalled, beat: 2, seconds: 9001), .healthy), (look(.stalled, beat: 2, seconds: 9060), .healthy),
            // Also while no frame is to be heard, while a card is looked for, and while decoded frames play.
            (look(.notPlaying, beat: 2, seconds: 9061), .decoderHangs),
            (look(.stalled, waits: true, beat: 2, seconds: 9062), .decoderHangs),
            (look(.playing, at: 1, beat: 2, seconds: 9063), .decoderHangs),
            (look(.playing, at: 2, beat: 3, seconds: 9064), .healthy),
            // A hang on a lower level is reported first.
            (look(.playing, at: 2, beat: 3, seconds: 9200), .clockStands),
            (look(.playing, at: 2, answers: false, beat: 3, seconds: 9201), .loopsHang),
        ]
        var check = HealthCheck()
        for (index, (look, finding)) in looks.enumerated() { #expect(check.look(look) == finding, "look \(index)") }
    }

    private func look(
        _ state: PlaybackState, _ reference: String? = "1.1", at position: Double? = 0, waits: Bool = false,
        answers: Bool = true, beat: UInt32? = nil, seconds: Int64 = 0
    ) -> HealthCheck.Observation {
        HealthCheck.Observation(
            state: state, loopsAnswer: answers, referenceId: reference, position: position, waitsForDevice: waits,
            decoderBeat: beat, time: seconds * 1_000_000_000)
    }

    @Test("The supervisor hears of the start, the state and the end, and of life only while there is any")
    func watchdog() throws {
        let (tracks, folder) = (try Tracks(), try ScratchFolder())
        let socket = Datagrams(path: folder["notify"])
        let variables = ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "12000000"]
        let supervisor = try #require(ServiceSupervisor(environment: { variables[$0] }))
        let fixture = DaemonFixture(folder: folder["state"])
        try fixture.start("[audio]\nnormalization = off")
        let watchdog = fixture.perform { Watchdog(supervisor, $0, clock: fixture.clock) }
        func alive(after seconds: Int64) -> Int {
            // The answer to the last check's question comes before the answer to this one.
            fixture.waitForFocus()
            fixture.perform { _ in }
            fixture.pass(seconds: seconds)
            return socket.arrived().filter { $0 == "WATCHDOG=1" }.count
        }
        fixture.perform { _ in watchdog.start() }
        #expect(socket.arrived() == ["READY=1", "STATUS=stopped", "WATCHDOG=1"])
        #expect(alive(after: 4) == 1)
        let products = try tracks.make("ab", frames: 20_000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.waitForSound()
        #expect(socket.arrived().contains { $0.hasPrefix("STATUS=playing: ") && $0.hasSuffix(" (1 of 2)") })
        #expect(alive(after: 4) == 1)
        fixture.play(500)
        #expect(alive(after: 3) == 1)
        // The card has stopped playing.
        #expect(alive(after: 3) == 0)
        #expect(alive(after: 3) == 0)
        fixture.play(100)
        #expect(alive(after: 3) == 1)
        fixture.perform { $0.commands.perform(.pause) }
        fixture.wait("a pause") { $0.playback == .paused }
        fixture.settle()
        #expect(alive(after: 3) == 1)
        #expect(alive(after: 4) == 1)
        fixture.perform { _ in watchdog.stop() }
        #expect(socket.arrived().last == "STOPPING=1")
        #expect(alive(after: 100) == 0)
        fixture.end()
    }

    /// A daemon with a watchdog of 12 s that has not started, and how often it reports as healthy in so many seconds.
    private func supervised(
        in folder: ScratchFolder, openFile: LocalFiles.Opening? = nil
    ) throws -> (fixture: DaemonFixture, watchdog: Watchdog, alive: (_ seconds: Int64) -> Int) {
        let socket = Datagrams(path: folder["notify"])
        let variables = ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "12000000"]
        let supervisor = try #require(ServiceSupervisor(environment: { variables[$0] }))
        let fixture = DaemonFixture(folder: folder["state"])
        fixture.openFile = openFile
        try fixture.start()
        let watchdog = fixture.perform { Watchdog(supervisor, $0, clock: fixture.clock) }
        return (
            fixture, watchdog,
            { seconds in
                fixture.pass(seconds: seconds)
                return socket.arrived().filter { $0 == "WATCHDOG=1" }.count
            }
        )
    }

    @Test("A player whose audio thread hangs is not healthy, also while nothing plays")
    func hangingAudioThread() throws {
        let (tracks, folder) = (try Tracks(), try ScratchFolder())
        let (fixture, watchdog, alive) = try supervised(in: folder)
        let products = try tracks.make("a", frames: 4000)
        fixture.card.holdOpenings()
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.wait("the file") { $0.context != nil }
        fixture.card.waitUntil("an opening that waits") { $0.isOpening }
        fixture.perform { $0.commands.perform(.pause) }
        #expect(fixture.status.playback == .paused)
        fixture.perform { _ in watchdog.start() }
        #expect(alive(0) == 1)
        // An engine at rest is asked at every third check; that question stays open.
        for _ in 0..<2 { #expect(alive(4) == 1) }
        #expect(alive(4) == 0)
        #expect(alive(4) == 0)
        fixture.card.letOpen()
        // The answer to the open question comes before the answer to this one.
        fixture.waitForFocus()
        fixture.perform { _ in }
        #expect(alive(4) == 1)
        fixture.perform { _ in watchdog.stop() }
        fixture.end()
    }

    @Test("A decoder thread that has its bytes and hangs is not healthy after a minute")
    func hangingDecoder() throws {
        let (tracks, folder) = (try Tracks(), try ScratchFolder())
        let gate = BusyFile.Gate()
        let (fixture, watchdog, alive) = try supervised(in: folder, openFile: gate.opening)
        let products = try tracks.make("a", frames: 20_000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        gate.waitForDecoder()
        fixture.wait("a stall") { $0.playback == .stalled }
        func answered() {
            fixture.waitForFocus()
            fixture.perform { _ in }
        }
        fixture.perform { _ in watchdog.start() }
        #expect(alive(0) == 1)
        // It checks every 3 s.
        for _ in 0..<19 {
            answered()
            #expect(alive(3) == 1)
        }
        for _ in 0..<2 {
            answered()
            #expect(alive(3) == 0)
        }
        gate.open()
        fixture.waitForSound()
        answered()
        #expect(alive(3) == 1)
        fixture.perform { _ in watchdog.stop() }
        fixture.end()
    }

    @Test("A player whose control thread hangs is not healthy, also while nothing plays")
    func hangingThread() throws {
        let folder = try ScratchFolder()
        let (fixture, watchdog, alive) = try supervised(in: folder)
        fixture.perform { _ in watchdog.start() }
        fixture.waitForFocus()
        #expect(alive(0) == 1)
        let isReleased = DispatchSemaphore(value: 0)
        let isStuck = DispatchSemaphore(value: 0)
        fixture.player.loop.post {
            isStuck.signal()
            isReleased.waitInTime()
        }
        try isStuck.wait(for: "the player's thread")
        // An engine at rest is asked at every third check; that question stays open.
        for _ in 0..<2 { #expect(alive(4) == 1) }
        #expect(alive(4) == 0)
        #expect(alive(4) == 0)
        isReleased.signal()
        fixture.waitForFocus()
        fixture.perform { _ in }
        #expect(alive(4) == 1)
        fixture.perform { _ in watchdog.stop() }
        fixture.end()
    }
}
