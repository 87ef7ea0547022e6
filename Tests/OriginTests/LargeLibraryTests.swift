import Database
import Platform
import TestSupport
import Testing

@testable import OriginService

@Suite("A library of 100,000 tracks")
struct LargeLibraryTests {
    private static let trackCount: Int64 = 100_000

    /// Tracks 1 to 100,000 in albums of ten, and a playlist of all.
    private func index(in folder: ScratchFolder) throws -> MusicIndex {
        let index = try MusicIndex(in: folder[""])
        try index.write { (database) throws(DatabaseError) in
            try database.execute(
                script: """
                    CREATE TEMP TABLE number (n INTEGER PRIMARY KEY);
                    WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < \(Self.trackCount))
                        INSERT INTO number SELECT n FROM c;
                    INSERT INTO album (id, grouped_by, title, artist, track_count)
                        SELECT n, 'artist:Artist ' || n % 700, 'Album ' || n, 'Artist ' || n % 700, 10 FROM number
                        WHERE n <= \(Self.trackCount / 10);
                    INSERT INTO track (path, size, modified, is_present, container, codec, sample_rate, channels,
                        bit_depth, name, title, artist, album, track_number, album_id)
                        SELECT '/music/' || n || '.flac', 1, 1, 1, 'flac', 'flac', 44100, 2, 16, 'Title ' || n,
                        'Title ' || n,
                        'Artist', 'Album ' || ((n - 1) / 10 + 1), (n - 1) % 10 + 1, (n - 1) / 10 + 1 FROM number;
                    INSERT INTO track_words (rowid, name, artist, album) SELECT id, name, artist, album FROM track;
                    INSERT INTO album_words (rowid, title, artist) SELECT id, title, artist FROM album;
                    INSERT INTO playlist (path, size, modified, is_present, title)
                        VALUES ('/music/all.m3u8', 1, 1, 1, 'All');
                    INSERT INTO playlist_entry SELECT 1, n, '/music/' || n || '.flac' FROM number;
                    """)
        }
        return index
    }

    /// The query plan of SQLite.
    private func plan(_ sql: String, _ index: MusicIndex) throws -> [String] {
        try index.read { (database) throws(DatabaseError) in
            var statement = try database.prepare("EXPLAIN QUERY PLAN " + sql)
            var lines: [String] = []
            while try statement.step() { lines.append(statement.text(3) ?? "") }
            return lines
        }
    }

    @Test("Every page is read along an index, without sorting")
    func plans() throws {
        let folder = try ScratchFolder()
        let index = try index(in: folder)
        let queries = [
            "SELECT \(MusicIndex.columns) FROM track WHERE \(CatalogueQuery.tracks.page)",
            "SELECT \(MusicIndex.columns) FROM track WHERE \(CatalogueQuery.album.page)",
            "SELECT \(MusicIndex.columns) FROM track WHERE id = ? AND is_present",
            CatalogueQuery.playlist.page, CatalogueQuery.foundTracks.page, CatalogueQuery.albums.page,
            CatalogueQuery.oneAlbum, CatalogueQuery.foundAlbums.page, CatalogueQuery.playlists.page,
            CatalogueQuery.onePlaylist, CatalogueQuery.foundPlaylists.page,
        ]
        for query in queries {
            let plan = try plan(query, index)
            #expect(!plan.isEmpty)
            for line in plan where line.hasPrefix("SCAN") || line.contains("TEMP B-TREE") {
                #expect(line.contains("USING INDEX") || line.contains("VIRTUAL TABLE INDEX"), "\(query): \(plan)")
            }
            // An index that would have to be searched from its start for each row has no `=`.
            for line in plan where line.hasPrefix("SEARCH") { #expect(line.contains("=?"), "\(query): \(plan)") }
        }
        // The test can detect a scan.
        #expect(
            try plan("SELECT * FROM track ORDER BY artist", index) == ["SCAN track", "USE TEMP B-TREE FOR ORDER BY"])
    }

    @Test("The first and the last page of each list, and what is found")
    func pages() throws {
        let folder = try ScratchFolder()
        let index = try index(in: folder)
        let routes = CatalogueRoutes(index: index)
        func get(_ path: String, _ query: [String: String] = [:]) throws -> JSONValue {
            let request = HTTPRequest(path: path, query: query)
            let answer = try #require(try routes.answer(to: request, request.components[...]))
            return try JSONValue.parse(try answer.body.bytes())
        }
        let last = try get("tracks", ["offset": "99990", "limit": "200"])
        #expect(last["totalNumberOfItems"]?.integer == Self.trackCount)
        #expect(last["items"]?.elements?.map { $0["id"]?.integer } == (99_991...100_000).map { $0 })
        let albums = try get("albums", ["offset": "9999"])
        #expect(albums["totalNumberOfItems"]?.integer == 10_000 && albums["items"]?.elements?.count == 1)
        let list = try get("playlists/1/tracks", ["offset": "50000", "limit": "1"])
        #expect(list["items"]?[0]?["id"]?.integer == 50_001)
        let found = try get("search", ["query": "title 77777"])
        #expect(found["tracks"]?["items"]?[0]?["id"]?.integer == 77_777)
        let many = try get("search", ["query": "title", "limit": "7", "types": "tracks"])
        #expect(many["tracks"]?["totalNumberOfItems"]?.integer == Self.trackCount)
        #expect(many["tracks"]?["items"]?.elements?.count == 7 && many["albums"] == nil)
    }
}
