import Foundation
import Platform
import TestSupport
import Testing

@testable import Library

@Suite("Entries that are added at the end of a stored playlist (docs/decisions/stored-playlists.md)")
struct PlaylistAppendTests {
    private let scratch: ScratchFolder
    private let playlists: PlaylistFolder

    init() throws {
        scratch = try ScratchFolder()
        playlists = PlaylistFolder(scratch["playlists"])
    }

    private func read(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: scratch["playlists/\(name)"]))
    }

    private func write(_ data: Data, _ name: String) throws {
        try Folder.create(scratch["playlists"])
        try data.write(to: URL(fileURLWithPath: scratch["playlists/\(name)"]))
    }

    private func cost(_ body: () throws -> Void) rethrows -> PlaylistTail.Cost {
        let before = playlists.tail.cost
        try body()
        let after = playlists.tail.cost
        return PlaylistTail.Cost(
            read: after.read - before.read, written: after.written - before.written,
            syncs: after.syncs - before.syncs, lookedUp: after.lookedUp - before.lookedUp)
    }

    @Test(
        "An addition takes the same in any playlist: its lines, one sync, no look at an entry", arguments: [10, 50_000])
    func cost(count: Int) throws {
        try playlists.create("a", with: (0..<count).map { "/music/\($0).flac" })
        // The first one counts the entries.
        #expect(try cost { try playlists.add(["/music/x"], to: "a") }.lookedUp == 0)
        for name in ["a", "a", "A"] {
            let line = try cost { try playlists.add(["/music/y"], to: name) }
            #expect(line.written == "#+9\n/music/y\n".utf8.count && line.syncs == 1 && line.lookedUp == 0)
            #expect(line.read == 0)
        }
        let many = try cost {
            _ = try playlists.apply((0..<1000).map { .add(["/music/\($0 % 10)"], at: nil) }, to: "a")
        }
        #expect(many == PlaylistTail.Cost(read: 0, written: "#+9000\n".utf8.count + 9 * 1000, syncs: 1, lookedUp: 0))
        let (all, entries) = try playlists.entries(of: "a", 3..<5)
        #expect(all == count + 1004 && entries == ["/music/3.flac", "/music/4.flac"])
        #expect(try cost { _ = try playlists.entries(of: "a", 3..<5) }.lookedUp == 2)
        // Other changes write the file once, and look up nothing.
        let edits: [PlaylistChange] = [.remove(0..<1), .move(from: 0, to: 5), .add(["/z"], at: 0)]
        let edit = try cost { _ = try playlists.apply(edits, to: "a") }
        #expect(edit.syncs == 1 && edit.lookedUp == 0)
        #expect(try playlists.entries(of: "a", 0..<2).entries == ["/z", "/music/2.flac"])
    }

    @Test("A power cut leaves whole entries, and the next change goes on from there")
    func torn() throws {
        try playlists.create("a", with: ["/1", "/2"])
        let before = try read("a.m3u8")
        _ = try playlists.apply([.add(["/three"], at: nil), .add(["/four", "/five"], at: nil)], to: "a")
        let after = try read("a.m3u8")
        let all = ["/1", "/2", "/three", "/four", "/five"]
        #expect(try playlists.entries(of: "a") == all)
        for length in before.count...after.count {
            let part = after.prefix(length)
            try write(part, "a.m3u8")
            let lines = String(decoding: part, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            let whole = lines.dropLast().filter { $0.hasPrefix("/") }.map(String.init)
            #expect(try playlists.entries(of: "a") == whole && all.starts(with: whole))
            try playlists.add(["/next"], to: "a")
            #expect(try playlists.entries(of: "a") == whole + ["/next"])
            try playlists.moveEntry(from: whole.count, to: 0, of: "a")
            #expect(try playlists.entries(of: "a") == ["/next"] + whole)
            // A file system may have made the file longer before it has written the bytes.
            try write(part + Data(count: 40), "a.m3u8")
            #expect(try playlists.entries(of: "a") == whole)
        }
    }

    @Test("The last line of another program counts without an end, and is no part of the next one")
    func foreign() throws {
        for text in ["#EXTM3U\nhttp://h/radio", "/a\r\nhttp://h/radio", "#EXTM3U\n\n/a\n\nhttp://h/radio"] {
            try write(Data(text.utf8), "pc.m3u8")
            let entries = try playlists.entries(of: "pc")
            #expect(entries.last == "http://h/radio")
            try playlists.add(["/b"], to: "pc")
            #expect(try playlists.entries(of: "pc") == entries + ["/b"])
            try playlists.add(["/c"], to: "pc")
            #expect(try playlists.entries(of: "pc") == entries + ["/b", "/c"])
        }
    }

    @Test("Another program may change the file between two additions")
    func changedBetween() throws {
        try playlists.add(["/1"], to: "a")
        try playlists.add(["/2"], to: "a")
        try write(Data("/x\n/y\n/z\n".utf8), "a.m3u8")
        try playlists.add(["/3"], to: "a")
        #expect(try playlists.entries(of: "a") == ["/x", "/y", "/z", "/3"])
        try playlists.rename("a", to: "b")
        try playlists.add(["/4"], to: "a")
        try playlists.add(["/5"], to: "b")
        #expect(try playlists.entries(of: "a") == ["/4"] && playlists.entries(of: "b").count == 5)
    }

    @Test("The limits count, and changes before the first that fails are made")
    func limits() throws {
        let small = PlaylistFolder(scratch["playlists"], mostBytes: 60)
        try small.add(["/1"], to: "a")
        let ten = "/123456789"
        let outcome = try small.apply((0..<9).map { _ in .add([ten], at: nil) }, to: "a")
        #expect(outcome.count == 4 && outcome.failure == .full(.bytes))
        #expect(try small.entries(of: "a") == ["/1", ten, ten, ten, ten])
        let most = PlaylistFolder.mostEntries
        try playlists.create("full", with: (0..<(most - 1)).map { "/\($0)" })
        let last = try playlists.apply([.add(["/x"], at: nil), .add(["/y"], at: nil)], to: "full")
        #expect(last.count == 1 && last.failure == .full(.entries))
        let mixed = try playlists.apply([.remove(0..<1), .move(from: 0, to: most), .clear], to: "full")
        #expect(mixed.count == 1 && mixed.failure == .noSuchEntry(index: most, count: most - 1))
        let none = try playlists.apply([.clear], to: "nothing")
        #expect(none.failure == .noSuchPlaylist("nothing"))
        #expect(try playlists.apply([.add(["/x"], at: nil), .clear], to: "new").count == 2)
        #expect(try playlists.entries(of: "new") == [])
    }

    @Test("A line from the root of the music is found there, as MPD writes it")
    func fromTheRoot() throws {
        try Folder.create(scratch["music/A"])
        try Data().write(to: URL(fileURLWithPath: scratch["music/A/1.flac"]))
        let root = scratch["music"]
        let playlists = PlaylistFolder(scratch["playlists"], musicPath: { "\(root)/\($0)" })
        try write(Data("A/1.flac\nA/gone.flac\n".utf8), "mpd.m3u")
        #expect(try playlists.music(of: "mpd", 0..<9) == (["\(root)/A/1.flac"], ["A/gone.flac"]))
        try playlists.add(["/x"], to: "mpd")
        #expect(try playlists.entries(of: "mpd").first == "\(root)/A/1.flac")
        #expect(try playlists.music(of: "mpd", 0..<9).missing.contains("A/gone.flac"))
    }

    @Test("An addition to a link replaces the link, and not the file that it leads to")
    func link() throws {
        try write(Data("/1\n".utf8), "real.m3u8")
        try FileManager.default.moveItem(atPath: scratch["playlists/real.m3u8"], toPath: scratch["real.m3u8"])
        let link = scratch["playlists/a.m3u8"]
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: scratch["real.m3u8"])
        #expect(try playlists.entries(of: "a") == ["/1"])
        try playlists.add(["/2"], to: "a")
        #expect(try playlists.entries(of: "a") == ["/1", "/2"])
        #expect(try String(contentsOfFile: scratch["real.m3u8"], encoding: .utf8) == "/1\n")
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == nil)
        // The next addition is at the end of the file.
        #expect(try cost { try playlists.add(["/3"], to: "a") }.written == "#+3\n/3\n".utf8.count)
    }

    @Test(
        "A file that may not be written, as one of another owner, is replaced",
        .enabled(if: getuid() != 0, "root may write every file"))
    func readOnly() throws {
        try write(Data("/1\n".utf8), "a.m3u8")
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: scratch["playlists/a.m3u8"])
        try playlists.add(["/2"], to: "a")
        #expect(try playlists.entries(of: "a") == ["/1", "/2"])
    }
}
