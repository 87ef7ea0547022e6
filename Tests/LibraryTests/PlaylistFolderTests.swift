import Foundation
import Platform
import TestSupport
import Testing

@testable import Library

@Suite("Stored playlists (docs/decisions/stored-playlists.md)")
struct PlaylistFolderTests {
    private let scratch: ScratchFolder
    private let playlists: PlaylistFolder

    init() throws {
        scratch = try ScratchFolder()
        playlists = PlaylistFolder(scratch["music/playlists"])
    }

    private var names: [String] { get throws { try playlists.all().map(\.name) } }
    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: scratch["music/playlists"]).sorted() }
    }
    private func text(_ file: String) throws -> String {
        try String(contentsOfFile: scratch["music/playlists/\(file)"], encoding: .utf8)
    }
    private func write(_ bytes: [UInt8], to file: String) throws {
        try Folder.create(scratch["music/playlists"])
        try Data(bytes).write(to: URL(fileURLWithPath: scratch["music/playlists/\(file)"]))
    }
    private func add(_ path: String) throws {
        try Folder.create(Folder.containing(scratch[path]))
        try Data().write(to: URL(fileURLWithPath: scratch[path]))
    }

    @Test("Create, append, remove, move, rename, replace and remove")
    func changes() throws {
        #expect(try names.isEmpty)
        let track = scratch["music/Joni/1.flac"]
        try playlists.create("Evening", with: [track, "/x/a b.cue/track0002"])
        #expect(try text("Evening.m3u8") == "#EXTM3U\n../Joni/1.flac\n/x/a b.cue/track0002\n")
        try playlists.add(["tonearm:track/7", "http://h/s"], to: "Evening")
        let all = [track, "/x/a b.cue/track0002", "tonearm:track/7", "http://h/s"]
        #expect(try playlists.entries(of: "Evening") == all)
        #expect(try playlists.entries(of: "Evening", 1..<3) == (4, Array(all[1..<3])))
        #expect(try playlists.entries(of: "Evening", 9..<12) == (4, []))
        try playlists.moveEntry(from: 3, to: 0, of: "Evening")
        #expect(try playlists.removeEntries(1..<3, of: "Evening") == 2)
        #expect(try playlists.entries(of: "Evening") == ["http://h/s", "tonearm:track/7"])
        #expect(try playlists.removeEntries(1..<30, of: "Evening") == 1)
        try playlists.add(["/1", "/2"], to: "Evening", at: 0)
        #expect(try playlists.entries(of: "Evening") == ["/1", "/2", "http://h/s"])
        try playlists.add(["/3"], to: "Evening", at: 3)
        #expect(throws: PlaylistFailure.noSuchEntry(index: 5, count: 4)) {
            try playlists.add(["/4"], to: "Evening", at: 5)
        }
        #expect(try playlists.removeEntries(0..<2, of: "Evening") == 2)
        #expect(try playlists.removeEntries(1..<2, of: "Evening") == 1)
        try playlists.add([], to: "another")
        #expect(try names == ["another", "Evening"])
        try playlists.rename("Evening", to: "Night")
        #expect(try files == ["Night.m3u8", "another.m3u8"])
        #expect(try playlists.path(of: "Night") == scratch["music/playlists/Night.m3u8"])
        try playlists.replace("Night", with: [])
        #expect(try text("Night.m3u8") == "#EXTM3U\n")
        try playlists.remove("Night")
        #expect(try names == ["another"])
        let modified = try #require(try playlists.all().first?.modified)
        #expect(modified > 1_600_000_000)
    }

    @Test("Typed failures, and nothing has changed")
    func failures() throws {
        try playlists.create("a", with: ["/1"])
        #expect(throws: PlaylistFailure.exists("a")) { try playlists.create("A", with: []) }
        #expect(throws: PlaylistFailure.noSuchPlaylist("b")) { try playlists.entries(of: "b") }
        #expect(throws: PlaylistFailure.noSuchPlaylist("b")) { try playlists.remove("b") }
        #expect(throws: PlaylistFailure.noSuchPlaylist("b")) { try playlists.rename("b", to: "c") }
        #expect(throws: PlaylistFailure.noSuchEntry(index: 1, count: 1)) { try playlists.removeEntries(1..<2, of: "a") }
        #expect(throws: PlaylistFailure.noSuchEntry(index: 3, count: 1)) {
            try playlists.moveEntry(from: 0, to: 3, of: "a")
        }
        #expect(throws: PlaylistFailure.badEntry("x.flac")) { try playlists.add(["/2", "x.flac"], to: "a") }
        #expect(throws: PlaylistFailure.full(.entries)) {
            try playlists.add(Array(repeating: "/x", count: PlaylistFolder.mostEntries), to: "a")
        }
        #expect(throws: PlaylistFailure.full(.bytes)) {
            try PlaylistFolder(scratch["music/playlists"], mostBytes: 100).add(
                Array(repeating: "/x/abcdefgh", count: 9), to: "a")
        }
        try playlists.create("b", with: [])
        #expect(throws: PlaylistFailure.exists("b")) { try playlists.rename("a", to: "B") }
        #expect(try names == ["a", "b"] && playlists.entries(of: "a") == ["/1"])
        #expect(try files == ["a.m3u8", "b.m3u8"])
        // A file in the place of the folder.
        try add("file")
        var code: Int32?
        do throws(PlaylistFailure) { try PlaylistFolder(scratch["file"]).create("a", with: []) } catch {
            if case .system(let error) = error { code = error.code }
        }
        #expect(code == ENOTDIR || code == EEXIST)
    }

    @Test(
        "Names that no playlist can have",
        arguments: ["", ".", "..", ".hidden", "a/b", "a\0b", "a\nb", "a\rb", String(repeating: "x", count: 201)])
    func names(name: String) throws {
        #expect(throws: PlaylistFailure.badName(name)) { try playlists.add(["/a"], to: name) }
        #expect(throws: PlaylistFailure.badName(name)) { try playlists.rename("a", to: name) }
    }

    @Test("Long names, names with points, and any letters")
    func unusual() throws {
        for name in [String(repeating: "ß", count: 100), "a.m3u", "…", "x.y", "日本"] {
            try playlists.add(["/a"], to: name)
            #expect(try playlists.entries(of: name) == ["/a"])
        }
        #expect(try names.count == 5)
    }

    @Test("Names that differ in case or normal form are one; of two such files of a PC each is found by its name")
    func spellings() throws {
        try playlists.add(["/1"], to: "Jóga")
        try playlists.add(["/2"], to: "JO\u{301}GA")
        #expect(try files.count == 1 && playlists.entries(of: "jóga") == ["/1", "/2"])
        try playlists.rename("jóga", to: "JÓGA")
        #expect(try names == ["JÓGA"])
        try write(Array("/3\n".utf8), to: "jóga.m3u8")
        #expect(try playlists.entries(of: "jóga") == ["/3"] && playlists.entries(of: "JÓGA") == ["/1", "/2"])
        #expect(try names.count == 2)
    }

    @Test("Files of other programs: Latin-1, Windows, and paths that exist elsewhere; a change makes them .m3u8")
    func foreign() throws {
        try add("music/Björk/1.flac")
        try add("music/playlists/near.flac")
        let text = "#EXTM3U\r\n#EXTINF:1,x\r\n..\\Bj\u{F6}rk\\1.flac\r\nD:\\x\\near.flac\r\nmissing.flac\r\n"
        try write(text.unicodeScalars.map { UInt8($0.value) }, to: "Old.M3U")
        let entries = [
            scratch["music/Björk/1.flac"], scratch["music/playlists/near.flac"],
            scratch["music/playlists/missing.flac"],
        ]
        #expect(try playlists.entries(of: "old") == entries)
        try playlists.rename("old", to: "Older")
        #expect(try files == ["Older.M3U", "near.flac"])
        try playlists.add(["/a"], to: "older")
        #expect(try files == ["Older.m3u8", "near.flac"])
        #expect(try self.text("Older.m3u8").hasPrefix("#EXTM3U\n../Björk/1.flac\n../playlists/near.flac\n"))
        #expect(try playlists.entries(of: "Older") == entries + ["/a"])
    }

    @Test("A change keeps the lines of files that are not there now, and they are found later")
    func mediumIsOut() throws {
        try write("..\\Bj\u{F6}rk\\1.flac\nD:\\x\\late.flac\n".unicodeScalars.map { UInt8($0.value) }, to: "Old.m3u")
        try playlists.add(["/a"], to: "Old")
        try playlists.moveEntry(from: 2, to: 0, of: "Old")
        #expect(try text("Old.m3u8") == "#EXTM3U\n/a\n..\\Björk\\1.flac\nD:\\x\\late.flac\n")
        try add("music/Björk/1.flac")
        try add("music/playlists/late.flac")
        #expect(
            try playlists.entries(of: "Old")
                == ["/a", scratch["music/Björk/1.flac"], scratch["music/playlists/late.flac"]])
    }

    @Test("Of two files of one name, that of this program counts, and none comes back")
    func twins() throws {
        try write(Array("/old\n".utf8), to: "a.m3u")
        try write(Array("/new\n".utf8), to: "a.m3u8")
        try write(Array("x".utf8), to: "cover.jpg")
        #expect(try names == ["a"] && playlists.entries(of: "a") == ["/new"])
        try playlists.rename("a", to: "b")
        #expect(try files == ["b.m3u8", "cover.jpg"])
        try write(Array("/old\n".utf8), to: "b.m3u")
        try playlists.remove("b")
        #expect(try names.isEmpty)
    }

    @Test("More playlists than the limit are refused, and those that are there can change")
    func limit() throws {
        for number in 0..<PlaylistFolder.mostPlaylists { try write([], to: "\(number).m3u8") }
        #expect(throws: PlaylistFailure.full(.playlists)) { try playlists.add(["/a"], to: "one more") }
        try playlists.add(["/a"], to: "7")
        #expect(try playlists.entries(of: "7") == ["/a"])
    }

    @Test("Thousands of entries are kept")
    func large() throws {
        let entries = (0..<3000).map { scratch["music/Artist/Album/Track \($0).flac"] }
        try playlists.replace("all", with: entries)
        #expect(try playlists.entries(of: "all") == entries)
    }

    @Test("The temporary file of a power cut is removed")
    func leftovers() throws {
        try write([1], to: ".tonearm-0123456789abcdef.new")
        #expect(try names.isEmpty)
        playlists.removeLeftovers()
        #expect(try files.isEmpty)
    }
}
