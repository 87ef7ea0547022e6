import Foundation
import Platform
import Testing
import ProgramTestSupport
@testable import tonearm

@Suite("tonearm")
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

    @Test(
        "help fits a terminal",
        arguments: [HelpText.program, HelpText.play, HelpText.devices, HelpText.probe, HelpText.loudness])
    func helpWidth(text: String) {
        #expect(text.split(separator: "\n").allSatisfy { DisplayText.columns(String($0)) <= 120 })
    }

    @Test(
        "the message for a wrong command line says what to write, on stderr",
        arguments: [
            (
                [],
                "no command. Commands: run, play, login, logout, search, devices, probe, loudness, board, update, "
                    + "status, queue, playlist, library, offline, events, focus, wifi, config, pause, toggle, stop, "
                    + "next, previous, seek, volume, volume-up, volume-down, mute, shuffle, repeat, "
                    + "network-restart, restart, power-off. See `tonearm --help`."
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
            (
                ["loudness"],
                "nothing to measure. Name files or folders: `tonearm loudness FOLDER`. See `tonearm loudness --help`."
            ),
            (["loudness", "--socket", "s", "a"], "--socket needs --daemon. See `tonearm loudness --help`."),
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
        ["loudness", "a.flac"], ["probe", "a.flac"], ["probe", "--json", "a.flac"],
        ["play", "--json", "--device", "null", "a.flac"],
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
                "title", "artist", "album", "albumArtist", "track", "trackTotal", "disc", "discTotal", "date", "genres",
                "composers", "musicBrainz", "trackGain", "trackPeak", "albumGain", "albumPeak", "pictures",
                "coverFile",
            ])
        #expect(value["frames"] == 66150 && value["duration"] == 1.5 && value["title"] == "One\u{1B}[2J")
        #expect(value["trackGain"] == -6.25 && value["trackPeak"] == 0.5 && value["albumGain"] == JSONValue.null)
    }

    @Test("probe shows all tags, the places of pictures, and the picture beside the file")
    func probeTags() throws {
        let id = "5b11f4ce-a62d-471e-81fc-a69a8278c7d"
        let cover = Data([0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 7, count: 96))
        try cover.write(to: URL(fileURLWithPath: program.folder["Cover.jpg"]))
        var block = Data([0, 0, 0, 3, 0, 0, 0, 10]) + Data("image/jpeg".utf8) + Data(count: 20)
        block += Data([0, 0, 0, 100]) + cover
        try Recording(frames: 4_410).encode(
            to: program.folder["a.flac"],
            tags: [
                "ALBUMARTIST=All", "TRACKNUMBER=3/12", "DISCNUMBER=1", "DISCTOTAL=2", "DATE=2004-5-3", "GENRE=17",
                "GENRE=Own", "COMPOSER=C", "COMPOSER=D", "MUSICBRAINZ_TRACKID=\(id)0", "MUSICBRAINZ_ALBUMID=\(id)1",
                "MUSICBRAINZ_RELEASEGROUPID=\(id)2", "MUSICBRAINZ_ARTISTID=\(id)3", "MUSICBRAINZ_ARTISTID=\(id)4",
                "MUSICBRAINZ_ALBUMARTISTID=\(id)5", "METADATA_BLOCK_PICTURE=\(block.base64EncodedString())",
            ])
        let value = try #require(try program.run("probe", "--json", "a.flac").json().first)
        let picture = try #require(value["pictures"]?.elements?.first)
        let offset = try #require(picture["offset"]?.integer)
        #expect(
            Array(try program.run("probe", "a.flac").lines.dropFirst(6)) == [
                "  album artist All", "  track        3 of 12", "  disc         1 of 2", "  date         2004-05-03",
                "  genre        Rock, Own", "  composer     C, D", "  MusicBrainz  recording \(id)0",
                "  MusicBrainz  release \(id)1", "  MusicBrainz  release group \(id)2",
                "  MusicBrainz  artist \(id)3, \(id)4", "  MusicBrainz  album artist \(id)5",
                "  picture      136 bytes at \(offset), image/jpeg, frontCover, base64", "  cover file   ./Cover.jpg",
            ])
        #expect(value["albumArtist"] == "All" && value["track"] == 3 && value["trackTotal"] == 12)
        #expect(value["disc"] == 1 && value["discTotal"] == 2 && value["date"] == "2004-05-03")
        #expect(value["genres"] == ["Rock", "Own"] && value["composers"] == ["C", "D"])
        #expect(
            value["musicBrainz"] == [
                "recording": .string(id + "0"), "release": .string(id + "1"), "releaseGroup": .string(id + "2"),
                "artists": [.string(id + "3"), .string(id + "4")], "albumArtists": [.string(id + "5")],
            ])
        #expect(
            picture == [
                "offset": .integer(offset), "length": 136, "mediaType": "image/jpeg", "kind": "frontCover",
                "encoding": "base64", "dropped": 0, "page": .null,
            ])
        #expect(value["coverFile"] == "./Cover.jpg")
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
