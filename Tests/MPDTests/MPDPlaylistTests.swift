import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import MPD

@Suite("MPD: playlists of MPD and of the music folders, and values with control characters (docs/mpd.md)")
struct MPDPlaylistTests {
    /// Three tracks, and playlists beside them.
    private func fixture(_ settings: String = "") throws -> (MPDFixture, MPDTestClient) {
        let fixture = try MPDFixture(settings: settings) { music in
            for number in 1...3 {
                try TaggedFLAC.write(to: "\(music)/A/\(number).flac", ["TITLE=\(number)"], frames: 88_200)
            }
            func write(_ text: String, to name: String) throws {
                try text.write(toFile: "\(music)/\(name)", atomically: true, encoding: .utf8)
            }
            try write("2.flac\r\nmissing.flac\r\n1.flac", to: "A/side.m3u")
            try write("[playlist]\nFile1=A/3.flac\n", to: "all.pls")
            let sheet = """
                FILE "3.flac" WAVE
                  TRACK 01 AUDIO
                    INDEX 01 00:00:00
                  TRACK 02 AUDIO
                    INDEX 01 00:01:00
                """
            try write(sheet, to: "A/3.cue")
        }
        let client = try fixture.connect()
        fixture.waitForSongs(4, client)
        return (fixture, client)
    }

    private func queue(_ client: MPDTestClient) throws -> [String] {
        try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") }.map { String($0.dropFirst(6)) }
    }

