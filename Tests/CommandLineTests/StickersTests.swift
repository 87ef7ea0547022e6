import Foundation
import Platform
import ProgramTestSupport
import TestSupport
import Testing

@Suite("Stickers in the program")
struct StickersTests {
    @Test("A sticker follows its renamed file, and is there after a restart")
    func followsItsFile() throws {
        let program = try Program()
        let music = program.folder["music"]
        try FileManager.default.createDirectory(atPath: music, withIntermediateDirectories: true)
        try TaggedFLAC.write(to: "\(music)/one.flac", ["TITLE=One"])
        let settings = "[library]\nfolders = \(music)\n[mpd]\nsocket = \(program.folder["mpd"])\n"

        var daemon = try RunningDaemon(settings: settings, in: program)
        var client = try connect(program)
        try waitForSong("one.flac", client)
        #expect(try client.ask("sticker set song one.flac rating 5") == [])
        try FileManager.default.moveItem(atPath: "\(music)/one.flac", toPath: "\(music)/two.flac")
        _ = try client.ask("update")
        try waitUntil("the sticker of two.flac") {
            try client.ask("sticker get song two.flac rating") == ["sticker: rating=5"]
        }
        #expect(try daemon.end().code == 0)

        daemon = try RunningDaemon(settings: settings, in: program)
        client = try connect(program)
        try waitForSong("two.flac", client)
        #expect(try client.ask("sticker get song two.flac rating") == ["sticker: rating=5"])
        #expect(try daemon.end().code == 0)
    }

    private func connect(_ program: Program) throws -> MPDTestClient {
        try waitUntil("the socket for MPD") { FileKind(at: program.folder["mpd"]) != nil }
        let client = try MPDTestClient(StreamSocket(connectingTo: program.folder["mpd"]))
        #expect(try client.line()?.hasPrefix("OK MPD ") == true)
        return client
    }

    private func waitForSong(_ uri: String, _ client: MPDTestClient) throws {
        try waitUntil("\(uri) in the library") { try client.ask("lsinfo").contains("file: \(uri)") }
    }
}
