import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import MPD

@Suite("MPD: the server (docs/mpd.md)")
struct MPDServerTests {
    /// Three tracks in a folder, and one in another.
    private func fixture(_ settings: String = "") throws -> (MPDFixture, MPDTestClient) {
        let fixture = try MPDFixture(settings: settings) { music in
            let files = [("A/1.flac", "One"), ("A/2.flac", "Two"), ("A/3.flac", "Three"), ("B/x.flac", "X")]
            for (name, title) in files {
                let tags = ["TITLE=\(title)", "ARTIST=Band", "ALBUM=\(name.prefix(1))"]
                try TaggedFLAC.write(to: "\(music)/\(name)", tags, frames: 88_200)
            }
        }
        let client = try fixture.connect()
        fixture.waitForSongs(4, client)
        return (fixture, client)
    }

    private func ids(_ client: MPDTestClient) throws -> [String] {
        try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") }.map { String($0.dropFirst(6)) }
    }

    @Test("an empty queue: status, currentsong and playlistinfo")
    func empty() throws {
        let fixture = try MPDFixture()
        defer { fixture.end() }
        let client = try fixture.connect()
        let status = try client.ask("status")
        #expect(
            status.filter { !$0.hasPrefix("playlist: ") } == [
                "volume: 100", "repeat: 0", "random: 0", "single: 0", "consume: 0", "partition: default",
                "playlistlength: 0", "mixrampdb: 0", "state: stop",
            ])
        #expect(try client.ask("currentsong") == [])
        #expect(try client.ask("playlistinfo") == [])
        #expect(try client.ask("play") == [])
        #expect(try client.ask("play 0") == ["ACK [2@0] {play} Bad song index"])
        #expect(try client.ask("foo") == ["ACK [5@0] {} unknown command \"foo\""])
        #expect(try client.ask("play 1 2") == ["ACK [2@0] {play} too many arguments for \"play\""])
        #expect(try client.ask("seek 1") == ["ACK [2@0] {seek} wrong number of arguments for \"seek\""])
        #expect(try client.ask("setvol 105") == ["ACK [2@0] {setvol} Number too large: 105"])
    }

    @Test("music of the library is added, played, and shown with its place")
    func playing() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        #expect(try client.ask("add A") == [])
        #expect(try client.ask("addid B/x.flac 1") == ["Id: 4"])
        #expect(try ids(client) == ["A/1.flac", "B/x.flac", "A/2.flac", "A/3.flac"])
        #expect(try client.ask("add C") == ["ACK [50@0] {add} No such directory"])
        #expect(try client.ask("playid 2") == [])
        fixture.daemon.waitForSound()
        let song = try client.ask("currentsong")
        #expect(song.first == "file: A/2.flac")
        #expect(song.contains("Title: Two") && song.contains("Artist: Band") && song.contains("Album: A"))
        #expect(song.suffix(2) == ["Pos: 2", "Id: 2"])
        let status = try client.ask("status")
        for line in ["state: play", "song: 2", "songid: 2", "nextsong: 3", "nextsongid: 3", "audio: 44100:16:2"] {
            #expect(status.contains(line), "\(status)")
        }
        #expect(try client.ask("pause 1") == [])
        fixture.daemon.wait("pause") { $0.playback == .paused }
        #expect(try client.value("state", of: "status") == "pause")
        #expect(try client.ask("stop") == [])
        #expect(try client.ask("next") == ["ACK [55@0] {next} Not playing"])
    }

    @Test("songs come into a stored playlist at its end, or at a position")
    func storedPositions() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        func songs() throws -> [String] { try client.ask("listplaylist P").map { String($0.dropFirst(6)) } }
        try client.ask("playlistadd P A/1.flac")
        try client.ask("playlistadd P A/2.flac 0")
        #expect(try songs() == ["A/2.flac", "A/1.flac"])
        try client.ask("searchaddpl P \"(Title == 'X')\" position 1")
        try client.ask("searchaddpl P Title three")
        #expect(try songs() == ["A/2.flac", "B/x.flac", "A/1.flac", "A/3.flac"])
        #expect(try client.ask("playlistadd P A/3.flac 5") == ["ACK [2@0] {playlistadd} Bad song index"])
        #expect(try client.ask("playlistadd P A/3.flac x").first?.hasPrefix("ACK [2@0] {playlistadd}") == true)
        #expect(try songs().count == 4)
    }

    @Test("entries are moved, swapped, shuffled and removed, and plchanges has the positions")
    func order() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        try client.ask("add A")
        try client.ask("add B")
        let version = try #require(try client.value("playlist", of: "status"))
        try client.ask("move 0 2")
        #expect(try ids(client) == ["A/2.flac", "A/3.flac", "A/1.flac", "B/x.flac"])
        try client.ask("move 2:4 0")
        #expect(try ids(client) == ["A/1.flac", "B/x.flac", "A/2.flac", "A/3.flac"])
        #expect(try client.ask("move 1:4 2") == ["ACK [2@0] {move} Bad song index"])
        try client.ask("swap 1 3")
        #expect(try ids(client) == ["A/1.flac", "A/3.flac", "A/2.flac", "B/x.flac"])
        #expect(
            try client.ask("plchangesposid \(version)") == [
                "cpos: 0", "Id: 1", "cpos: 1", "Id: 3", "cpos: 2", "Id: 2", "cpos: 3", "Id: 4",
            ])
        try client.ask("shuffle 1:3")
        #expect(try Set(ids(client).dropFirst().prefix(2)) == ["A/3.flac", "A/2.flac"])
        try client.ask("deleteid 1")
        try client.ask("delete 1:")
        #expect(try ids(client).count == 1)
        #expect(try client.ask("delete 2") == ["ACK [2@0] {delete} Bad song index"])
        try client.ask("clear")
        #expect(try client.value("playlistlength", of: "status") == "0")
    }

    @Test("the version of the queue grows, also over a restart and a power cut")
    func versions() throws {
        let (fixture, client) = try fixture()
        try client.ask("add A")
        let first = try #require(Int(try client.value("playlist", of: "status") ?? ""))
        fixture.daemon.waitForWriting()
        fixture.end()
        try fixture.start()
        let second = try #require(Int(try fixture.connect().value("playlist", of: "status") ?? ""))
        #expect(second > first)
        fixture.end()
        try fixture.start()
        let client2 = try fixture.connect()
        #expect(try Int(client2.value("playlist", of: "status") ?? "") ?? 0 > second)
        // A client that was away gets the whole queue.
        #expect(try client2.ask("plchangesposid \(first)").count == 6)
        fixture.end()
    }

    @Test("a list is one change for others, and ends at its first failure")
    func lists() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let other = try fixture.connect()
        try other.send("idle playlist")
        try client.send("command_list_ok_begin\nadd A\nadd B\ndelete 0\ncommand_list_end")
        #expect(try client.answer() == ["list_OK", "list_OK", "list_OK"])
        #expect(try other.answer() == ["changed: playlist"])
        // Nothing is left of the same list.
        try other.send("idle playlist\nnoidle")
        #expect(try other.answer() == [])
        try client.send("command_list_begin\ndelete 0\nplay 99\nclear\ncommand_list_end")
        #expect(try client.answer() == ["ACK [2@1] {play} Bad song index"])
        #expect(try ids(client).count == 2)
    }

    @Test("other clients learn what has changed")
    func changes() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let other = try fixture.connect()
        for (command, part) in [("setvol 30", "mixer"), ("random 1", "options"), ("subscribe x", "subscription")] {
            try other.send("idle mixer options subscription")
            #expect(try client.ask(command) == [])
            #expect(try other.answer() == ["changed: \(part)"])
        }
        // Shuffle is an order of its own: there are positions to ask for only with entries.
        try client.ask("add A")
        #expect(try other.ask("idle playlist") == ["changed: playlist"])
        try other.ask("subscribe y")
        try client.ask("sendmessage y \"a b\"")
        #expect(try other.ask("idle message") == ["changed: message"])
        #expect(try other.ask("readmessages") == ["channel: y", "message: a b"])
    }

    @Test("modes that the queue does not have are refused with a reason")
    func modes() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        #expect(try client.ask("repeat 1") == [])
        #expect(try client.ask("single 1") == [])
        #expect(try client.value("single", of: "status") == "1")
        #expect(try client.ask("single 0") == [])
        #expect(try client.value("repeat", of: "status") == "1")
        #expect(try client.ask("consume 0") == [])
        #expect(try client.ask("consume 1") == ["ACK [2@0] {consume} this player has no consume mode"])
        #expect(try client.ask("crossfade 0") == [])
        #expect(try client.ask("crossfade 3") == ["ACK [2@0] {crossfade} this player has no crossfade"])
        #expect(try client.ask("replay_gain_mode track") == [])
        #expect(try client.ask("replay_gain_status") == ["replay_gain_mode: track"])
    }

    @Test("while shuffled, entries with a priority come next")
    func priorities() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        try client.ask("add A")
        try client.ask("add B")
        try client.ask("random 1")
        try client.ask("prioid 5 3 4")
        try client.ask("prioid 9 4")
        #expect(try ids(client).prefix(2) == ["B/x.flac", "A/3.flac"])
        #expect(try client.ask("playlistinfo 0").last == "Prio: 9")
        #expect(try client.ask("prio 0 0") == [])
        #expect(try client.ask("playlistinfo 0").last == "Prio: 5")
        #expect(try client.ask("playlistinfo 1").last == "Id: 4")
        #expect(try client.ask("prio 300 1") == ["ACK [2@0] {prio} Number too large: 300"])
    }

    @Test("without a password a client may do what the configuration says, with one what its level allows")
    func passwords() throws {
        let folder = try ScratchFolder()
        try Data("control secret\nadmin master\n".utf8).write(to: URL(fileURLWithPath: folder["passwords"]))
        let (fixture, client) = try fixture("passwords = \(folder["passwords"])\npermission = read")
        defer { fixture.end() }
        #expect(try client.ask("play") == ["ACK [4@0] {play} you don't have permission for \"play\""])
        #expect(try client.ask("commands").contains("command: status"))
        #expect(try client.ask("notcommands").contains("command: play"))
        #expect(try client.ask("password wrong") == ["ACK [3@0] {password} incorrect password"])
        #expect(try client.ask("password secret") == [])
        #expect(try client.ask("stop") == [])
        #expect(try client.ask("notcommands").contains("command: enableoutput"))
        #expect(try client.ask("password master") == [])
        #expect(try client.ask("notcommands") == [])
    }

    @Test("a client that is silent for a minute is closed, one that waits for changes is not")
    func silence() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let idle = try fixture.connect()
        try idle.send("idle mixer")
        expectSoon("two clients") { fixture.clientCount == 2 }
        // The server has read the line when it has answered a later one of the other client.
        try client.ask("ping")
        // The answer is sent before the timer starts.
        fixture.daemon.perform { _ in }
        fixture.daemon.pass(seconds: 61)
        #expect(try client.line() == nil)
        #expect(fixture.clientCount == 1)
    }

    @Test("at a port, a client that speaks HTTP is closed, and one too many")
    func port() throws {
        let fixture = try MPDFixture(settings: "address = 127.0.0.1\nport = \(Loopback.freePorts(1)[0])")
        defer { fixture.end() }
        let port = try #require(fixture.port)
        let web = try MPDTestClient(try StreamSocket(connectingTo: "127.0.0.1", port: port))
        #expect(try web.line() == "OK MPD 0.23.5")
        // Only clients of this machine may name any file.
        for path in ["\(fixture.folder["music"])/../a.flac", "/etc/a.flac"] {
            #expect(try web.ask("add \"\(path)\"") == ["ACK [50@0] {add} Access denied"])
        }
        try web.send("GET / HTTP/1.1")
        #expect(try web.line() == nil)
        var clients: [MPDTestClient] = []
        for _ in 0..<MPDServer.clientLimit { clients.append(try fixture.connect()) }
        let last = try MPDTestClient(try StreamSocket(connectingTo: fixture.socket))
        #expect(try last.line() == nil)
    }

    @Test("a cover arrives whole, also in one answer that is larger than all buffers")
    func cover() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let cover = Data([0xFF, 0xD8, 0xFF]) + Data((3..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        try cover.write(to: URL(fileURLWithPath: fixture.folder["music/A/cover.png"]))
        try client.ask("binarylimit 1048576")
        try client.send("albumart A/1.flac 0\nping")
        #expect(try client.line() == "size: 900000")
        #expect(try client.line() == "binary: 900000")
        #expect(try client.bytes(900_000) == Array(cover))
        #expect(try client.line() == "")
        #expect(try client.line() == "OK")
        #expect(try client.answer() == [])
        // Clients ask for the end, too.
        #expect(try client.ask("albumart A/1.flac 900000") == ["size: 900000", "binary: 0", ""])
    }

    @Test("absurd numbers are limited")
    func absurdNumbers() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        try client.ask("add A")
        try client.send("command_list_begin\nseek 1 1e300\nstatus\ncommand_list_end")
        #expect(try client.answer().contains { $0.hasPrefix("elapsed: ") })
        #expect(
            try client.ask("playlistinfo 2147483647")
                == ["ACK [2@0] {playlistinfo} Number too large: 2147483647"])
        let version = try #require(Int(try client.value("playlist", of: "status") ?? ""))
        #expect(try client.ask("prio 10 0: 0: 0:") == [])
        #expect(try client.value("playlist", of: "status") == "\(version + 1)")
    }

    @Test("what cannot be opened is a problem of the daemon, and playback goes on")
    func problems() throws {
        let folder = try ScratchFolder()
        try Data("nonsense\n".utf8).write(to: URL(fileURLWithPath: folder["passwords"]))
        let fixture = try MPDFixture(settings: "passwords = \(folder["passwords"])")
        defer { fixture.end() }
        let problem = fixture.daemon.status.problems.first { $0.subject == DaemonProblem.mpd }
        #expect(problem?.message.contains("each line must be a level") == true)
    }

    @Test("clients on this machine may add any file, others may not")
    func localFiles() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let other = try ScratchFolder()
        try TaggedFLAC.write(to: other["a.flac"])
        #expect(try client.ask("add \"\(other["a.flac"])\"") == [])
        #expect(try client.ask("playlistinfo").first == "file: \(other["a.flac"])")
        #expect(try client.ask("add tonearm:track/7") == [])
        #expect(try client.ask("add http://127.0.0.1:1/a.flac") == [])
        #expect(try ids(client).suffix(2) == ["tonearm:track/7", "http://127.0.0.1:1/a.flac"])
        #expect(try client.ask("add tonearm:foo/7") == ["ACK [50@0] {add} No such song"])
    }
}