    @Test("Each playlist that lsinfo lists can be listed and loaded")
    func besideMusic() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let listed = try ["", "A"].flatMap { folder in
            try client.ask("lsinfo \"\(folder)\"").filter { $0.hasPrefix("playlist: ") }.map {
                String($0.dropFirst(10))
            }
        }
        #expect(Set(listed) == ["A/side.m3u", "all.pls", "A/3.cue"])
        let content = [
            "A/side.m3u": ["A/2.flac", "A/1.flac"], "all.pls": ["A/3.flac"],
            "A/3.cue": ["A/3.cue/track0001", "A/3.cue/track0002"],
        ]
        for (name, expected) in content {
            #expect(try client.ask("listplaylist \(name)") == expected.map { "file: \($0)" }, "\(name)")
            #expect(try client.ask("listplaylistinfo \(name)").contains("file: \(expected[0])"))
            #expect(try client.ask("load \(name)") == [], "\(name)")
            #expect(try queue(client) == expected)
            try client.ask("clear")
        }
        #expect(try client.ask("load A/side.m3u 1:2") == [])
        #expect(try queue(client) == ["A/1.flac"])
        // Only what the library has: no file of the system, and no song.
        for name in ["../x.m3u", "/etc/passwd", "A/1.flac", "A", "nothing.m3u"] {
            #expect(try client.ask("load \(name)") == ["ACK [50@0] {load} No such playlist"])
            #expect(try client.ask("listplaylist \(name)") == ["ACK [50@0] {listplaylist} No such playlist"])
        }
    }

    @Test("A playlist in the music names music elsewhere for clients of this machine alone")
    func outside() throws {
        let (fixture, local) = try fixture("address = 127.0.0.1\nport = \(Loopback.freePorts(1)[0])")
        defer { fixture.end() }
        let (outside, music) = (fixture.folder["outside"], fixture.folder["music"])
        try TaggedFLAC.write(to: "\(outside)/s.flac", frames: 44_100)
        try FileManager.default.createSymbolicLink(
            atPath: "\(music)/A/link.flac", withDestinationPath: "\(outside)/s.flac")
        let text = "1.flac\n\(outside)/s.flac\n../../outside/s.flac\n\(outside)\nlink.flac\nhttp://h/s\n"
        try text.write(toFile: "\(music)/A/out.m3u", atomically: true, encoding: .utf8)
        try local.ask("update")
        expectSoon("the playlist") { (try? local.ask("lsinfo A").contains("playlist: A/out.m3u")) == true }
        let secret = "\(outside)/s.flac"
        let all = ["A/1.flac", secret, secret, secret, "A/link.flac", "http://h/s"]
        #expect(try local.ask("listplaylist A/out.m3u") == all.map { "file: \($0)" })
        let remote = try MPDTestClient(
            try StreamSocket(connectingTo: "127.0.0.1", port: try #require(fixture.port)))
        #expect(try remote.line() == "OK MPD 0.23.5")
        #expect(try remote.ask("listplaylist A/out.m3u") == ["file: A/1.flac", "file: http://h/s"])
        #expect(try remote.ask("load A/out.m3u") == [])
        #expect(try queue(local) == ["A/1.flac", "http://h/s"])
        #expect(try remote.ask("load A/out.m3u 1:4").first?.hasPrefix("ACK [50@0] {load}") == true)
    }

    @Test("Other clients play a playlist by its path as it loads")
    func byPath() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let folder = fixture.folder["state/playlists"]
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "A/1.flac\nA/3.flac\n".write(toFile: "\(folder)/mpd.m3u8", atomically: true, encoding: .utf8)
        #expect(try client.ask("add \(folder)/mpd.m3u8") == [])
        #expect(try queue(client) == ["A/1.flac", "A/3.flac"])
    }

    @Test("A playlist as MPD writes it loads, and entries that exist nowhere are told")
    func ofMPD() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let folder = fixture.folder["state/playlists"]
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        func write(_ text: String, _ name: String) throws {
            try text.write(toFile: "\(folder)/\(name).m3u", atomically: true, encoding: .utf8)
        }
        try write("A/1.flac\nA/gone.flac\nA/3.flac\nhttp://h/s\n", "mpd")
        try write("A/gone.flac\nB/gone.flac\n", "gone")
        #expect(try client.ask("load mpd") == [])
        #expect(try queue(client) == ["A/1.flac", "A/3.flac", "http://h/s"])
        #expect(try client.value("error", of: "status") == "mpd: an entry does not exist: \"A/gone.flac\"")
        #expect(
            try client.ask("load gone")
                == ["ACK [50@0] {load} gone: entries do not exist: \"A/gone.flac\", \"B/gone.flac\""])
        #expect(try queue(client).count == 3)
        // A change keeps the entries, and the one that is not there.
        #expect(try client.ask("playlistadd mpd A/2.flac") == [])
        try client.ask("clear")
        try client.ask("load mpd")
        #expect(try queue(client) == ["A/1.flac", "A/3.flac", "http://h/s", "A/2.flac"])
        #expect(try client.ask("listplaylist mpd").count == 5)
    }

    @Test("Control characters of addresses are escaped, and those of other values are blanks")
    func controlCharacters() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let address = "http://127.0.0.1:1/\u{1B}[31m\u{85}\u{7F}\tx"
        #expect(try client.ask("add \"\(address)\"") == [])
        #expect(try client.ask("playlistadd list \"http://h/ok\"") == [])
        let shown = "http://127.0.0.1:1/%1B[31m%C2%85%7F%09x"
        #expect(try queue(client) == [shown])
        #expect(try client.ask("playlist") == ["0:file: \(shown)"])
        #expect(try client.ask("playlistid").first == "file: \(shown)")
        var output = MPDOutput()
        output.pair("error", "a\u{1B}[31m\nb\u{7F}c")
        #expect(String(decoding: output.bytes, as: UTF8.self) == "error: a [31m b c\n")
    }

    @Test("single 0 leaves repeat as it was before single 1")
    func single() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        func modes() throws -> String {
            try client.ask("status").filter { $0.hasPrefix("repeat") || $0.hasPrefix("single") }
                .map { String($0.last!) }.joined()
        }
        for (commands, expected) in [
            (["single 1"], "11"), (["single 0"], "00"), (["repeat 1", "single 1", "single 0"], "10"),
            (["repeat 0", "single 1", "single 1", "single 0"], "00"),
            (["single 1", "repeat 1", "single 0"], "10"), (["single 1", "repeat 0"], "00"),
            (["single 1", "random 1", "single 0"], "00"),
        ] {
            for command in commands { #expect(try client.ask(command) == []) }
            #expect(try modes() == expected, "\(commands)")
        }
    }

    @Test("outputs has the device in force, not the one of the next start")
    func output() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let before = try client.ask("outputs")
        try fixture.daemon.perform { daemon throws(SettingError) in
            _ = try daemon.settings.set(.device, to: "hw:CARD=other")
        }
        #expect(try client.ask("outputs") == before)
    }
}
