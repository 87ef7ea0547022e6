import Database
import Foundation
import Glibc
import Media
import PCM
import Platform
import TestSupport
import Testing

@testable import Library

@Suite("Scan of music folders")
struct MusicScanTests {
    private let music: MusicFolder
    private let files = FileManager.default

    init() throws { music = try MusicFolder() }

    private func move(_ name: String, to other: String) throws {
        try files.createDirectory(atPath: Folder.containing(music[other]), withIntermediateDirectories: true)
        try files.moveItem(atPath: music[name], toPath: music[other])
    }

    @Test("Files of many kinds: tags, duration and format")
    func kinds() throws {
        try music.add("a.flac", "TITLE=Flac", "ARTIST=A", "ALBUM=One", "DATE=2004", "TRACKNUMBER=3", frames: 44_100)
        try music.encode("b.mp3", "-metadata", "title=Mp3", "-metadata", "artist=A")
        try music.encode("c.ogg", "-c:a", "libvorbis", "-metadata", "title=Vorbis")
        try music.encode("d.opus", "-c:a", "libopus", "-metadata", "title=Opus")
        try music.encode("e.wav", "-c:a", "pcm_s24le")
        try music.encode("f.m4a", "-c:a", "alac", "-metadata", "title=Alac")
        try music.write(Data("no music".utf8), to: "g.flac")
        try music.write(Data("text".utf8), to: "h.txt")
        let summary = try music.scan()
        #expect(summary.tracks == 6 && summary.read == 6 && summary.problems == 1 && summary.gone == 0)
        let tracks = try music.index.tracks(MusicFolder.all).entries
        #expect(tracks.map(\.name) == ["Flac", "Mp3", "Vorbis", "Opus", "e", "Alac"])
        #expect(tracks.map(\.codec) == [.flac, .mp3, .vorbis, .opus, .pcm, .alac])
        #expect(tracks.allSatisfy { abs(($0.duration ?? 0) - 1) < 0.05 })
        #expect(tracks.map(\.format.bitDepth)[4] == 24)
        let first = try #require(tracks.first)
        #expect(first.path == music["a.flac"] && first.metadata[.date] == ["2004"] && first.metadata.trackNumber == 3)
        #expect(try music.index.tracks(ofFolder: music.path, ListPage(limit: 1, offset: 1)).entries == [tracks[1]])
    }

    @Test("A file with the size, time and state of its row is not opened; tags that keep size and time are seen")
    func unchanged() throws {
        try music.add("a.flac", "TITLE=Old")
        try music.scan()
        #expect(try music.scan().read == 0)
        var before = stat()
        #expect(stat(music["a.flac"], &before) == 0)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: music["a.flac"]))
        try handle.write(contentsOf: try MusicFolder.flac(["TITLE=New"]))
        try handle.close()
        #expect(utimensat(AT_FDCWD, music["a.flac"], [before.st_atim, before.st_mtim], 0) == 0)
        let stamp = try #require(FileStamp(of: music["a.flac"]))
        #expect(stamp.size == Int64(before.st_size) && stamp.state != 0)
        #expect(try music.scan().read == 1)
        #expect(try music.titles == ["New"])
        #expect(try music.scan().read == 0)
    }

    @Test(
        "Only the head, the tail and a sample of the middle of a file are read",
        arguments: ["a.wav", "a.mp3", "a.flac", "a.ogg", "a.m4a"])
    func headAndTail(name: String) throws {
        let codec = name.hasSuffix("m4a") ? ["-c:a", "alac"] : name.hasSuffix("mp3") ? ["-b:a", "320k"] : []
        if codec.isEmpty {
            try music.encode(name, seconds: 20)
        } else {
            try music.encode(name, seconds: 20, codec[0], codec[1])
        }
        let size = try #require(FileStamp(of: music[name])).size
        let before = try readBytes()
        let file = try MusicFile(music[name])
        let decoder = try AudioFile.open(file)
        _ = try AudioIdentity.of(file, decoder.properties)
        // Opening MPEG audio reads pages at its quarters; three samples of 16 KiB identify it.
        #expect(try readBytes() - before < 250_000, "of \(size)")
    }

