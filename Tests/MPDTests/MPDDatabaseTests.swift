import ApplianceTestSupport
import Database
import Foundation
import Library
import TestSupport
import Testing

@testable import Appliance
@testable import MPD

@Suite("MPD's database from the index", MPDMusic.needsEncoders)
struct MPDDatabaseTests {
    private let music: MPDMusic

    init() throws { music = try MPDMusic() }

    @Test("Songs of the queue have their tags; a path that the library does not have is a URI alone")
    func queue() throws {
        try music.add("A/1.flac", "TITLE=One", "GENRE=Rock", "GENRE=Pop", frames: 66_150)
        try music.scan()
        let paths = ["\(music.path)/A/1.flac", "tonearm:track/5", "\(music.path)/gone.flac", "/elsewhere/x.flac"]
        var songs: [MPDSong] = []
        var output: [UInt8] = []
        try music.database.forEachSong(at: paths) { place, song in
            #expect(place == songs.count)
            songs.append(song)
            song.write(to: &output, [MPDTags(.title), MPDTags(.genre)])
        }
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(
            lines.filter { !$0.hasPrefix("Last-Modified") } == [
                "file: A/1.flac", "Format: 44100:16:2", "Title: One", "Genre: Rock", "Genre: Pop", "Time: 2",
                "duration: 1.500", "file: tonearm:track/5", "file: gone.flac", "file: /elsewhere/x.flac",
            ])
        #expect(songs.map(\.duration) == [1.5, nil, nil, nil])
        #expect(songs[0].matches(try MPDFilter(parsing: ["(Genre contains 'POP')"], isSearch: true)))
    }

