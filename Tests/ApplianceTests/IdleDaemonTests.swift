import ApplianceTestSupport
import Queue
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import Player

@Suite("An idle daemon sleeps")
struct IdleDaemonTests {
    private enum Command: CaseIterable {
        case set, setPlaying, seek, next, previous, play, pause, stop, clear, wait
    }

    private let tracks: Tracks
    private let folder: ScratchFolder
    private let fixture: DaemonFixture

    init() throws {
        tracks = try Tracks()
        folder = try ScratchFolder()
        fixture = DaemonFixture(folder: folder["state"])
    }

    @Test("A queue that begins less than a second after the start, and is cleared, leaves no timer that runs")
    func cleared() throws {
        try fixture.start()
        let products = try tracks.make("a", frames: 20_000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.waitForSound()
        fixture.perform { $0.queue.seek(to: 0.1) }
        fixture.perform { $0.queue.clear() }
        try expectSleep(after: [.setPlaying, .seek, .clear])
        fixture.end()
    }

    @Test("After any commands it wakes fewer than three times a second", arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) throws {
        var random = SeededRandom(seed)
        try fixture.start()
        let products = try tracks.make("abc", frames: 20_000)
        for _ in 0..<12 {
            let commands = (0..<8).map { _ in Command.allCases.randomElement(using: &random)! }
            for command in commands { try carryOut(command, products) }
            let end = [Command.clear, .pause, .stop].randomElement(using: &random)!
            try carryOut(end, products)
            try expectSleep(after: commands + [end])
        }
        fixture.end()
    }

    private func carryOut(_ command: Command, _ products: [QueuedProduct]) throws {
        switch command {
        case .wait: fixture.pass(milliseconds: 300)
        case .set: try fixture.perform { try $0.queue.set(products, playing: false) }
        case .setPlaying: try fixture.perform { try $0.queue.set(products, playing: true) }
        default:
            fixture.perform { daemon in
                let queue = daemon.queue
                switch command {
                case .seek: queue.seek(to: 0.2)
                case .next: queue.next()
                case .previous: queue.previous()
                case .play: queue.play()
                case .pause: queue.pause()
                case .stop: queue.stop()
                default: queue.clear()
                }
            }
        }
    }

    /// Lets a second pass for the writes that a command still has to do, and then observes ten.
    private func expectSleep(after commands: [Command]) throws {
        fixture.settle()
        fixture.pass(seconds: 2)
        fixture.settle()
        let before = fixture.timerCount
        for _ in 0..<100 { fixture.pass(milliseconds: 100) }
        #expect(fixture.timerCount - before < 30, "after \(commands)")
    }
}
