import Foundation
import Platform
import ProgramTestSupport
import TestSupport
import Testing

/// Daemons with one subscription, and the origin (docs/playback.md, 20).
@Suite("One listener at a time")
struct OneListenerTests {
    private static let song = "tonearm:track/1"

    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        try Music(frames: 44_100 * 60, seed: 1).writeFLAC(to: folder["music/1.flac"], ["--tag=TITLE=Song"])
    }

    private func origin(_ options: String...) throws -> RunningOrigin {
        try RunningOrigin(folder["music"], state: folder["state"], options: ["--sessions", "1"] + options)
    }

    @Test("The speaker whose play was pressed last plays, and each sees the other's name; copies and files play on")
    func takeOver() throws {
        let origin = try origin()
        let (kitchen, study) = (try Speaker("Kitchen", origin.address), try Speaker("Study", origin.address))
        try kitchen.play(Self.song)
        try study.play(Self.song)
        try kitchen.waitFor("paused")
        try kitchen.waitForProblem("Study plays with the same subscription")
        #expect(try study.problem() == nil)

        // The product stays, and play takes it back.
        try kitchen.command("play")
        try study.waitFor("paused")
        try study.waitForProblem("Kitchen plays with the same subscription")
        try kitchen.waitFor("playing")
        try kitchen.waitForNoProblem()

        // A speaker with an offline copy neither disturbs the others, nor is it disturbed.
        let third = try Speaker("Bath", origin.address)
        try third.keep(Self.song)
        try third.play(Self.song)
        #expect(try kitchen.state() == "playing")
        try study.command("play")
        try kitchen.waitFor("paused")
        #expect(try third.state() == "playing" && third.problem() == nil)

        for speaker in [kitchen, study, third] { try speaker.end() }
        try origin.end()
    }

    @Test("After the service was away, the speaker whose play was pressed last plays on")
    func serviceAway() throws {
        let first = try origin()
        let port = try #require(first.address.split(separator: ":").last.map(String.init))
        let (kitchen, study) = (try Speaker("Kitchen", first.address), try Speaker("Study", first.address))
        try kitchen.play(Self.song)
        try study.play(Self.song)
        try kitchen.waitFor("paused")
        try first.end()
        // Nothing revokes the earlier one now. It stalls once it has played what has arrived.
        try kitchen.command("play")
        try kitchen.waitFor("playing", "stalled")
        let second = try origin("--port", port)
        try study.waitFor("paused")
        try kitchen.waitFor("playing")
        try kitchen.waitForNoProblem()
        for speaker in [kitchen, study] { try speaker.end() }
        try second.end()
    }
}

/// A daemon that plays at about the speed of music, into a pipe that the test reads.
private final class Speaker {
    private let name: String
    private let daemon: RunningDaemon
    private let listener: PipeListener

    init(_ name: String, _ address: String) throws {
        self.name = name
        let program = try Program()
        guard mkfifo(program.folder["pipe"], 0o600) == 0 else { throw Unexpected("no pipe") }
        listener = try PipeListener(program.folder["pipe"])
        daemon = try RunningDaemon(
            device: "file:FILE=\(program.folder["pipe"]),FORMAT=raw",
            settings: "[service]\nurl = \(address)\nclient = \(name)\n[offline]\nfree-space = 0\n", in: program)
    }

    func command(_ words: String...) throws {
        let answer = try daemon.run(words)
        #expect(answer.code == 0, "\(answer.errors)")
    }

    func play(_ product: String) throws {
        try command("queue", "set", "--play", product)
        try waitFor("playing")
    }

    func keep(_ product: String) throws {
        try command("offline", "add", product)
        #expect(try daemon.run("offline", "status", "--watch", "--json").code == 0)
    }

    private func status() throws -> JSONValue { try #require(try daemon.run("status", "--json").json().first) }

    func state() throws -> String? { try status()["state"]?.string }

    func problem() throws -> String? {
        try status()["problems"]?.elements?.first { $0["subject"]?.string == "privileges" }?["message"]?.string
    }

    func waitFor(_ states: String...) throws {
        let wanted = states.joined(separator: " or ")
        var last: String?
        try waitUntil("the state of \(name) is \(wanted)", log: "it is \(last ?? "unknown")") {
            last = try state()
            return states.contains { $0 == last }
        }
    }

    func waitForProblem(_ text: String) throws {
        try waitUntil("the problem: \(text)") { try problem()?.contains(text) == true }
    }

    func waitForNoProblem() throws { try waitUntil("the problem has ended") { try problem() == nil } }

    func end() throws {
        _ = try daemon.end()
        listener.end()
    }
}

/// Reads a pipe at about the speed of music, so that a song takes its time.
private final class PipeListener: Sendable {
    /// The bytes of 50 ms of stereo at 44.1 kHz and 32 bits.
    private static let piece = 17_640

    private let cancellation: Cancellation
    private let thread: NamedThread

    init(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Unexpected("\(path) cannot be opened") }
        cancellation = try Cancellation()
        thread = try NamedThread.start(name: "listener") { [cancellation] in
            var buffer = [UInt8](repeating: 0, count: Self.piece)
            while !cancellation.wait(milliseconds: 50) { _ = read(descriptor, &buffer, buffer.count) }
            close(descriptor)
        }
    }

    func end() {
        cancellation.cancel()
        thread.join()
    }
}
