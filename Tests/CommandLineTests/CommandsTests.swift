import Foundation
import Platform
import Testing
import ProgramTestSupport
@testable import tonearm

@Suite("tonearm", .timeLimit(.minutes(10)))
struct CommandsTests {
    private let program: Program

    init() throws { program = try Program() }

    @Test(
        "help and version are results: on stdout, and nothing is wrong",
        arguments: [
            (["--help"], "tonearm plays music files"), (["-h"], "tonearm plays music files"),
            (["play", "--help"], "Usage: tonearm play"), (["play", "--volume", "999", "-h"], "Usage: tonearm play"),
            (["devices", "--help"], "Usage: tonearm devices"), (["probe", "--help"], "Usage: tonearm probe"),
            (["help", "probe"], "Usage: tonearm probe"), (["--help", "queue"], "Usage: tonearm queue"),
            (["help"], "tonearm plays music files"), (["help", "seek"], "Usage: tonearm play|pause"),
            (["--help", "--version"], "tonearm plays music files"), (["help", "help"], "tonearm plays music files"),
            (["--version"], "tonearm \(tonearmVersion)\nLicense: \(tonearmLicense)\n"),
        ])
    func help(words: [String], beginning: String) throws {
        let result = try program.start(words).finish()
        #expect(result.code == 0)
        #expect(result.output.hasPrefix(beginning))
        #expect(result.errors == "")
    }

    @Test("help fits a terminal", arguments: [HelpText.program, HelpText.play, HelpText.devices, HelpText.probe])
    func helpWidth(text: String) {
        #expect(text.split(separator: "\n").allSatisfy { DisplayText.columns(String($0)) <= 120 })
    }

    @Test(
        "the message for a wrong command line says what to write, on stderr",
        arguments: [
            (
                [],
                "no command. Commands: run, play, login, logout, search, devices, probe, board, update, status, "
                    + "queue, offline, focus, config, pause, toggle, stop, next, previous, seek, volume, volume-up, "
                    + "volume-down, mute, shuffle, repeat, "
                    + "network-restart, power-off. See `tonearm --help`."
            ),
            (["plya", "x"], "plya: no such command. Did you mean play? See `tonearm --help`."),
            (["help", "plya"], "plya: no such command. Did you mean play? See `tonearm --help`."),
            (["help", "frob"], "frob: no such command. Did you mean probe? See `tonearm --help`."),
            (["--versoin"], "unknown option --versoin. Did you mean --version? See `tonearm --help`."),
            (["/tmp"], "/tmp: no command. To play it: `tonearm play /tmp`. See `tonearm --help`."),
            (
                ["play", "--volume", "40"],
                "nothing to play. Name files or folders: `tonearm play FOLDER`. See `tonearm play --help`."
            ),
            (["play", "--lopp", "x"], "unknown option --lopp. See `tonearm play --help`."),
            (
                ["play", "--volume", "110", "x"],
                "--volume 110: must be a whole number of percent from 0 to 100. See `tonearm play --help`."
            ),
            (["devices", "hw:0"], "devices takes no hw:0. See `tonearm devices --help`."),
            (["probe"], "nothing to look at. Name files or folders: `tonearm probe FILE`. See `tonearm probe --help`."),
        ])
    func usage(words: [String], message: String) throws {
        let result = try program.start(words).finish()
        #expect(result.code == 2)
        #expect(result.output == "")
        #expect(result.errors == "tonearm: \(message)\n")
    }

    static let talkative = [
        ["--help"], ["--version"], ["help", "queue"], ["devices"], ["config", "example"],
        ["config", "show", "--config", "c"],
        ["probe", "a.flac"], ["probe", "--json", "a.flac"], ["play", "--json", "--device", "null", "a.flac"],
    ]

