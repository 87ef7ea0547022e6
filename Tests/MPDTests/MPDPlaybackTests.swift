import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import MPD

@Suite("MPD: playback, as clients rely on it (docs/mpd.md)")
struct MPDPlaybackTests {
    /// Three tracks of ten seconds in the queue, with the ids 1 to 3.
    private func fixture() throws -> (MPDFixture, MPDTestClient) {
        let fixture = try MPDFixture { music in
            for number in 1...3 {
                try TaggedFLAC.write(to: "\(music)/A/\(number).flac", ["TITLE=\(number)"], frames: 441_000)
            }
        }
        let client = try fixture.connect()
        fixture.waitForSongs(3, client)
        try client.ask("add A")
        return (fixture, client)
    }

    @Test("status has the duration of the library until the file is open")
    func durationAtOnce() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        // In one list, so that the file is not open yet.
        let answer = try client.ask("command_list_begin\nplay 1\nstatus\ncommand_list_end")
        for line in ["state: play", "song: 1", "time: 0:10", "duration: 10.000"] {
            #expect(answer.contains(line), "\(answer)")
        }
    }

    @Test("next and previous play a paused player, however often")
    func nextPlays() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        try client.ask("play 0")
        fixture.daemon.waitForSound()
        for (command, song) in [("next", "1"), ("next", "2"), ("previous", "1"), ("previous", "0")] {
            try client.ask("pause 1")
            #expect(try client.ask(command) == [])
            #expect(try client.value("state", of: "status") == "play")
            #expect(try client.value("song", of: "status") == song)
        }
        // At the end of the queue next does nothing.
        try client.ask("play 2")
        try client.ask("pause 1")
        #expect(try client.ask("next") == [])
        #expect(try client.value("state", of: "status") == "pause")
        #expect(try client.value("song", of: "status") == "2")
    }

    @Test("previous is the entry before, also after 3 s, and not the one that was heard before")
    func previousByPosition() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        try client.ask("play 0")
        try client.ask("play 2")
        fixture.daemon.waitForSound()
        try client.ask("seekcur 5")
        try client.ask("previous")
        #expect(try client.value("song", of: "status") == "1")
        try client.ask("previous")
        try client.ask("seekcur 5")
        try client.ask("previous")
        #expect(try client.value("song", of: "status") == "0")
        expectSoon("the first entry from its beginning") {
            (try? client.value("elapsed", of: "status").flatMap(Double.init)).map { $0 < 5 } == true
        }
        try client.ask("repeat 1")
        try client.ask("previous")
        #expect(try client.value("song", of: "status") == "2")
    }

    @Test("an output has the same name when it is closed")
    func outputName() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        try client.ask("play 0")
        fixture.daemon.waitForSound()
        let name = try client.value("outputname", of: "outputs")
        try client.ask("disableoutput 0")
        #expect(try client.value("outputenabled", of: "outputs") == "0")
        #expect(try client.value("outputname", of: "outputs") == name)
    }

    @Test("commands has idle, which needs the level read")
    func idleIsACommand() throws {
        let (fixture, client) = try fixture()
        defer { fixture.end() }
        #expect(try client.ask("commands").contains("command: idle"))
        let closed = try MPDFixture(settings: "permission = none")
        defer { closed.end() }
        let other = try closed.connect()
        #expect(try other.ask("idle") == ["ACK [4@0] {idle} you don't have permission for \"idle\""])
        #expect(try other.ask("notcommands").contains("command: idle"))
    }
}
