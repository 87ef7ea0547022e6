import CLinux
import Foundation
import Media
import Testing
import ProgramTestSupport

@Suite("tonearm play on a terminal")
struct TerminalTests {
    private let program: Program
    private let device: PacedDevice

    init() throws {
        program = try Program()
        device = try PacedDevice(program.folder["pipe"])
        try Recording(frames: 40 * Recording.rate).encode(
            to: program.folder["1.flac"], tags: ["TITLE=Prelude \u{1B}[31m東京", "ARTIST=Ensemble"])
        try Recording(frames: 30 * Recording.rate).encode(to: program.folder["2.flac"], tags: ["TITLE=Fugue"])
    }

    private func start(_ paths: String...) throws -> PseudoTerminal {
        try PseudoTerminal(program, ["play"] + program.device("pipe") + paths)
    }

    /// The position that a line shows, in seconds.
    private func position(_ line: String) -> Int? {
        guard let found = line.firstMatch(of: /(\d+):(\d\d)\/\d+:\d\d/), let minutes = Int(found.1),
            let seconds = Int(found.2)
        else { return nil }
        return minutes * 60 + seconds
    }

    @Test("one line shows the track; tags cannot control the terminal")
    func line() throws {
        let terminal = try start("1.flac")
        device.play(seconds: 3)
        // The position may be heard before the status line shows that it plays.
        try terminal.waitForLine {
            (position($0) ?? 0) >= 1 && $0.contains("/0:40  [") && $0.hasSuffix("FORMAT=raw, bit-perfect")
        }
        #expect(terminal.shownLine.hasPrefix("Prelude  [31m東京 – Ensemble  0:0"))
        #expect(
            terminal.shownLine.hasSuffix(
                "44100 Hz 16 bit stereo → S16_LE file:FILE=\(program.folder["pipe"]),FORMAT=raw, bit-perfect"))
        #expect(!terminal.text.contains("\n"))
        terminal.type("q")
        device.playAll()
        #expect(try terminal.finish() == 0)
    }

    @Test("every key works as the help says, without Enter")
    func keys() throws {
        let terminal = try start("1.flac", "2.flac")
        device.play(seconds: 2)
        try terminal.waitForLine { (position($0) ?? 0) >= 1 }
        terminal.type(" ")
        try terminal.waitForLine { $0.contains(" paused") }
        terminal.type("\u{1B}[C")
        try terminal.waitForLine { (position($0) ?? 0) >= 11 }
        let forward = try #require(position(terminal.shownLine))
        terminal.type("\u{1B}[D")
        try terminal.waitForLine { position($0) == forward - 10 }
        terminal.type("\u{1B}[B")
        try terminal.waitForLine { $0.contains(" vol 95%") }
        terminal.type("\u{1B}[1;2D")
        try terminal.waitForLine { $0.contains(" vol 90%") }
        terminal.type("\u{1B}[A\u{1B}[A")
        try terminal.waitForLine { $0.contains("/0:40 paused  [") }
        terminal.type(" ")
        device.play(seconds: 2)
        try terminal.waitForLine { $0.contains("/0:40  [") }

        // The position of the heard frames is shown before the device gets room: only then it gets more.
        terminal.type("n")
        try terminal.waitForLine { $0.hasPrefix("Fugue") }
        device.play(seconds: 1)
        try terminal.waitForLine { $0.contains("/0:30  [") }
        terminal.type("p")
        try terminal.waitForLine { $0.hasPrefix("Prelude") }
        terminal.type("n")
        try terminal.waitForLine { $0.hasPrefix("Fugue") }
        device.play(seconds: 5)
        try terminal.waitForLine { (position($0) ?? 0) >= 4 }
        terminal.type("b")
        try terminal.waitForLine { $0.hasPrefix("Fugue") && (position($0) ?? 9) <= 3 }
        terminal.type("q")
        device.playAll()
        #expect(try terminal.finish() == 0)
    }

    @Test("the terminal is restored", arguments: ["q", "\u{3}"])
    func restored(key: String) throws {
        let terminal = try start("1.flac")
        let before = terminal.settings
        device.play(seconds: 1)
        try terminal.waitForLine { $0.contains("0:40") }
        #expect(terminal.settings != before)
        terminal.type(key)
        device.playAll()
        _ = try terminal.finish()
        #expect(terminal.settings == before)
        #expect(terminal.text.last != "\n")
        try terminal.waitForText { $0.hasSuffix("\r\n") }
    }

    @Test("a complaint goes above the line, which stays")
    func complaint() throws {
        try program.write([0xFF, 0xD8, 0xFF, 0xE0] + Array("..JFIF".utf8), to: "holiday.flac")
        let terminal = try start("holiday.flac", "1.flac")
        device.play(seconds: 2)
        try terminal.waitForLine { $0.hasPrefix("Prelude") }
        #expect(
            terminal.text.contains(
                "tonearm: holiday.flac: not audio (looks like JPEG). Supported: \(AudioFormats.supported).\r\n"))
        terminal.type("q")
        device.playAll()
        #expect(try terminal.finish() == 1)
    }

    @Test(
        "a trap, an abort or a fault leaves the terminal as it was",
        arguments: [SIGABRT, SIGILL, SIGTRAP, SIGSEGV, SIGBUS])
    func crash(signal: Int32) throws {
        let terminal = try start("1.flac")
        let before = terminal.settings
        device.play(seconds: 2)
        try terminal.waitForLine { (position($0) ?? 0) >= 1 }
        #expect(terminal.settings != before)
        try terminal.send(signal)
        #expect(try terminal.finish() != 0)
        #expect(terminal.settings == before)
    }
}