    @Test("output that cannot be written is an error", arguments: talkative)
    func fullOutput(words: [String]) throws {
        try Recording(frames: 1_000).encode(to: program.folder["a.flac"])
        try program.write([], to: "c")
        let result = try program.start(words, output: FileHandle(forWritingAtPath: "/dev/full")).finish()
        #expect(
            result.code == 1 && result.errors == "tonearm: the output cannot be written: No space left on device\n",
            "\(result)")
    }

    @Test("a reader that has closed the pipe gets no message", arguments: talkative)
    func closedOutput(words: [String]) throws {
        try Recording(frames: 1_000).encode(to: program.folder["a.flac"])
        try program.write([], to: "c")
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let result = try program.start(words, output: pipe.fileHandleForWriting).finish()
        #expect(result.code != 0 && result.errors == "", "\(result)")
    }

    @Test("devices: the cards, or what to do without a card")
    func devices() throws {
        let result = try program.run("devices")
        #expect(result.code == 0)
        #expect(result.errors == "")
        let listing = try program.run("devices", "--json")
        #expect(listing.code == 0)
        let cards = try listing.json()
        if cards.isEmpty {
            #expect(result.output.hasPrefix("No sound card here.") && result.output.contains("--device file:FILE="))
        } else {
            for card in cards { #expect(result.output.contains("hw:CARD=\(card["id"]?.string ?? "?")")) }
        }
    }

    @Test("probe prints the properties of a file")
    func probe() throws {
        try Recording(frames: 66_150).encode(
            to: program.folder["a.flac"],
            tags: [
                "TITLE=One\u{1B}[2J", "ARTIST=東京", "ALBUM=All", "TRACKNUMBER=3", "DISCNUMBER=2",
                "REPLAYGAIN_TRACK_GAIN=-6.25 dB", "REPLAYGAIN_TRACK_PEAK=0.5",
            ])
        let result = try program.run("probe", "a.flac")
        #expect(result.code == 0)
        var lines = result.lines
        let rate = lines.remove(at: 5)
        #expect(rate.hasPrefix("  bit rate     ") && rate.hasSuffix(" kbit/s"))
        #expect(
            lines == [
                "a.flac", "  container    flac", "  codec        flac", "  format       44100 Hz, 16 bit, stereo",
                "  length       0:01.500 (66150 frames)", "  title        One [2J", "  artist       東京",
                "  album        All", "  track        3", "  disc         2", "  track gain   -6.25 dB, peak 0.500000",
            ])
        let value = try #require(try program.run("probe", "--json", "a.flac").json().first)
        #expect(
            value.members?.map(\.name) == [
                "file", "container", "codec", "sampleRate", "bitDepth", "channels", "frames", "duration", "bitRate",
                "title",
                "artist", "album", "track", "disc", "trackGain", "trackPeak", "albumGain", "albumPeak",
                "picture",
            ])
        #expect(value["frames"] == 66150 && value["duration"] == 1.5 && value["title"] == "One\u{1B}[2J")
        #expect(value["trackGain"] == -6.25 && value["trackPeak"] == 0.5 && value["albumGain"] == JSONValue.null)
    }

    @Test("an MP3 is found in a folder, probed and played")
    func mp3() throws {
        let path = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../tools/fuzz/corpus/mp3/tagged")
        try FileManager.default.copyItem(at: path.standardized, to: URL(fileURLWithPath: program.folder["a.mp3"]))
        let value = try #require(try program.run("probe", "--json", program.folder.path).json().first)
        #expect(value["container"] == "mp3" && value["codec"] == "mp3" && value["title"] == "T" && value["track"] == 1)
        let result = try program.run("play", "--device", "null", program.folder.path)
        #expect(result.code == 0, "\(result)")
    }

    @Test("Ogg is found in a folder, probed and played", arguments: ["vorbis", "opus", "flac"])
    func ogg(codec: String) throws {
        let path = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../tools/fuzz/corpus/ogg/\(codec)")
        try FileManager.default.copyItem(at: path.standardized, to: URL(fileURLWithPath: program.folder["a.oga"]))
        let value = try #require(try program.run("probe", "--json", program.folder.path).json().first)
        #expect(value["container"] == "ogg" && value["codec"] == .string(codec) && value["title"] == "T")
        let result = try program.run("play", "--device", "null", program.folder.path)
        #expect(result.code == 0, "\(result)")
    }

    @Test("WavPack is found in a folder, probed and played", arguments: [("stereo-16-bit", ""), ("hybrid", "-lossy")])
    func wavPack(name: String, suffix: String) throws {
        let path = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../tools/fuzz/corpus/wavpack/\(name)")
        try FileManager.default.copyItem(at: path.standardized, to: URL(fileURLWithPath: program.folder["a.wv"]))
        let value = try #require(try program.run("probe", "--json", program.folder.path).json().first)
        #expect(value["container"] == "wavpack" && value["codec"] == .string("wavpack" + suffix))
        let result = try program.run("play", "--device", "null", program.folder.path)
        #expect(result.code == 0, "\(result)")
    }

    @Test("DSD is found in a folder, probed and played", arguments: ["dsf/mono", "dff/stereo"])
    func dsd(name: String) throws {
        let container = String(name.prefix(3))
        let path = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../tools/fuzz/corpus/\(name)")
        let target = URL(fileURLWithPath: program.folder["a.\(container)"])
        try FileManager.default.copyItem(at: path.standardized, to: target)
        let value = try #require(try program.run("probe", "--json", program.folder.path).json().first)
        #expect(value["container"] == .string(container) && value["codec"] == "dsd" && value["title"] == "ab")
        let result = try program.run("play", "--device", "null", program.folder.path)
        #expect(result.code == 0, "\(result)")
    }

    @Test("probe reports a file that it cannot read, and continues")
    func probeFailures() throws {
        try Recording(frames: 1_000).encode(to: program.folder["a.flac"])
        try program.write(Array("just some words".utf8), to: "b.flac")
        let result = try program.run("probe", "--json", "missing", "b.flac", "a.flac")
        #expect(result.code == 1)
        #expect(result.errorLines.map { $0.prefix(24) } == ["tonearm: missing: No suc", "tonearm: b.flac: not aud"])
        let lines = try result.json()
        #expect(lines.map { $0["file"] } == ["missing", "b.flac", "a.flac"])
        #expect(lines.map { $0["code"] } == ["s2", "m1", nil])
    }
}
