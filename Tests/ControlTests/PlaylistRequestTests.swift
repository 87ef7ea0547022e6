import ApplianceTestSupport
import Foundation
import Library
import Platform
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import Control

@Suite("Stored playlists over the control socket")
struct PlaylistRequestTests {
    private let fixture: RemoteFixture
    private let tracks: Tracks
    private let client: JSONClient

    init() throws {
        fixture = try RemoteFixture(opensLibrary: true)
        tracks = try Tracks()
        client = try fixture.connect()
    }

    private func products(_ word: String) throws -> String {
        let paths = try tracks.make(word, frames: 1000).map { "{\"path\":\"\($0.productId)\"}" }
        return "\"products\":[\(paths.joined(separator: ","))]"
    }

    /// The entries of a playlist as letters.
    private func letters(_ name: String, _ fields: String = "") throws -> String? {
        try client.ask("playlist", "\"name\":\"\(name)\"\(fields)")["entries"]?.elements?.map { entry in
            String(entry["path"]?.string?.split(separator: "/").last?.first ?? "?")
        }.joined()
    }

    @Test("Save, add, remove, move, rename, delete, and play the file")
    func operations() throws {
        defer { fixture.shutDown() }
        try client.ask("queue-set", try products("abc"))
        #expect(try client.ask("playlist-save", #""name":"One""#)["added"] == 3)
        #expect(try client.ask("playlist-save", #""name":"one""#).errorCode == "playlist-exists")
        #expect(try client.ask("playlist-save", #""name":"one","replace":true"#)["ok"] == true)
        #expect(try letters("One") == "abc")
        let reply = try client.ask("playlist-add", #""name":"One","# + products("de"))
        #expect(reply["added"] == 2 && reply["skipped"] == 0)
        #expect(try client.ask("playlist-remove", #""name":"One","from":1,"count":2"#)["removed"] == 2)
        try client.ask("playlist-move", #""name":"One","from":2,"index":0"#)
        #expect(try letters("One") == "ead" && letters("One", #","from":1,"count":1"#) == "a")
        try client.ask("playlist-rename", #""name":"One","to":"Two""#)
        let list = try client.ask("playlists")
        #expect(list["count"] == 1 && list["entries"]?[0]?["name"] == "Two")
        let path = try #require(try client.ask("playlist", #""name":"Two","count":0"#)["path"]?.string)
        #expect(path == fixture.folder["playlists/Two.m3u8"])
        #expect(try client.ask("queue-set", #""products":[{"path":"\#(path)"}]"#)["added"] == 3)
        try client.ask("playlist-delete", #""name":"Two""#)
        #expect(try client.ask("playlists")["count"] == 0)
    }

    @Test("Collected music, folders and products of a service are added; an error adds nothing and drops the rest")
    func adding() throws {
        defer { fixture.shutDown() }
        #expect(try client.ask("queue-collect", try products("a"))["collected"] == 1)
        try client.ask("playlist-add", #""name":"p","products":[{"path":"tonearm:track/7"}]"#)
        let entries = try client.ask("playlist", #""name":"p""#)["entries"]
        #expect(entries?[0]?["title"] == JSONValue.null && entries?[1]?["path"] == "tonearm:track/7")
        _ = try tracks.make("bc", frames: 1000)
        for name in ["a", "b", "c"] { unlink(tracks.folder["\(name).flac.raw"]) }
        let folder = #""products":[{"path":"\#(tracks.folder.path)"}]"#
        #expect(try client.ask("playlist-add", #""name":"p","# + folder)["added"] == 3)
        try client.ask("queue-collect", try products("a"))
        #expect(try client.ask("playlist-add", #""name":"p","# + products("?")).errorCode == "no-such-file")
        #expect(try client.ask("playlist-add", #""name":"p","# + products("X")).errorCode == "no-music")
        #expect(try client.ask("playlist-add", #""name":"a/b","# + products("a")).errorCode == "bad-request")
        #expect(try letters("p") == "a7abc")
    }

    @Test(
        "Refusals",
        arguments: [
            ("playlist", #""name":"x""#, "no-such-playlist"), ("playlist-delete", #""name":"x""#, "no-such-playlist"),
            ("playlist-rename", #""name":"p","to":".p""#, "bad-request"),
            ("playlist-remove", #""name":"p","from":1"#, "no-such-entry"),
            ("playlist-move", #""name":"p","from":0,"index":1"#, "no-such-entry"),
            ("playlist-move", #""name":"p","from":0"#, "bad-request"), ("playlist", "", "bad-request"),
            ("playlist-save", #""name":"p","replace":1"#, "bad-request"),
            ("library-status", "", "no-music"), ("library-list", #""list":"albums""#, "no-music"),
        ])
    func refusals(request: String, fields: String, code: String) throws {
        defer { fixture.shutDown() }
        try client.ask("playlist-add", #""name":"p","products":[{"path":"http://h/a"}]"#)
        #expect(try client.ask(request, fields).errorCode == code)
    }

    @Test("Each change is an event with the name")
    func events() throws {
        defer { fixture.shutDown() }
        let other = try fixture.connect()
        try other.ask("subscribe", #""events":["playlists"]"#)
        try client.ask("playlist-add", #""name":"p","products":[{"path":"http://h/a"}]"#)
        try client.ask("playlist-delete", #""name":"missing""#)
        try client.ask("playlist-rename", #""name":"p","to":"q""#)
        #expect(try other.event("playlists")["name"] == "p")
        #expect(try other.event("playlists")["name"] == "q")
    }

    @Test("A power cut at any file call leaves each playlist as it was before a change, or after")
    func cuts() throws {
        fixture.shutDown()
        let path = fixture.folder["cut"]
        let playlists = PlaylistFolder(path)
        func state() throws -> [[String]] {
            try playlists.all().map { [$0.name] + (try playlists.entries(of: $0.name)) }
        }
        let (gone, latin, changed) = (["gone", "/g"], ["latin", "/café"], ["one", "/a", "/c"])
        let stages = [
            [gone, latin, ["one", "/a"]], [gone, latin, changed], [gone, latin + ["/c"], changed],
            [gone, latin + ["/c"], ["two", "/a", "/c"]], [latin + ["/c"], ["two", "/a", "/c"]],
        ]
        var (cuts, stage) = (0, 0)
        while true {
            try? FileManager.default.removeItem(atPath: path)
            try Folder.create(path)
            try Data("#EXTM3U\n/a\n".utf8).write(to: URL(fileURLWithPath: path + "/one.m3u8"))
            try Data([0x2F, 0x63, 0x61, 0x66, 0xE9]).write(to: URL(fileURLWithPath: path + "/latin.m3u"))
            try Data("/g\n".utf8).write(to: URL(fileURLWithPath: path + "/gone.m3u8"))
            let run = try WriterProcess.run("state", "playlist", path, "\(cuts)")
            let found = try state()
            let next = try #require(stages.firstIndex(of: found), "cut before file call \(cuts): \(found)")
            #expect(next >= stage)
            stage = next
            if run.code != 99 {
                #expect(run.code == 0 && stage == stages.count - 1, "\(run.errors)")
                break
            }
            cuts += 1
        }
        #expect(cuts > 10)
    }
}
