import Database
import Foundation
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

    @Test("A file with the size, time and number of its row is not opened; a changed one is")
    func unchanged() throws {
        try music.add("a.flac", "TITLE=Old")
        try music.scan()
        let times = try files.attributesOfItem(atPath: music["a.flac"])[.modificationDate]
        let bytes = try MusicFolder.flac(["TITLE=New"])
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: music["a.flac"]))
        try handle.write(contentsOf: bytes)
        try handle.close()
        try files.setAttributes([.modificationDate: try #require(times)], ofItemAtPath: music["a.flac"])
        var stamp = stat()
        #expect(stat(music["a.flac"], &stamp) == 0)
        // Foundation sets microseconds; the index has nanoseconds.
        try music.index.write { (database) throws(DatabaseError) in
            try database.execute(
                "UPDATE track SET modified = ?",
                .integer(Int64(stamp.st_mtim.tv_sec) * 1_000_000_000 + Int64(stamp.st_mtim.tv_nsec)))
        }
        #expect(try music.scan().read == 0)
        #expect(try music.titles == ["Old"])
        try files.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: music["a.flac"])
        #expect(try music.scan().read == 1)
        #expect(try music.titles == ["New"])
    }

    @Test("Only the head and the tail of a file are read", arguments: ["a.wav", "a.mp3", "a.flac", "a.ogg", "a.m4a"])
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
        _ = try file.content(decoder.metadata)
        #expect(try readBytes() - before < 200_000, "of \(size)")
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

    @Test("A content is the same after a rename and in a new index; new tags report both contents")
    func identity() throws {
        try music.add("a.flac", "TITLE=A")
        try music.add("b.flac", "TITLE=B")
        try music.scan()
        let contents = try music.index.tracks(MusicFolder.all).entries.map(\.content)
        #expect(Set(contents).count == 2 && !contents.contains(0))
        try move("a.flac", to: "far/z.flac")
        var changes: [ContentChange] = []
        try music.scan { changes += $0 }
        let renamed = try #require(try music.index.tracks("WHERE path LIKE '%z.flac'").first)
        #expect(renamed.content == contents[0] && changes.isEmpty)
        try music.add("b.flac", "TITLE=Better")
        try music.scan { changes += $0 }
        let better = try #require(try music.index.tracks("WHERE path LIKE '%/b.flac'").first)
        #expect(changes == [ContentChange(former: contents[1], present: better.content)])
        let other = try MusicIndex(music.scratch["other.db"])
        _ = try MusicScan(index: other, scope: .tree(music.path), rules: .player).run()
        #expect(try Set(other.tracks(MusicFolder.all).entries.map(\.content)) == [contents[0], better.content])
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
