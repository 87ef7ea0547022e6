import Database
import Foundation
import Platform
import TestSupport
import Testing

@testable import Library

@Suite("Scans of cue sheets and playlists that name files elsewhere, and of files that fail")
struct ScannedListTests {
    private let music: MusicFolder
    private let files = FileManager.default

    init() throws { music = try MusicFolder() }

    @Test("A sheet names files in the music folders only, also through links")
    func linksOfSheets() throws {
        let outside = music.scratch["outside"]
        try files.createDirectory(atPath: outside, withIntermediateDirectories: true)
        try MusicFolder.flac(["ALBUM=Secret"], frames: 44_100).write(to: URL(fileURLWithPath: "\(outside)/s.flac"))
        try music.add("in.flac", "ALBUM=Inside", frames: 44_100)
        try files.createSymbolicLink(atPath: music["out.flac"], withDestinationPath: "\(outside)/s.flac")
        try files.createSymbolicLink(atPath: music["link.flac"], withDestinationPath: "in.flac")
        for (sheet, name) in [
            ("1", "out.flac"), ("2", "../outside/s.flac"), ("3", "\(outside)/s.flac"), ("4", "link.flac"),
        ] {
            let text = "FILE \"\(name)\" WAVE\nTRACK 1 AUDIO\nTITLE \"\(sheet)\"\nINDEX 01 0:0:0\n"
            try music.write(Data(text.utf8), to: "\(sheet).cue")
        }
        let summary = try music.scan()
        #expect(try music.titles.filter { $0.utf8.count == 1 } == ["4"])
        #expect(summary.problems == 3 && summary.linksOut == [music["out.flac"]])
    }

    @Test("A playlist that MPD wrote has its tracks, and a torn line is none")
    func playlistOfMPD() throws {
        try music.add("A/1.flac", "TITLE=One")
        try music.write(Data("A/1.flac\n#+19\nA/1.flac\nA/1.fl".utf8), to: "lists/mpd.m3u")
        let folder = music.path
        _ = try MusicScan(
            index: music.index, scope: .tree(folder), rules: .player, musicPath: { "\(folder)/\($0)" }
        ).run()
        try MusicScan.finish(music.index)
        let missing = try music.index.readTables { (database) throws(DatabaseError) in
            try PlaylistRows(database).missing()
        }
        #expect(missing.isEmpty)
        #expect(try music.index.number("SELECT count(*) FROM playlist_entry") == 2)
    }

    @Test("A sheet that changes its tracks drops the former ones for good, and each once")
    func droppedParts() throws {
        try music.add("x.flac", frames: 44_100)
        func write(_ tracks: ClosedRange<Int>) throws {
            let parts = tracks.map { "TRACK 0\($0) AUDIO\nTITLE \"\($0)\"\nINDEX 01 00:00:\($0)0\n" }
            try music.write(Data(("FILE \"x.flac\" WAVE\n" + parts.joined()).utf8), to: "x.cue")
            try music.scan()
        }
        try write(1...3)
        #expect(try music.titles == ["1", "2", "3"])
        try write(1...2)
        #expect(try music.titles == ["1", "2"])
        // The sheet is gone, and comes back: its former third track does not.
        let sheet = try Data(contentsOf: URL(fileURLWithPath: music["x.cue"]))
        try files.removeItem(atPath: music["x.cue"])
        try music.scan()
        try music.write(sheet, to: "x.cue")
        try music.scan()
        #expect(try music.titles == ["1", "2"])
        #expect(try music.index.number("SELECT count(*) FROM track WHERE size = -1 AND is_present > 0") == 0)
        try write(1...3)
        #expect(try music.titles == ["1", "2", "3"])
    }

    @Test("When more files fail than can be remembered, the others are no change, and are tried again")
    func fullFailures() throws {
        let failures = ScanFailures()
        let stamp = FileStamp(size: 1, modified: 1)
        for number in 0..<10_000 { #expect(failures.note("/\(number)", stamp, "damaged", isOfContent: true)) }
        #expect(!failures.note("/more", stamp, "damaged", isOfContent: true))
        #expect(!failures.haveRefused("/more", stamp) && failures.haveRefused("/9999", stamp))
        #expect(failures.note("/9999", FileStamp(size: 2, modified: 1), "damaged", isOfContent: true))
        failures.forget("/0")
        #expect(failures.note("/more", stamp, "damaged", isOfContent: true))
        #expect(failures.haveRefused("/more", stamp))
    }
}
