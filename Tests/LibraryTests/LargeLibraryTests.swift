import Database
import TestSupport
import Testing

@testable import Library

@Suite("A library of 100,000 tracks")
struct LargeLibraryTests {
    private static let trackCount: Int64 = 100_000

    /// Tracks 1 to 100,000 in albums of ten, and a playlist of all.
    private func index(in folder: ScratchFolder) throws -> MusicIndex {
        let index = try MusicIndex(folder["library.db"])
        try index.write { (database) throws(DatabaseError) in
            try database.execute(
                script: """
                    CREATE TEMP TABLE number (n INTEGER PRIMARY KEY);
                    WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < \(Self.trackCount))
                        INSERT INTO number SELECT n FROM c;
                    INSERT INTO folder (id, path) VALUES (1, '/music');
                    INSERT INTO album (id, grouped_by, title, folder, artist, track_count)
                        SELECT n, 'artist:Artist ' || n % 700, 'Album ' || n, '', 'Artist ' || n % 700, 10 FROM number
                        WHERE n <= \(Self.trackCount / 10);
                    INSERT INTO track (folder, file, size, modified, inode, is_present, content, added, container,
                        codec, sample_rate, channels, bit_depth, name, is_titled, artist, album, track_number,
                        album_id, folded)
                        SELECT 1, n || '.flac', 1, 1, 1, 1, n, 1, 0, 0, 44100, 2, 16, 'Title ' || n, 1, 'Artist',
                        'Album ' || ((n - 1) / 10 + 1), (n - 1) % 10 + 1, (n - 1) / 10 + 1, n FROM number;
                    INSERT INTO name (id, kind, text, folded) SELECT n, 2, 'Artist ' || n, 'artist ' || n FROM number
                        WHERE n <= 700;
                    INSERT INTO track_name SELECT n % 700 + 1, n FROM number;
                    INSERT INTO search_block (number) SELECT DISTINCT n / 64 FROM number;
                    INSERT INTO playlist (folder, file, size, modified, inode, is_present, title, folded)
                        VALUES (1, 'all.m3u8', 1, 1, 1, 1, 'All', 'all');
                    INSERT INTO playlist_entry SELECT 1, n, '', n FROM number;
                    """)
            try SearchRows(database).refresh()
        }
        return index
    }

    /// The query plan of SQLite.
    private func plan(_ sql: String, _ index: MusicIndex) throws -> [String] {
        try index.readTables { (database) throws(DatabaseError) in
            var statement = try database.prepare("EXPLAIN QUERY PLAN " + sql)
            var lines: [String] = []
            while try statement.step() { lines.append(statement.text(3) ?? "") }
            return lines
        }
    }

    @Test("Every page is read along an index, without sorting; a search reads blocks, or the names of albums")
    func plans() throws {
        let folder = try ScratchFolder()
        // Plans do not depend on rows.
        let index = try MusicIndex(folder["library.db"])
        let queries = [
            "SELECT \(IndexReader.trackColumns) FROM track \(ListQuery.tracks.page)",
            ListQuery.playlist.page, ListQuery.albums.page, ListQuery.oneAlbum, ListQuery.recentAlbums.page,
            ListQuery.names.page, ListQuery.playlists.page, ListQuery.onePlaylist,
            ListQuery.foundAlbums(try #require(SearchWords("a b"))).page,
        ]
        let place = FilePlace("/a/b")
        let page = ListPage(limit: 1)
        let filters: [TrackFilter] = [
            .id(1), .content(1), .album(1), .albumTitle("a"), .name(1), .text(.artist, "a"), .folder("/a"),
            .file(place, part: 0), .path("/a/b"), .all([.albumTitle("a"), .text(.genre, "b")]),
        ]
        let tracks =
            filters.map { TrackQuery($0) } + [
                TrackQuery(.album(1), order: .album, page: page), TrackQuery(.folder("/a"), order: .file, page: page),
                TrackQuery(.name(1), order: .number, page: page),
                TrackQuery(.content(1), order: .latestFirst, page: page),
                TrackQuery(.album(1), presence: .withHidden), TrackQuery(.file(place, part: 1), presence: .withHidden),
            ]
        let columns = [TrackCursor.columns, IndexReader.trackColumns]
        let selections = tracks.flatMap { query in
            columns.map { "SELECT \($0) FROM track \(query.clauses.text)" } + [query.count.text]
        }
        for query in queries + selections {
            let plan = try plan(query, index)
            #expect(!plan.isEmpty)
            for line in plan where line.hasPrefix("SCAN") || line.contains("TEMP B-TREE") {
                #expect(line.contains(" INDEX "), "\(query): \(plan)")
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
        let last = try index.tracks(ListPage(limit: 200, offset: 99_990))
        #expect(last.total == Self.trackCount)
        #expect(last.entries.map(\.id) == Array(99_991...100_000))
        let albums = try index.albums(ListPage(limit: 50, offset: 9999))
        #expect(albums.total == 10_000 && albums.entries.count == 1)
        let list = try index.tracks(ofPlaylist: 1, ListPage(limit: 1, offset: 50_000))
        #expect(list.entries.map(\.id) == [50_001])
        let found = try index.tracks(matching: try #require(SearchWords("77777 title")), ListPage(limit: 50))
        #expect(found.total == 1 && found.entries.map(\.id) == [77_777])
        let many = try index.tracks(matching: try #require(SearchWords("title")), ListPage(limit: 7, offset: 99_998))
        #expect(many.total == Self.trackCount && many.entries.map(\.id) == [99_999, 100_000])
        let artists = try index.names(.albumArtist, ListPage(limit: 10, offset: 695))
        #expect(artists.total == 700 && artists.entries.count == 5)
        #expect(try index.albums(ofName: 1, ListPage(limit: 200)).total == 142)
    }
}