    @Test("Paths for the queue: of songs, folders, sheets, and of what a search finds, in its order")
    func paths() throws {
        try music.add("A/2.flac", "TITLE=b", "TRACKNUMBER=2", "ARTIST=X")
        try music.add("A/1.flac", "TITLE=c", "TRACKNUMBER=1", "ARTIST=X")
        try music.add("B/1.flac", "TITLE=a", "ARTIST=X")
        try music.scan()
        let database = music.database
        func names(_ paths: [String]) -> [String] { paths.map { String($0.dropFirst(music.path.count + 1)) } }
        #expect(names(try database.paths(inURI: "A")) == ["A/1.flac", "A/2.flac"])
        #expect(names(try database.paths(inURI: "")) == ["A/1.flac", "A/2.flac", "B/1.flac"])
        #expect(names(try database.paths(inURI: "B/1.flac")) == ["B/1.flac"])
        let found = try database.paths(matching: ["artist", "x", "sort", "title", "window", "0:2"], isSearch: true)
        #expect(names(found) == ["B/1.flac", "A/2.flac"])
        #expect(names(try database.paths(matching: ["Artist", "X", "window", "1:"], isSearch: false)).count == 2)
        for uri in ["nope", "A/", "/A", "../music", "A/../B", "tonearm:track/5", "./A"] {
            #expect(throws: MPDFailure(.noSuchObject, "No such directory"), "\(uri)") {
                _ = try database.paths(inURI: uri)
            }
        }
    }

    @Test("Several music folders are folders of the root")
    func roots() throws {
        try music.add("one/A/1.flac", "ALBUM=X")
        try music.add("two/1.flac", "ALBUM=Y")
        try music.add("three/1.flac", "ALBUM=Z")
        try music.scan()
        let folders = ["two", "one"].map { "\(music.path)/\($0)" }
        let database = MPDDatabase(music.index, MusicURIs(folders: folders))
        func lines(_ command: String) -> [String] {
            music.answer(command, database).filter {
                $0.hasPrefix("file") || $0.hasPrefix("dir") || $0.hasPrefix("ACK")
            }
        }
        #expect(lines("lsinfo") == ["directory: one", "directory: two"])
        #expect(
            lines("listall") == [
                "directory: one", "directory: one/A", "file: one/A/1.flac", "directory: two", "file: two/1.flac",
            ])
        #expect(lines("lsinfo one") == ["directory: one/A"])
        #expect(lines("find album Y") == ["file: two/1.flac"])
        #expect(lines("find album Z") == [])
        #expect(lines("lsinfo three") == ["ACK [50@0] {lsinfo} No such directory"])
        #expect(lines("listfiles two") == ["file: 1.flac"])
    }

    @Test("Songs of the queue are the same in any order: in that of their folder, with gaps, twice, and among others")
    func queueInAnyOrder() throws {
        for folder in ["A", "B"] {
            for number in 1...4 { try music.add("\(folder)/\(number).flac", "TITLE=\(folder)\(number)") }
        }
        try music.scan()
        let names = [
            "A/1", "A/2", "A/3", "A/4", "B/4", "B/3", "B/2", "A/2", "A/2", "A/4", "A/5", "A/3", "A/4", "B/1", "A/1",
            "B/2", "B/3", "B/4", "C/1", "B/4",
        ]
        var found: [String] = []
        try music.database.forEachSong(at: names.map { "\(music.path)/\($0).flac" }) { place, song in
            #expect(place == found.count)
            let title = song.values(of: .title, or: []).first.map { String(decoding: $0, as: UTF8.self) }
            found.append("\(String(decoding: song.uri, as: UTF8.self)) \(title ?? "-")")
        }
        #expect(
            found
                == names.map {
                    "\($0).flac \(["A/5", "C/1"].contains($0) ? "-" : $0.replacingOccurrences(of: "/", with: ""))"
                })
    }

    @Test("Many songs come in pieces, in the order of their folders, and a sorted window of them")
    func pieces() throws {
        try music.add("0.flac", "TITLE=t", "ARTIST=\(String(repeating: "a", count: 300))")
        let file = try Data(contentsOf: URL(fileURLWithPath: "\(music.path)/0.flac"))
        for number in 1..<600 { try music.write(file, to: "f\(number % 7)/\(number).flac") }
        try music.scan()
        let pages = try music.database.answer(to: "listallinfo", [])
        var pieces: [Int] = []
        while let piece = try pages.next() { pieces.append(piece.count) }
        #expect(pieces.count > 3 && pieces.max() ?? 0 < 72_000)
        #expect(music.found("listall").count == 600)
        #expect(music.found("search any t").count == 600)
        #expect(music.found("search any t") == music.found("listall"))
        #expect(music.found("search any t sort title window 10:13") == Array(music.found("listall")[10..<13]))
        #expect(music.answer("list title") == ["Title: t", "OK"])
        #expect(music.answer("count title t") == ["songs: 600", "playtime: 600", "OK"])
    }

    @Test("While a scan runs, new tracks of a cue sheet come before the files of their folder: all are listed")
    func unsorted() throws {
        try music.add("A/x.flac")
        func write(_ tracks: ClosedRange<Int>) throws {
            let parts = tracks.map { "TRACK 0\($0) AUDIO\nTITLE \"\($0)\"\nINDEX 01 00:00:\($0)0\n" }
            try music.write(Data(("FILE \"x.flac\" WAVE\n" + parts.joined()).utf8), to: "A/x.cue")
        }
        try write(1...1)
        for number in 1...3 { try music.add("A/\(number).flac") }
        try music.scan()
        try write(1...2)
        _ = try MusicScan(index: music.index, scope: .tree(music.path), rules: .player, root: music.path).run()
        let first = try music.index.read { (index) throws(DatabaseError) -> Int64? in
            var tracks = try index.folderCursor()
            try tracks.begin(inFolder: try index.folder(at: "\(music.path)/A")?.id ?? 0, after: TrackCursor.Place())
            return try tracks.next() ? tracks.part : nil
        }
        #expect(first == 2)
        let commands = ["listall", "listallinfo", "lsinfo A"]
        let unsorted = commands.map { music.answer($0) }
        #expect(unsorted.allSatisfy { answer in (1...3).allSatisfy { answer.contains("file: A/\($0).flac") } })
        try MusicScan.finish(music.index)
        #expect(commands.map { music.answer($0) } == unsorted)
    }

    @Test("A song with many values of many tags has no more than a thousand combinations of them")
    func combinations() throws {
        let values = (10..<40).map { "\($0)" }
        let tags = ["ARTIST", "GENRE", "COMPOSER", "PERFORMER"].flatMap { name in values.map { "\(name)=\($0)" } }
        try music.add("1.flac", options: tags.map { "--tag=\($0)" })
        try music.scan()
        #expect(music.answer("list artist").count == 31)
        #expect(music.answer("list artist group genre").filter { $0.hasPrefix("Artist") }.count == 900)
        let all = music.answer("list artist group genre group composer group performer")
        #expect(all.filter { $0.hasPrefix("Artist") }.count == 1000 && all.last == "OK")
    }

    @Test("A picture in the file, and one in the folder, are read in parts")
    func pictures() throws {
        let picture = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + (0..<9000).map { UInt8($0 % 251) })
        try music.write(picture, to: "A/Folder.PNG")
        try music.add(
            "A/1.flac", "TITLE=a", options: ["--picture", "3|image/png||2x2x24|\(music.path)/A/Folder.PNG"])
        try music.add("B/1.flac")
        try music.scan()
        func bytes(_ picture: MusicPicture) throws -> Data {
            var data = Data()
            while Int64(data.count) < picture.size { data += try picture.read(at: Int64(data.count), count: 1000) }
            #expect(try picture.read(at: picture.size, count: 10).isEmpty)
            return data
        }
        let database = music.database
        let embedded = try #require(try database.picture("A/1.flac", embedded: true))
        #expect(embedded.mediaType == "image/png")
        #expect(try bytes(embedded) == picture)
        let cover = try #require(try database.picture("A/anything", embedded: false))
        #expect(cover.mediaType == nil)
        #expect(try bytes(cover) == picture)
        #expect(try database.picture("B/1.flac", embedded: true) == nil)
        for uri in ["B/1.flac", "nope/x", "../music/A/x", "/etc/passwd", "", "A"] {
            #expect(try database.picture(uri, embedded: false) == nil, "\(uri)")
        }
        for uri in ["nope", "A", "../music/A/1.flac", "/etc/passwd", ""] {
            #expect(throws: MPDFailure(.noSuchObject, "No such song"), "\(uri)") {
                _ = try database.picture(uri, embedded: true)
            }
        }
        // The offset in the index is that of the former content.
        try music.add("A/1.flac", "TITLE=other")
        #expect(try database.picture("A/1.flac", embedded: true) == nil)
    }

    @Test("Covers and lists of files follow no link out of the music folders, and a cover is a picture by its content")
    func links() throws {
        let picture = Data([0xFF, 0xD8, 0xFF, 0xE0]) + Data(count: 100)
        try FileManager.default.createDirectory(atPath: music.scratch["out"], withIntermediateDirectories: true)
        for name in ["cover.jpg", "secret"] {
            try picture.write(to: URL(fileURLWithPath: music.scratch["out/\(name)"]))
        }
        func link(_ name: String, to target: String) throws {
            try FileManager.default.createSymbolicLink(
                atPath: "\(music.path)/\(name)", withDestinationPath: target)
        }
        for folder in ["A", "B", "C"] { try music.add("\(folder)/1.flac") }
        try link("A/cover.png", to: music.scratch["out/secret"])
        try music.write(picture, to: "A/folder.jpg")
        try music.write(Data("no picture".utf8), to: "B/cover.jpg")
        try link("C/cover.jpg", to: "../A/folder.jpg")
        try link("D", to: music.scratch["out"])
        let database = music.database
        #expect(try database.picture("A/1.flac", embedded: false)?.path == "\(music.path)/A/folder.jpg")
        #expect(try database.picture("B/1.flac", embedded: false) == nil)
        #expect(try database.picture("C/1.flac", embedded: false)?.path == "\(music.path)/C/cover.jpg")
        #expect(try database.picture("D/1.flac", embedded: false) == nil)
        func files(_ uri: String) -> [String] {
            music.answer("listfiles \(uri)").filter { $0.hasPrefix("file") || $0.hasPrefix("dir") || $0.hasPrefix("A") }
        }
        #expect(files("D") == ["ACK [50@0] {listfiles} No such directory"])
        #expect(files("A") == ["file: 1.flac", "file: folder.jpg"])
        #expect(files("C") == ["file: 1.flac", "file: cover.jpg"])
        #expect(files("\"\"") == ["directory: A", "directory: B", "directory: C"])
        // A client of the network may name what lies in the folders.
        let folders = MusicFolders(paths: [music.path])
        #expect(folders.contains("\(music.path)/A/1.flac") && folders.contains("\(music.path)/none.flac"))
        #expect(!folders.contains("\(music.path)/D/cover.jpg") && !folders.contains("\(music.path)/A/cover.png"))
    }

    @Test("Stickers move to another URI; one that is there already stays")
    func movedStickers() throws {
        let database = try Database.inMemory()
        try database.migrate([MPDStickerRows.schema])
        let rows = MPDStickerRows(database)
        for (uri, name) in [("a", "rating"), ("a", "mood"), ("b", "rating")] {
            #expect(try rows.set(MPDStickerRows.Sticker(uri: uri, name: name, value: uri)))
        }
        #expect(try rows.uris(after: "", limit: 9) == ["a", "b"] && rows.uris(after: "", limit: 1) == ["a"])
        #expect(try rows.uris(after: "a", limit: 9) == ["b"] && rows.uris(after: "b", limit: 9) == [])
        try rows.move([(former: "a", present: "b")])
        #expect(try rows.all(of: "b").map { "\($0.name)=\($0.value)" } == ["mood=a", "rating=b"])
        #expect(try rows.all(of: "a").map(\.name) == ["rating"])
    }

    @Test("Tags that a client does not want are left out")
    func tags() throws {
        try music.add("1.flac", "TITLE=a", "ALBUM=b", "MUSICBRAINZ_ALBUMID=11111111-1111-4111-8111-111111111111")
        try music.scan()
        let database = MPDDatabase(music.index, music.database.paths, tags: MPDTags(.album))
        let lines = music.answer("find title a", database).filter { !$0.hasPrefix("Last-Modified") }
        #expect(lines == ["file: 1.flac", "Format: 44100:16:2", "Album: b", "Time: 1", "duration: 1.000", "OK"])
        #expect(
            music.answer("readcomments 1.flac") == [
                "Album: b", "Title: a", "MUSICBRAINZ_ALBUMID: 11111111-1111-4111-8111-111111111111", "OK",
            ])
    }

    @Test("Statistics")
    func statistics() throws {
        try music.add("1.flac", "ARTIST=A", "ALBUM=X")
        try music.add("2.flac", "ARTIST=B", "ARTIST=A", "ALBUM=X", frames: 88_200)
        try music.add("o/3.flac", "ARTIST=C", "ALBUM=X")
        try music.scan()
        var statistics = try music.database.statistics()
        #expect(statistics.updated > 1_700_000_000)
        statistics.updated = 0
        #expect(statistics == MPDStatistics(artists: 3, albums: 1, songs: 3, playtime: 4))
    }
}
