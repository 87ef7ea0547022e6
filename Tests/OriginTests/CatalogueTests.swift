import Database
import Foundation
import Platform
import TestSupport
import Testing

@testable import OriginService

@Suite("The origin's catalogue")
struct CatalogueTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
    }

    /// - Parameter tags: `NAME=value`.
    private func add(_ name: String, _ tags: String...) throws {
        let path = folder["music/\(name)"]
        try FileManager.default.createDirectory(
            atPath: Folder.containing(path), withIntermediateDirectories: true)
        try Music(frames: 5000).writeFLAC(to: path, tags.map { "--tag=\($0)" })
    }

    private func start() throws -> RunningOrigin { try RunningOrigin(folder["music"], state: folder["state"]) }

    private func get(_ origin: RunningOrigin, _ path: String) throws -> JSONValue {
        let answer = try Fetched(origin.address + "/v1/" + path)
        guard answer.status == 200 else { throw Unexpected("\(path): \(answer.status) \(answer.text)") }
        return try answer.json()
    }

    private func titles(_ origin: RunningOrigin, _ path: String) throws -> [String] {
        try #require(try get(origin, path)["items"]?.elements).map { $0["title"]?.string ?? "?" }
    }

    @Test("An album is in the order of discs and tracks, in whatever folders they lie")
    func albums() throws {
        let album = ["ALBUM=Works", "ALBUMARTIST=Anna", "ARTIST=Anna with Bob"]
        try add("2/x.flac", album[0], album[1], album[2], "TITLE=Fourth", "DISCNUMBER=2", "TRACKNUMBER=1")
        try add("1/c.flac", album[0], album[1], "TITLE=First", "DISCNUMBER=1", "TRACKNUMBER=1")
        try add("1/b.flac", album[0], album[1], "TITLE=Second", "DISCNUMBER=1", "TRACKNUMBER=2")
        try add("1/a.flac", album[0], album[1], "TITLE=Third", "DISCNUMBER=1", "TRACKNUMBER=10")
        try add("other/a.flac", album[0], "ARTIST=Zoe", "TITLE=Else")
        try add("mixed/a.flac", "ALBUM=Mix", "ARTIST=A", "TITLE=1")
        try add("mixed/b.flac", "ALBUM=Mix", "ARTIST=B", "TITLE=2")
        let origin = try start()
        let albums = try get(origin, "albums")
        #expect(albums["totalNumberOfItems"]?.integer == 3)
        let items = try #require(albums["items"]?.elements)
        #expect(items.map { $0["artist"]?.string } == [nil, "Anna", "Zoe"])
        #expect(items.map { $0["title"]?.string } == ["Mix", "Works", "Works"])
        #expect(items.map { $0["numberOfTracks"]?.integer } == [2, 4, 1])
        let id = try #require(items[1]["id"]?.integer)
        #expect(try get(origin, "albums/\(id)") == items[1])
        #expect(try titles(origin, "albums/\(id)/tracks") == ["First", "Second", "Third", "Fourth"])
        #expect(try titles(origin, "albums/\(id)/tracks?limit=2&offset=1") == ["Second", "Third"])
    }

    @Test("A track says what a person chooses it by")
    func track() throws {
        try add(
            "a.flac", "TITLE=Song", "ARTIST=Anna", "ALBUM=Works", "ALBUMARTIST=All", "TRACKNUMBER=3", "DISCNUMBER=2")
        try add("no tags.flac")
        let origin = try start()
        let track = try get(origin, "tracks/1")
        #expect(
            track == [
                "id": 1, "title": "Song", "artist": "Anna",
                "album": ["id": 1, "title": "Works", "artist": "All"], "trackNumber": 3, "discNumber": 2,
                "duration": .real(5000.0 / 44_100), "audioQuality": "LOSSLESS", "sampleRate": 44_100, "bitDepth": 16,
                "channels": 2,
            ])
        #expect(try get(origin, "tracks/2")["title"]?.string == "no tags")
        #expect(try titles(origin, "tracks") == ["Song", "no tags"])
        #expect(try titles(origin, "tracks?offset=5") == [])
    }

    @Test("Albums and their tracks name a cover, which is the picture of a track, or else of the folder")
    func covers() throws {
        let pictures: [[UInt8]] = [[0xFF, 0xD8, 0xFF, 1, 2, 3], [0x89, 0x50, 0x4E, 0x47, 1, 2, 3, 4]]
        for (index, picture) in pictures.enumerated() {
            try Data(picture).write(to: URL(fileURLWithPath: folder["picture\(index)"]))
        }
        try add("a/1.flac", "ALBUM=A", "TITLE=1")
        try FileManager.default.createDirectory(atPath: folder["music/b"], withIntermediateDirectories: true)
        try Music(frames: 5000).writeFLAC(
            to: folder["music/b/2.flac"],
            ["--tag=ALBUM=B", "--tag=TITLE=2", "--picture=3|image/jpeg||1x1x24|\(folder["picture0"])"])
        try add("c/3.flac", "ALBUM=C", "TITLE=3")
        try FileManager.default.copyItem(atPath: folder["picture1"], toPath: folder["music/a/folder.png"])
        try Data("no picture".utf8).write(to: URL(fileURLWithPath: folder["music/c/cover.jpg"]))
        let origin = try RunningOrigin(folder["music"], state: folder["state"], "--token", "secret")
        func fetch(_ path: String, _ more: String = "X-None: 1") throws -> Fetched {
            try Fetched(origin.address + "/" + path, "-H", "Authorization: Bearer secret", "-H", more)
        }
        let albums = try #require(try fetch("v1/albums").json()["items"]?.elements)
        let covers = albums.map { $0["cover"]?.string }
        #expect(covers == ["v1/albums/\(albums[0]["id"]?.integer ?? 0)/cover", covers[1], nil] && covers[1] != nil)
        let tracks = try #require(try fetch("v1/tracks").json()["items"]?.elements)
        #expect(Set(tracks.map { $0["album"]?["cover"]?.string }) == Set(covers))
        for (cover, (picture, type)) in zip(covers, [(pictures[1], "image/png"), (pictures[0], "image/jpeg")]) {
            let path = try #require(cover)
            let answer = try fetch(path)
            #expect(answer.status == 200 && answer.body == picture && answer.headers["content-type"] == type)
            #expect(answer.headers["content-length"] == "\(picture.count)")
            #expect(answer.headers["cache-control"] == "private, max-age=3600")
            let tag = try #require(answer.headers["etag"])
            #expect(try fetch(path, "If-None-Match: \(tag)").status == 304)
            #expect(
                try Fetched(origin.address + "/" + path).status == 401, "it needs the token as all of the catalogue")
        }
        for path in ["v1/albums/\(albums[2]["id"]?.integer ?? 0)/cover", "v1/albums/99/cover", "v1/albums/x/cover"] {
            #expect(try fetch(path).status == 404, "\(path)")
        }
    }

    @Test("Playlists name files by relative, absolute and escaped paths, in their order")
    func playlists() throws {
        try add("in/a.flac", "TITLE=A")
        try add("b b.flac", "TITLE=B")
        try add("c.flac", "TITLE=C")
        let list = """
            #EXTM3U
            #PLAYLIST:Evening
            #EXTINF:1,x
            ../c.flac
            \(folder["music"])/in/a.flac
            file://\(folder["music"])/b%20b.flac
            missing.flac
            https://example.org/stream
            a.flac
            """
        try Data(list.utf8).write(to: URL(fileURLWithPath: folder["music/in/list.m3u8"]))
        let origin = try start()
        let playlists = try get(origin, "playlists")
        #expect(playlists["items"] == [["id": 1, "title": "Evening", "numberOfTracks": 4]])
        #expect(try get(origin, "playlists/1")["title"]?.string == "Evening")
        #expect(try titles(origin, "playlists/1/tracks") == ["C", "A", "B", "A"])
        #expect(try titles(origin, "playlists/1/tracks?limit=1&offset=2") == ["B"])
    }

    @Test(
        "Search finds the beginnings of words, without accents and case, in titles, artists and albums",
        arguments: [
            ("brot", ["Das Brötchen"]), ("ANNA", ["Das Brötchen", "Song"]), ("works", ["Song"]), ("son an", ["Song"]),
            ("zzz", []), ("-song", ["Song"]), ("\"song", ["Song"]), ("song OR brot", []), ("!! song", ["Song"]),
            ("!", []),
        ])
    func search(words: String, found: [String]) throws {
        try add("a.flac", "TITLE=Das Brötchen", "ARTIST=Anna")
        try add("b.flac", "TITLE=Song", "ARTIST=Änna", "ALBUM=Works")
        let origin = try start()
        let json = try get(origin, "search?query=\(FormText.escaped(words))")
        let titles = try #require(json["tracks"]?["items"]?.elements).compactMap { $0["title"]?.string }
        #expect(titles.sorted() == found.sorted())
        #expect(json["tracks"]?["totalNumberOfItems"]?.integer == Int64(found.count))
        #expect((json["albums"]?["items"]?.elements?.isEmpty == false) == ["works", "ANNA"].contains(words))
        #expect(json["playlists"]?["items"]?.elements?.isEmpty == true)
    }

    @Test(
        "Requests that are refused",
        arguments: [
            ("search", 400), ("search?query=%20", 400), ("search?query=a&types=x", 400), ("tracks?limit=0", 400),
            ("tracks?limit=201", 400), ("albums?offset=-1", 400), ("albums/9", 404), ("albums/x/tracks", 404),
            ("playlists/1", 404), ("tracks/2", 404), ("tracks/1/x", 404), ("nothing", 404),
        ])
    func refusals(path: String, status: Int) throws {
        try add("a.flac")
        let origin = try start()
        let answer = try Fetched("\(origin.address)/v1/\(path)")
        #expect(answer.status == status)
        #expect(try answer.json()["status"]?.integer == Int64(status))
    }

    @Test("A list is fetched again only when it has changed")
    func entityTag() throws {
        try add("a.flac", "ALBUM=One")
        var origin = try start()
        let first = try Fetched("\(origin.address)/v1/albums")
        let tag = try #require(first.headers["etag"])
        let again = try Fetched("\(origin.address)/v1/albums", "-H", "If-None-Match: \(tag)")
        #expect(again.status == 304 && again.body.isEmpty)
        try origin.end()
        try add("b.flac", "ALBUM=Two")
        origin = try start()
        let changed = try Fetched("\(origin.address)/v1/albums", "-H", "If-None-Match: \(tag)")
        #expect(changed.status == 200 && changed.headers["etag"] != tag)
    }

    @Test("A missing track is not listed or found, and has its numbers when it comes back")
    func numbers() throws {
        try add("a.flac", "TITLE=Song", "ALBUM=Works")
        try Data("a.flac\n".utf8).write(to: URL(fileURLWithPath: folder["music/l.m3u8"]))
        func all(_ origin: RunningOrigin) throws -> [JSONValue] {
            [
                try get(origin, "albums"), try get(origin, "tracks"), try get(origin, "playlists"),
                try get(origin, "search?query=song"), try get(origin, "search?query=works"),
            ]
        }
        var origin = try start()
        let before = try all(origin)
        #expect(before.prefix(3).allSatisfy { $0["totalNumberOfItems"]?.integer == 1 })
        try origin.end()
        try FileManager.default.moveItem(atPath: folder["music"], toPath: folder["away"])
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        origin = try start()
        let without = try all(origin)
        #expect(without.prefix(3).allSatisfy { $0["totalNumberOfItems"]?.integer == 0 })
        #expect(without.dropFirst(3).allSatisfy { $0["tracks"]?["items"] == [] && $0["albums"]?["items"] == [] })
        try origin.end()
        try FileManager.default.removeItem(atPath: folder["music"])
        try FileManager.default.moveItem(atPath: folder["away"], toPath: folder["music"])
        origin = try start()
        #expect(try all(origin) == before)
    }

    @Test("With a token, the catalogue needs it")
    func token() throws {
        try add("a.flac")
        let origin = try RunningOrigin(folder["music"], state: folder["state"], "--token", "secret")
        #expect(try Fetched("\(origin.address)/v1/search?query=a").status == 401)
        #expect(try Fetched("\(origin.address)/v1/tracks/1").status == 401)
        #expect(try Fetched("\(origin.address)/v1/tracks/1", "-H", "Authorization: Bearer secret").status == 200)
    }
}
