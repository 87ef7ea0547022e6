import Foundation
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("Playlists and cue sheets among the music")
struct MusicListTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func write(_ text: String, to path: String) throws { try write(Array(text.utf8), to: path) }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let parent = (folder[path] as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: folder[path]))
    }

    private func make(_ paths: String...) throws { for path in paths { try write("", to: path) } }

    /// Relative to the folder.
    private func found(_ path: String = "") throws -> (files: [String], problems: [String]) {
        let contents = try MusicFolder.contents(of: path.isEmpty ? folder.path : folder[path])
        func relative(_ text: String) -> String { text.replacingOccurrences(of: folder.path + "/", with: "") }
        return (contents.files.map(relative), contents.problems.map { relative($0.message) })
    }

    private func sheet(_ files: String..., tracks: Int = 2) -> String {
        files.map { file in
            "FILE \"\(file)\" WAVE\n" + (0..<tracks).map { "TRACK \($0 + 1) AUDIO\nINDEX 01 0\($0):00:00\n" }.joined()
        }.joined()
    }

    // MARK: Folders

    @Test("A folder lists the tracks of a sheet in place of its files, and the other files as they are")
    func sheets() throws {
        try make("a.flac", "album.flac", "z.flac", "list.m3u")
        try write(sheet("album.wav"), to: "album.cue")
        let found = try found()
        #expect(found.files == ["a.flac", "album.cue/track0001", "album.cue/track0002", "z.flac"])
        #expect(found.problems == [])
    }

    @Test("Of two sheets for one file the first one counts; a file that only one of them names is listed")
    func twoSheets() throws {
        try make("1.flac", "2.flac", "3.flac")
        try write(sheet("1.flac", "2.flac", tracks: 1), to: "a.cue")
        try write(sheet("1.flac"), to: "b.cue")
        #expect(try found().files == ["3.flac", "a.cue/track0001", "a.cue/track0002"])
    }

    @Test("A sheet whose files are missing, or that is none, is told once, and the files are listed")
    func uselessSheets() throws {
        try make("1.flac", "2.flac")
        try write(sheet("gone.wav"), to: "a.cue")
        try write("a letter", to: "b.cue")
        try write(sheet("1.flac", "lost.wav", tracks: 3), to: "sub/c.cue")
        try make("sub/1.flac", "sub/x.flac")
        let found = try found()
        #expect(
            found.files == [
                "1.flac", "2.flac", "sub/c.cue/track0001", "sub/c.cue/track0002", "sub/c.cue/track0003",
                "sub/x.flac",
            ])
        #expect(
            found.problems == [
                "a.cue: its music file \"gone.wav\" does not exist.", "b.cue: a cue sheet without tracks of audio.",
                "sub/c.cue: its music file \"lost.wav\" does not exist.",
            ])
    }

    @Test("A sheet and its tracks as paths of their own; what is not there is a problem")
    func paths() throws {
        try make("album.flac")
        try write(sheet("album.flac"), to: "album.cue")
        let tracks = ["album.cue/track0001", "album.cue/track0002"]
        #expect(try found("album.cue").files == tracks && found("album.cue/").files == tracks)
        #expect(try found("album.cue/track0002").files == [tracks[1]])
        #expect(try found("album.cue/track0003").problems == ["album.cue: no track 3: its cue sheet has 2."])
        #expect(try found("album.flac/").problems == ["album.flac: no cue sheet in this file."])
        #expect(throws: MusicProblem.self) { try found("other.cue") }
        #expect(try found("other.cue/track0001").problems == ["other.cue: No such file or directory"])
    }

    @Test("Discs come in the order of their numbers, and names without regard to case")
    func order() throws {
        try make("CD1/2.flac", "CD1/10.flac", "Disc 2/a.flac", "Disc 2/B.flac", "disc10/1.flac", "b.flac", "A.flac")
        #expect(
            try found().files == [
                "A.flac", "b.flac", "CD1/2.flac", "CD1/10.flac", "Disc 2/a.flac", "Disc 2/B.flac", "disc10/1.flac",
            ])
    }

    // MARK: Playlists

    @Test("A playlist stands for its entries in its order: files, folders, sheets, tracks and other playlists")
    func playlist() throws {
        try make("b.flac", "sub/2.flac", "sub/10.flac", "ä.mp3", "elsewhere/x.wav", "album.flac", "lists/in.wav")
        try write(sheet("album.flac"), to: "album.cue")
        try write("[playlist]\nFile2=../b.flac\nFile1=in.wav\n", to: "lists/other.pls")
        let lines = [
            "#EXTM3U", "#EXTINF:3,Not Its Title", "b.flac", "?.mp3", "sub", "file://\(folder.path)/elsewhere/%78.wav",
            "C:\\Music\\sub\\10.flac", "album.cue", "lists/other.pls", "album.cue/track0002", "b.flac",
        ]
        let text = lines.joined(separator: "\r\n")
        // In Windows-1252.
        try write(text.utf8.map { $0 == UInt8(ascii: "?") ? 0xE4 : $0 }, to: "list.m3u")
        let found = try found("list.m3u")
        #expect(
            found.files == [
                "b.flac", "ä.mp3", "sub/2.flac", "sub/10.flac", "elsewhere/x.wav", "sub/10.flac", "album.cue/track0001",
                "album.cue/track0002", "lists/in.wav", "b.flac", "album.cue/track0002", "b.flac",
            ])
        #expect(found.problems == [])
    }

    @Test("XSPF, and entries outside of the folder of the playlist")
    func xspf() throws {
        try make("music/a b.flac", "c.flac")
        let tracks = ["a%20b.flac", "../c.flac", "file://\(folder.path)/c.flac"].map {
            "<track><location>\($0)</location></track>"
        }
        try write(
            "<?xml version=\"1.0\"?><playlist xmlns=\"http://xspf.org/ns/0/\"><trackList>\(tracks.joined())"
                + "</trackList></playlist>", to: "music/list.xspf")
        let found = try found("music/list.xspf")
        #expect(found.files == ["music/a b.flac", "c.flac", "c.flac"] && found.problems == [])
    }

    @Test("Missing entries are told once each, the first ten by name, and the rest plays")
    func missing() throws {
        try make("a.flac")
        try write((0..<14).map { "gone \($0).flac\n" }.joined() + "a.flac\n", to: "list.m3u8")
        let contents = try MusicFolder.contents(of: folder["list.m3u8"])
        #expect(contents.files.count == 1 && contents.problemCount == 14 && contents.problems.count == 11)
        #expect(contents.problems[0].message == "\(folder["list.m3u8"]): its entry \"gone 0.flac\" does not exist.")
        #expect(contents.problems[10].reason == "4 more of its entries do not exist.")
    }

    @Test("Addresses of web files stay in their place; other addresses, lists on servers and passwords are refused")
    func addresses() throws {
        try make("a.flac")
        let lines = [
            "http://nas/1 ä.flac", "a.flac", "HTTPS://nas/2", "rtsp://nas/3", "mms://nas/4", "http://nas/list.pls",
            "http://me:secret@nas/5.flac", "http:///6.flac", "inner.m3u",
        ]
        try write(lines.joined(separator: "\n"), to: "web.m3u")
        try write("http://nas/7.flac", to: "inner.m3u")
        let web = try found("web.m3u")
        #expect(web.files == ["http://nas/1 ä.flac", "a.flac", "HTTPS://nas/2", "http://nas/7.flac"])
        let list = "a playlist or cue sheet on a server is not read. Save it to a file, and add that."
        let login =
            "an address with a user name or password is not played, because the queue would show it. Use one that "
            + "needs no login."
        #expect(
            web.problems == [
                "web.m3u: only addresses of http and https are played, and not rtsp://nas/3 and 1 more.",
                "web.m3u: its entry \"http://nas/list.pls\": \(list)",
                "web.m3u: its entry \"http://nas/5.flac\": \(login)",
                "web.m3u: its entry \"http:///6.flac\" does not exist.",
            ])
        #expect(try MusicFolder.contents(of: "http://nas/a.flac").files == ["http://nas/a.flac"])
        for (path, problem) in [
            ("http://nas/list.m3u", "http://nas/list.m3u: \(list)"), ("http://me:x@nas/a", "http://nas/a: \(login)"),
            ("http://", "http://: an address without a host."),
        ] {
            let found = try MusicFolder.contents(of: path)
            #expect(found.files == [] && found.problems.map(\.message) == [problem] && !MusicFolder.isList(path))
        }
        try write(String(repeating: "http://nas/list.pls\n", count: 30), to: "many.m3u")
        let many = try MusicFolder.contents(of: folder["many.m3u"])
        #expect(many.problems.count == 10 && many.problemCount == 30)
    }

    @Test("Streams and what is no playlist are refused by name")
    func refused() throws {
        try write("#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n1.ts\n", to: "stream.m3u8")
        try write("<html></html>", to: "page.xspf")
        #expect(try found("stream.m3u8").problems == ["stream.m3u8: a stream (HLS), and no playlist of files."])
        #expect(try found("page.xspf").problems == ["page.xspf: not a playlist: XML that is no XSPF."])
    }

    @Test("A playlist that leads to itself is told once, with the way")
    func cycle() throws {
        try make("a.flac", "b.flac")
        try write("a.flac\ntwo.m3u\ntwo.m3u\n", to: "one.m3u")
        try write("b.flac\none.m3u\none.m3u\n", to: "two.m3u")
        let found = try found("one.m3u")
        #expect(found.files == ["a.flac", "b.flac", "b.flac"])
        #expect(
            found.problems == ["one.m3u: the playlist is an entry of itself: one.m3u → two.m3u → one.m3u."])
    }

    @Test("Five playlists may lie in each other; many that multiply end")
    func depth() throws {
        try make("a.flac")
        for number in 1...6 { try write("\(number + 1).m3u\na.flac\n", to: "\(number).m3u") }
        try make("7.m3u")
        let found = try found("1.m3u")
        #expect(found.files.count == 5)
        #expect(found.problems == ["6.m3u: more than 5 playlists lie in each other here."])
        for number in 1...4 {
            try write(String(repeating: "many \(number + 1).m3u\n", count: 100), to: "many \(number).m3u")
        }
        try make("many 5.m3u")
        #expect(try self.found("many 1.m3u").problems.contains { $0.hasSuffix("more than 1000 playlists at once.") })
    }

    @Test("A search of a playlist ends at its limit, and when it is cancelled")
    func ends() throws {
        try make("a.flac")
        try write(String(repeating: "a.flac\n", count: 20), to: "list.m3u")
        var search = MusicFolder(limit: 19)
        #expect(throws: MusicFolder.Stop.tooMany(limit: 19)) { try search.add(folder["list.m3u"]) }
        let cancellation = try Cancellation()
        cancellation.cancel()
        search = MusicFolder(cancellation: cancellation)
        #expect(throws: MusicFolder.Stop.cancelled) { try search.add(folder["list.m3u"]) }
    }

    @Test("A playlist that MPD wrote, or that was torn, plays as it is listed")
    func stored() throws {
        try make("music/A/1.flac", "music/A/2.flac", "lists/A/2.flac")
        try write("A/1.flac\nA/2.flac\nA/3.flac\n#+40\n../music/A/1.flac\n../mu", to: "lists/mpd.m3u8")
        let root = folder["music"]
        var search = MusicFolder(musicPath: { "\(root)/\($0)" })
        try search.add(folder["lists/mpd.m3u8"])
        let expected = ["music/A/1.flac", "lists/A/2.flac", "music/A/1.flac"]
        #expect(search.contents.files == expected.map { folder[$0] })
        #expect(search.contents.problems.map(\.message).filter { $0.contains("A/3.flac") }.count == 1)
        #expect(search.contents.problemCount == 1)
    }
}
