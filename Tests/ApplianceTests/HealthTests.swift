import Foundation
import Output
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Player

@Suite("Health")
struct HealthTests {
    private struct Look {
        var state: PlaybackState
        var reference: String? = "1.1"
        var position: Double? = 0
        var waits = false
        var answers = true
    }

    @Test("A player is healthy while its threads answer and its clock advances during playback")
    func table() {
        let looks: [(Look, Bool)] = [
            (Look(state: .idle, reference: nil, position: nil), true),
            (Look(state: .idle, reference: nil, position: nil), true),
            (Look(state: .playing, position: 1), true), (Look(state: .playing, position: 2), true),
            // It stands still.
            (Look(state: .playing, position: 2), false), (Look(state: .playing, position: 2), false),
            // Another track, or a pause, is a new beginning.
            (Look(state: .playing, reference: "2.2", position: 2), true), (Look(state: .notPlaying, position: 2), true),
            (Look(state: .notPlaying, position: 2), true), (Look(state: .playing, position: 2), true),
            // A card that was pulled out is looked for.
            (Look(state: .stalled, position: 2, waits: true), true),
            (Look(state: .stalled, position: 2, waits: true), true),
            // A file that takes minutes to open, or to read on.
            (Look(state: .stalled, position: 2), true), (Look(state: .stalled, position: 2), true),
            (Look(state: .stalled, position: 2), true),
            // Its threads must answer in every state.
            (Look(state: .idle, answers: false), false), (Look(state: .notPlaying, answers: false), false),
            (Look(state: .stalled, waits: true, answers: false), false),
            (Look(state: .playing, position: 9, answers: false), false),
            (Look(state: .playing, position: 9), true),
        ]
        var check = HealthCheck()
        for (index, (look, isHealthy)) in looks.enumerated() {
            let answer = check.isHealthy(
                look.state, loopsAnswer: look.answers, referenceId: look.reference, position: look.position,
                waitsForDevice: look.waits)
            #expect(answer == isHealthy, "look \(index)")
        }
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
            // The answer to the last look's question comes before that to this one.
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
        // The card plays no more.
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
        in folder: ScratchFolder
    ) throws -> (fixture: DaemonFixture, watchdog: Watchdog, alive: (_ seconds: Int64) -> Int) {
        let socket = Datagrams(path: folder["notify"])
        let variables = ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "12000000"]
        let supervisor = try #require(ServiceSupervisor(environment: { variables[$0] }))
        let fixture = DaemonFixture(folder: folder["state"])
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
        fixture.perform { $0.commands.perform(.pause) }
        #expect(fixture.status.playback == .paused)
        fixture.perform { _ in watchdog.start() }
        #expect(alive(0) == 1)
        // An engine at rest is asked at every third look; that question stays open.
        for _ in 0..<2 { #expect(alive(4) == 1) }
        #expect(alive(4) == 0)
        #expect(alive(4) == 0)
        fixture.card.letOpen()
        // The answer to the open question comes before that to this one.
        fixture.waitForFocus()
        fixture.perform { _ in }
        #expect(alive(4) == 1)
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
            isReleased.wait()
        }
        isStuck.wait()
        // An engine at rest is asked at every third look; that question stays open.
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
