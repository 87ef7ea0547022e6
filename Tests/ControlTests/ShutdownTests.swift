import ApplianceTestSupport
import Board
import BoardTestSupport
import Foundation
import Output
import OutputTestSupport
import Platform
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import Control
@testable import Playback
@testable import Player

@Suite("A clean stop")
struct ShutdownTests {
    /// The parts that `tonearm run` ends, in the order that a test chooses.
    private enum Part: CaseIterable { case server, watchdog, daemon }

    /// Everything that `tonearm run` joins together, on a loop that the test stops.
    // @unchecked: nothing changes after `init`; `lines` is used on the loop's thread.
    private final class Appliance: @unchecked Sendable {
        let card = PacedCard()
        let clock = ManualClock(1_000_000_000_000)
        let lines = DrivenLines()
        let loop: EventLoop
        private let player: Player
        private let socket: Datagrams
        private let thread: NamedThread

        init(in folder: ScratchFolder, ending order: [Part]) throws {
            let (card, clock) = (card, clock)
            // Safe: used on the loop's thread alone from here on.
            nonisolated(unsafe) let lines = lines
            let loop = try EventLoop(drivenBy: clock)
            let player = try Player(
                settings: PlayerSettings(output: RendererSettings(device: "paced")), source: LocalFiles(),
                provider: card, clock: ManualClock(), newSessionID: { "session" }, startTimer: { LoopTimer($0) },
                openMixer: { nil })
            let socket = Datagrams(path: folder["notify"])
            let variables = ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "400000"]
            let supervisor = try #require(ServiceSupervisor(environment: { variables[$0] }))
            let text = """
                [board]
                name = test
                chip = c
                [sound]
                card = HiFi
                [button play]
                line = 1
                active = low
                press = toggle
                [button next]
                line = 2
                active = low
                press = next
                [light status]
                line = 3
                playing = slow

                """
            let profile = try BoardProfile(parsing: Array(text.utf8), path: "board.conf")
            let started = DispatchSemaphore(value: 0)
            // Safe: written before `started` is signalled and read after that.
            nonisolated(unsafe) var failure: (any Error)?
            (self.loop, self.player, self.socket) = (loop, player, socket)
            thread = try NamedThread.start(name: "daemon") {
                do {
                    let daemon = Daemon(
                        loop: loop, player: player, configuration: Configuration(),
                        state: try ApplianceState(folder["state"]), defaultDevice: "paced", clock: clock)
                    let server = JSONSocketServer(
                        daemon: daemon, path: folder["control"], mode: 0o660, group: nil, clientLimit: 8, version: "1")
                    let watchdog = Watchdog(supervisor, daemon, clock: clock)
                    // The loop belongs to this thread from its first run on.
                    loop.post {
                        defer { started.signal() }
                        do throws(SocketFileError) { try server.start() } catch {
                            failure = error
                            return loop.stop()
                        }
                        daemon.attach(profile, lines: lines)
                        daemon.start()
                        watchdog.start()
                    }
                    loop.run()
                    for part in order {
                        switch part {
                        case .server: server.stop()
                        case .watchdog: watchdog.stop()
                        case .daemon: daemon.shutDown()
                        }
                    }
                } catch {
                    failure = error
                    started.signal()
                }
            }
            try started.wait(for: "the start of the daemon")
            if let failure {
                join()
                throw failure
            }
        }

        /// Presses a button and releases it.
        func press(line: Int) {
            loop.post { [self] in
                let input = lines.inputs["line \(line) of c"]
                input?.edge(true, at: clock.now())
                input?.edge(false, at: clock.now() + 50_000_000)
            }
        }

        func pass(milliseconds: Int64) {
            clock.advance(by: milliseconds * 1_000_000)
            loop.clockAdvanced()
        }

        func join() {
            thread.joinOrEndRun()
            player.shutDown()
        }
    }

    private static let requests =
        [
            "status", "play", "pause", "toggle", "next", "previous", "stop", "shuffle", "mute", "volume-up",
        ].map { #"{"id":1,"request":"\#($0)"}"# } + [
            #"{"id":1,"request":"focus","level":"none","hold":true}"#,
            #"{"id":1,"request":"focus","level":"full","hold":true}"#,
            #"{"id":1,"request":"seek","offset":3}"#, #"{"id":1,"request":"volume","percent":40}"#,
            #"{"id":1,"request":"repeat","mode":"all"}"#, #"{"id":1,"request":"queue"}"#,
        ]

    @Test("at a random moment under load, in every order of the parts", arguments: 0..<12 as Range<UInt64>)
    func randomMoment(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let (folder, tracks) = (try ScratchFolder(), try Tracks())
        let appliance = try Appliance(in: folder, ending: Part.allCases.shuffled(using: &random))
        appliance.card.playFreely()
        let watchers = try (0..<2).map { _ in try JSONClient(folder["control"]) }
        for watcher in watchers { try watcher.ask("subscribe") }
        let client = try JSONClient(folder["control"])
        let paths = try tracks.make("abc", frames: 60_000).map { #"{"path":"\#($0.productId)"}"# }
        try client.ask("queue-set", #""products":[\#(paths.joined(separator: ","))],"play":true"#)
        for _ in 0..<Int.random(in: 0..<60, using: &random) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: appliance.pass(milliseconds: Int64.random(in: 1..<1500, using: &random))
            case 1: appliance.press(line: Int.random(in: 1...2, using: &random))
            default: try client.send(Self.requests.randomElement(using: &random)! + "\n")
            }
        }
        appliance.loop.stop()
        appliance.join()
        // All clients were disconnected, and the next start finds the state.
        for watcher in watchers { while try watcher.line() != nil {} }
        let state = try ApplianceState(folder["state"])
        let (count, problems) = (state.contents.queue.count, state.problems)
        #expect(count == 3)
        #expect(problems == [])
    }
}