    /// The bytes that this thread has read so far.
    private func readBytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("rchar:") })
        return try #require(Int(line.dropFirst("rchar: ".count)))
    }

    @Test("A missing track is hidden and has its number when it returns: an unplugged medium loses nothing")
    func unplugged() throws {
        try music.add("stick/a/1.flac", "TITLE=A", "ALBUM=One", "ARTIST=X")
        try music.add("stick/b.flac", "TITLE=B")
        try music.add("c.flac", "TITLE=C")
        try music.write(Data("stick/b.flac\nc.flac\n".utf8), to: "l.m3u")
        try music.scan()
        let before = try music.index.tracks(MusicFolder.all).entries
        #expect(before.map(\.name) == ["C", "A", "B"] || before.count == 3)
        try files.moveItem(atPath: music["stick"], toPath: music.scratch["away"])
        #expect(try music.scan().gone == 2)
        #expect(try music.titles == ["C"])
        #expect(try music.titles(matching: "a").isEmpty && music.index.albums(MusicFolder.all).total == 0)
        #expect(try music.index.names(.artist, MusicFolder.all).total == 0)
        #expect(try music.index.tracks(ofPlaylist: 1, MusicFolder.all).entries.map(\.name) == ["C"])
        try files.moveItem(atPath: music.scratch["away"], toPath: music["stick"])
        let summary = try music.scan()
        #expect(summary.read == 0)
        #expect(try music.index.tracks(MusicFolder.all).entries == before)
        #expect(try music.titles(matching: "a") == ["A"] && music.index.albums(MusicFolder.all).total == 1)
        #expect(try music.index.tracks(ofPlaylist: 1, MusicFolder.all).entries.map(\.name) == ["B", "C"])
    }

    @Test("A content is the same after a rename with other tags, and in a new index; another sound is a change")
    func identity() throws {
        try music.add("a.flac", "TITLE=A", frames: 3000)
        try music.add("b.flac", "TITLE=B", frames: 4000)
        try music.scan()
        let contents = try music.index.tracks(MusicFolder.all).entries.map(\.content)
        #expect(Set(contents).count == 2 && !contents.contains(0))
        try files.removeItem(atPath: music["a.flac"])
        try music.add("far/z.flac", "TITLE=Another, and longer", "ARTIST=X", frames: 3000)
        try music.scan()
        let renamed = try #require(try music.index.track(at: music["far/z.flac"], part: 0))
        #expect(renamed.content == contents[0] && renamed.name == "Another, and longer")
        #expect(try music.index.contentChanges(after: 0).changes.isEmpty)
        try music.add("b.flac", "TITLE=B", frames: 5000)
        try music.scan()
        let other = try #require(try music.index.track(at: music["b.flac"], part: 0))
        let changes = try music.index.contentChanges(after: 0)
        #expect(changes.changes == [ContentChange(former: contents[1], present: other.content)])
        #expect(try music.index.contentChanges(after: changes.last).changes.isEmpty)
        try music.index.forgetContentChanges(upTo: changes.last)
        #expect(try music.index.contentChanges(after: 0).changes.isEmpty)
        let second = try MusicIndex(music.scratch["other.db"])
        _ = try MusicScan(index: second, scope: .tree(music.path), rules: .player).run()
        #expect(try Set(second.tracks(MusicFolder.all).entries.map(\.content)) == [contents[0], other.content])
    }

    @Test("Files that exchange their names keep their contents, and none is reported")
    func exchanged() throws {
        for (number, name) in ["a", "b", "c"].enumerated() { try music.add("\(name).flac", frames: 3000 + number) }
        try music.scan()
        let before = try music.index.tracks(MusicFolder.all).entries.map(\.content)
        try move("c.flac", to: "d.flac")
        try move("b.flac", to: "c.flac")
        try move("a.flac", to: "b.flac")
        try music.scan()
        #expect(try music.index.tracks(ofFolder: music.path, MusicFolder.all).entries.map(\.content) == before)
        #expect(try music.index.contentChanges(after: 0).changes.isEmpty)
    }

    @Test("The rows of an earlier version are read again, and their contents follow")
    func earlierVersion() throws {
        try music.add("a.flac", frames: 3000)
        try music.scan()
        let content = try #require(try music.index.tracks(MusicFolder.all).entries.first).content
        try music.index.write { (database) throws(DatabaseError) in
            try database.execute("UPDATE track SET content = 77, inode = -1")
        }
        #expect(try music.scan().read == 1)
        let changes = try music.index.contentChanges(after: 0).changes
        #expect(changes == [ContentChange(former: 77, present: content)])
        #expect(try music.scan().read == 0)
    }

    @Test(
        "A damaged, empty or unreadable file is a problem of each scan, and a change of the first one only",
        arguments: ["no music", ""])
    func damaged(content: String) throws {
        try music.write(Data(content.utf8), to: "a.flac")
        try music.write(Data("FILE \"none.wav\" WAVE".utf8), to: "b.cue")
        let failures = ScanFailures()
        let first = try music.scan(failures: failures)
        #expect(first.problems == 2 && first.newProblems == 2 && first.hasChanges)
        let second = try music.scan(failures: failures)
        #expect(second.problems == 2 && second.newProblems == 0 && !second.hasChanges)
        try music.add("a.flac", "TITLE=Whole")
        let third = try music.scan(failures: failures)
        #expect(third.read == 1 && third.hasChanges)
        #expect(try music.titles == ["Whole"])
        try music.write(Data("damaged".utf8), to: "a.flac")
        #expect(try music.scan(failures: failures).newProblems == 1)
        #expect(try music.titles.isEmpty)
    }

    @Test("Playlists that are gone are counted, and are no tracks")
    func removedPlaylists() throws {
        for name in ["a.m3u", "b.m3u"] { try music.write(Data("c.flac\n".utf8), to: name) }
        try music.add("c.flac", "TITLE=C")
        #expect(try music.scan().playlists == 2)
        for name in ["a.m3u", "b.m3u"] { try files.removeItem(atPath: music[name]) }
        let summary = try music.scan()
        #expect(summary.playlists == 2 && summary.gone == 0 && summary.hasChanges)
        #expect(try music.index.playlists(MusicFolder.all).total == 0)
    }

    @Test("Links are followed into the music folders only, and the others are named")
    func links() throws {
        let outside = music.scratch["outside"]
        try files.createDirectory(atPath: outside, withIntermediateDirectories: true)
        try music.add("real/a.flac", "TITLE=Inside")
        try MusicFolder.flac(["TITLE=Secret"]).write(to: URL(fileURLWithPath: "\(outside)/s.flac"))
        try Data("s.flac\n".utf8).write(to: URL(fileURLWithPath: "\(outside)/s.m3u"))
        func link(_ name: String, to target: String) throws {
            try files.createSymbolicLink(atPath: music[name], withDestinationPath: target)
        }
        try link("folder", to: outside)
        try link("file.flac", to: "\(outside)/s.flac")
        try link("list.m3u", to: "\(outside)/s.m3u")
        try link("inside.flac", to: "real/a.flac")
        try link("note.txt", to: "\(outside)/s.flac")
        let summary = try music.scan()
        #expect(try music.titles == ["Inside", "Inside"])
        #expect(try music.index.playlists(MusicFolder.all).total == 0)
        #expect(Set(summary.linksOut) == Set(["file.flac", "folder", "list.m3u"].map { music[$0] }))
        // A scan of the link alone finds the link.
        let single = try MusicScan(
            index: music.index, scope: .tree(music["folder"]), rules: .player, roots: MusicRoots([music.path])
        ).run()
        #expect(single.tracks == 0 && single.linksOut == [music["folder"]])
        // The folder is one of the music folders.
        let roots = MusicRoots([music.path, outside])
        _ = try MusicScan(index: music.index, scope: .tree(music.path), rules: .player, roots: roots).run()
        #expect(try music.titles.filter { $0 == "Secret" }.count == 2)
        #expect(!MusicRoots([music.path]).contain(music["folder/none/a.flac"]))
        #expect(MusicRoots([music.path]).contain(music["none/a.flac"]))
        #expect(MusicRoots([music.scratch["missing"]]).contain(music.scratch["missing/a.flac"]))
    }

    @Test("Two sheets for one file, or one in it and one beside it, list each track once")
    func sheetsTwice() throws {
        let text = """
            FILE "x.flac" WAVE
              TRACK 01 AUDIO
                TITLE "First"
                INDEX 01 00:00:00
              TRACK 02 AUDIO
                TITLE "Second"
                INDEX 01 00:00:30
            """
        try Data(text.utf8).write(to: URL(fileURLWithPath: music.scratch["x.cue"]))
        let embedded = ["--cuesheet=\(music.scratch["x.cue"])"]
        try music.write(try MusicFolder.flac(["TITLE=Whole"], frames: 44_100, embedded), to: "x.flac")
        try music.write(Data(text.utf8), to: "x.cue")
        try music.write(Data(text.utf8), to: "x.flac.cue")
        func paths() throws -> [String] { try music.index.tracks(MusicFolder.all).entries.map(\.playedPath) }
        func tracks(_ name: String) -> [String] { [1, 2].map { music["\(name)/track000\($0)"] } }
        try music.scan()
        #expect(try paths() == tracks("x.cue"))
        #expect(try music.scan().read == 0)
        #expect(try paths() == tracks("x.cue"))
        try files.removeItem(atPath: music["x.cue"])
        try music.scan()
        #expect(try paths() == tracks("x.flac.cue"))
        try files.removeItem(atPath: music["x.flac.cue"])
        try music.scan()
        #expect(try paths() == tracks("x.flac"))
        // The whole file does not come back with its medium.
        try files.moveItem(atPath: music["x.flac"], toPath: music.scratch["away"])
        try music.scan()
        #expect(try paths().isEmpty)
        try files.moveItem(atPath: music.scratch["away"], toPath: music["x.flac"])
        try music.scan()
        #expect(try paths() == tracks("x.flac"))
    }

    @Test("A scan counts its files, waits while it is paused, and continues after a stop")
    func control() throws {
        let file = try MusicFolder.flac([])
        for number in 0..<700 { try music.write(file, to: "\(number % 7)/\(number).flac") }
        let control = ScanControl()
        control.pause()
        let (index, path) = (music.index, music.path)
        let first = AwaitedValue<Int>()
        let thread = try NamedThread.start(name: "scan") {
            let scan = MusicScan(index: index, scope: .tree(path), rules: .player, control: control)
            first.set((try? scan.run().read) ?? -1)
        }
        try waitUntil("the first folder") { control.progress.found > 0 }
        #expect(control.progress.done == 0)
        control.resume()
        try waitUntil("some files") { control.progress.done > 20 }
        control.stop()
        let read = first.wait("the end of the scan")
        thread.joinOrEndRun()
        #expect(read > 20 && read <= 700)
        #expect(try index.tracks(ListPage(limit: 1)).total == Int64(read))
        let rest = try music.scan()
        #expect(rest.read == 700 - read && rest.gone == 0 && rest.tracks == 700)
    }

    @Test("The tracks of cue sheets are listed instead of their files")
    func sheets() throws {
        try music.add("one/disc.flac", "TITLE=Whole", "ALBUM=Disc", "ARTIST=X", frames: 88_200)
        let sheet = """
            PERFORMER "Anna"
            TITLE "Disc"
            FILE "disc.flac" WAVE
              TRACK 01 AUDIO
                TITLE "First"
                INDEX 01 00:00:00
              TRACK 02 AUDIO
                TITLE "Second"
                INDEX 01 00:01:00
            """
        try music.write(Data(sheet.utf8), to: "one/disc.cue")
        try music.scan()
        let tracks = try music.index.tracks(MusicFolder.all).entries
        #expect(tracks.map(\.name) == ["First", "Second"])
        #expect(tracks.map(\.playedPath) == [1, 2].map { music["one/disc.cue/track000\($0)"] })
        #expect(tracks.map(\.frameCount) == [44_100, 44_100] && tracks.map(\.metadata.trackNumber) == [1, 2])
        #expect(Set(tracks.map(\.content)).count == 2)
        #expect(try music.titles(matching: "whole").isEmpty)
        #expect(try music.scan().read == 0)
        #expect(try music.titles == ["First", "Second"])
        try files.removeItem(atPath: music["one/disc.cue"])
        try music.scan()
        #expect(try music.titles == ["Whole"])
        #expect(try music.titles(matching: "whole") == ["Whole"])
    }

    @Test("A cue sheet inside of a file")
    func embeddedSheet() throws {
        let sheet = """
            FILE "x" WAVE
              TRACK 01 AUDIO
                INDEX 01 00:00:00
              TRACK 02 AUDIO
                INDEX 01 00:00:30
            """
        try Data(sheet.utf8).write(to: URL(fileURLWithPath: music.scratch["x.cue"]))
        try music.write(
            try MusicFolder.flac(["TITLE=Whole"], frames: 44_100, ["--cuesheet=\(music.scratch["x.cue"])"]),
            to: "a.flac")
        try music.scan()
        let tracks = try music.index.tracks(MusicFolder.all).entries
        #expect(tracks.map(\.playedPath) == [1, 2].map { music["a.flac/track000\($0)"] })
        #expect(tracks.compactMap(\.frameCount).reduce(0, +) == 44_100)
        // Without a sheet it is one track.
        try music.add("a.flac", "TITLE=Whole")
        try music.scan()
        #expect(try music.titles == ["Whole"])
    }

    @Test("The place of the front cover")
    func picture() throws {
        let picture = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try (Data([0xFF, 0xD8, 0xFF, 0xE0]) + picture).write(to: URL(fileURLWithPath: music.scratch["p.jpg"]))
        let options = ["--picture=3|image/jpeg||10x10x24|\(music.scratch["p.jpg"])"]
        try music.write(try MusicFolder.flac([], options), to: "a.flac")
        try music.scan()
        let place = try music.index.rows("SELECT picture_offset, picture_length FROM track", []) {
            Int($0.integer(0) ?? -1)..<Int(($0.integer(0) ?? -1) + ($0.integer(1) ?? 0))
        }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: music["a.flac"]))
        #expect(bytes[try #require(place.first)] == Data([0xFF, 0xD8, 0xFF, 0xE0]) + picture)
    }
}
