import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Library
@testable import MPD

@Suite("MPD: command lists, and clients that are slow (docs/mpd.md)")
struct MPDListTests {
    private func fixture() throws -> (MPDFixture, MPDTestClient) {
        let fixture = try MPDFixture { music in
            for number in 1...3 {
                try TaggedFLAC.write(to: "\(music)/A/\(number).flac", ["TITLE=\(number)"], frames: 88_200)
            }
        }
        let client = try fixture.connect()
        fixture.waitForSongs(3, client)
        return (fixture, client)
    }

    /// Carries out a list.
    /// - Returns: the answer, and how often the daemon has reported a change of the queue and of a playlist.
    private func list(
        _ commands: [String], _ fixture: MPDFixture, _ client: MPDTestClient
    ) throws -> (answer: [String], queue: Int, playlists: Int) {
        let before = fixture.daemon.events.count
        let answer = try client.ask((["command_list_begin"] + commands + ["command_list_end"]).joined(separator: "\n"))
        let events = fixture.daemon.events.dropFirst(before)
        return (
            answer, events.filter { $0 == .queue }.count,
            events.filter { if case .playlists = $0 { true } else { false } }.count
        )
    }

    @Test("A list of thousands of edits is one change of the queue, whatever the edits are")
    func oneChange() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let count = 3000
        let adds = (0..<count).map { "add A/\($0 % 3 + 1).flac" }
        #expect(try list(adds, fixture, client) == ([], 1, 0))
        let added = try list((0..<500).map { _ in "addid A/1.flac 0" }, fixture, client)
        #expect(added.answer.count == 500 && added.queue == 1)
        #expect(try client.value("playlistlength", of: "status") == "\(count + 500)")
        #expect(try list((1...1000).map { "deleteid \($0)" }, fixture, client) == ([], 1, 0))
        #expect(try list((0..<500).map { _ in "move 0 5" }, fixture, client) == ([], 1, 0))
        let mixed = ["clear"] + adds.prefix(300) + ["findadd title 1", "delete 0", "swap 0 1", "shuffle"]
        // The queue had no current entry: the engine needs none of these edits before the end of the list.
        #expect(try list(Array(mixed), fixture, client) == ([], 1, 0))
        #expect(try client.value("playlistlength", of: "status") == "300")
    }

    @Test("Commands of a list see the edits before them, and play has its turn between them")
    func order() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let commands = ["add A", "status", "delete 2", "play 1", "addid A/3.flac +0", "deleteid 1", "currentsong"]
        let answer = try list(commands, fixture, client).answer
        #expect(answer.contains("playlistlength: 3") && answer.contains("Id: 4") && answer.contains("Pos: 0"))
        #expect(answer.contains("file: A/2.flac"))
        #expect(try client.ask("playlistinfo").filter { $0.hasPrefix("file") } == ["file: A/2.flac", "file: A/3.flac"])
        // The entry that plays is removed, and another one plays at once.
        fixture.daemon.waitForSound()
        #expect(try list(["deleteid 2", "add A"], fixture, client).answer == [])
        fixture.daemon.waitForSound()
        #expect(try client.value("file", of: "currentsong") == "A/3.flac")
    }

    @Test("A list ends at its first failure, and what comes before it has happened")
    func failure() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        #expect(
            try list(["add A/1.flac", "add nothing", "add A/2.flac"], fixture, client).answer
                == ["ACK [50@1] {add} No such directory"])
        #expect(
            try list(["add A/1.flac", "addid A/1.flac 7", "clear"], fixture, client).answer
                == ["ACK [2@1] {addid} Number too large: 7"])
        #expect(
            try list(["playlistadd x A/1.flac", "playlistdelete x 4", "playlistclear x"], fixture, client).answer
                == ["ACK [2@1] {playlistdelete} Bad song index"])
        #expect(try list(["add A/1.flac", "add"], fixture, client).answer.first?.hasPrefix("ACK [2@1] {add}") == true)
        #expect(try client.value("playlistlength", of: "status") == "3")
        #expect(try client.ask("listplaylist x") == ["file: A/1.flac"])
    }

    @Test("A list of changes of a playlist is one change, and its cost does not grow with the playlist")
    func playlists() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let adds = (0..<1000).map { "playlistadd Evening A/\($0 % 3 + 1).flac" }
        #expect(try list(adds, fixture, client) == ([], 0, 1))
        #expect(try client.ask("listplaylist Evening").count == 1000)
        let edits = ["playlistmove Evening 0 9", "playlistdelete Evening 0"] + ["searchaddpl Evening title 2"]
        #expect(try list(edits, fixture, client) == ([], 0, 1))
        // Each playlist is a change of its own.
        #expect(try list(["playlistadd a A", "playlistadd b A", "playlistadd b A"], fixture, client) == ([], 0, 2))
        #expect(try client.ask("listplaylist b").count == 6)
        func cost(_ command: String) throws -> (written: Int, read: Int, lookedUp: Int, syncs: Int) {
            let tail = fixture.daemon.perform { $0.library!.playlists.tail }
            let before = tail.cost
            #expect(try client.ask(command) == [])
            let after = tail.cost
            return (
                after.written - before.written, after.read - before.read, after.lookedUp - before.lookedUp,
                after.syncs - before.syncs
            )
        }
        _ = try cost("playlistadd Evening A/1.flac")
        let line = try cost("playlistadd Evening A/1.flac")
        #expect(line.written < 200 && line.read == 0 && line.lookedUp == 0 && line.syncs == 1, "\(line)")
    }

    @Test(
        "A client that does not read, or has long lists, hides no change from the others",
        arguments: [("playlistinfo", 40), ("commands", 3000), ("stats", 20_000), ("playlistfind title 1", 60)])
    func slowClient(command: String, count: Int) throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        try list((0..<3000).map { _ in "add A/1.flac" }, fixture, client).answer.forEach { Issue.record("\($0)") }
        let slow = try fixture.connect()
        // More than all buffers have room for.
        let commands = ["command_list_begin"] + (0..<count).map { _ in command } + ["command_list_end"]
        try slow.send(commands.joined(separator: "\n"))
        _ = try slow.line()
        let other = try fixture.connect()
        // The slow client's answer waits in any of its parts.
        for command in ["clear", "add A", "delete 0"] {
            try other.send("idle playlist")
            try client.ask(command)
            #expect(try other.answer() == ["changed: playlist"])
        }
    }

    @Test("A list that waits for a medium hides changes for a second at most")
    func slowMedium() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        let other = try fixture.connect()
        let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        fixture.daemon.perform { daemon in
            daemon.library!.withIndex { _ in
                entered.signal()
                release.waitOrEndRun("the end of the test")
            }
        }
        entered.waitOrEndRun("the thread of queries")
        defer { release.signal() }
        let slow = try fixture.connect()
        try slow.send("command_list_begin\nadd A\nadd A\ncommand_list_end")
        try other.send("idle options")
        // The server has begun the list when it has carried out a later command.
        try client.ask("random 1")
        fixture.daemon.perform { _ in }
        fixture.daemon.pass(milliseconds: 1001)
        #expect(try other.answer() == ["changed: options"])
    }

    @Test("Long work on playlists holds no query, and a long query no playlist")
    func threads() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        try client.ask("playlistadd Evening A/1.flac")
        let release = DispatchSemaphore(value: 0)
        // Also when a command fails: the end of the daemon waits for these threads.
        defer { for _ in 0..<3 { release.signal() } }
        fixture.daemon.perform { daemon in
            daemon.library!.changePlaylists { release.waitOrEndRun("the end of the test") }
            daemon.library!.readPlaylists { release.waitOrEndRun("the end of the test") }
        }
        #expect(try client.ask("find title 1").first == "file: A/1.flac")
        release.signal()
        release.signal()
        #expect(try client.ask("listplaylist Evening") == ["file: A/1.flac"])
        fixture.daemon.perform { daemon in
            daemon.library!.withIndex { _ in release.waitOrEndRun("the end of the test") }
        }
        #expect(try client.ask("listplaylist Evening") == ["file: A/1.flac"])
        #expect(try client.ask("rename Evening Night") == [])
    }
}
