import Database

// Every list is read along an index, so that the cost of a page depends on its entries and not on the index. `OFFSET`
// skips along the index, too.

/// A list of the catalogue: the query that counts it, and the query of a page.
struct CatalogueQuery: Sendable {
    /// Returns one number.
    let count: String
    /// Ends in LIMIT ? OFFSET ?.
    let page: String

    private static let albumColumns = "album.id, album.title, album.artist, album.track_count"

    static let tracks = CatalogueQuery(
        count: "SELECT count(*) FROM track WHERE is_present = 1",
        // Only the numbers are skipped, in a narrow index, and not the rows.
        page: "id IN (SELECT id FROM track WHERE is_present = 1 ORDER BY id LIMIT ? OFFSET ?) ORDER BY id")
    static let album = CatalogueQuery(
        count: "SELECT count(*) FROM track WHERE album_id = ? AND is_present = 1",
        page: "album_id = ? AND is_present = 1 ORDER BY disc_number, track_number, path LIMIT ? OFFSET ?")
    static let playlist = CatalogueQuery(
        count: """
            SELECT count(*) FROM playlist_entry AS entry
            CROSS JOIN track ON track.path = entry.path AND is_present = 1 WHERE playlist = ?
            """,
        page: """
            SELECT track.id FROM playlist_entry AS entry
            CROSS JOIN track ON track.path = entry.path AND is_present = 1 WHERE playlist = ?
            ORDER BY position LIMIT ? OFFSET ?
            """)
    static let foundTracks = CatalogueQuery(
        count: "SELECT count(*) FROM track_words WHERE track_words MATCH ?",
        page: "SELECT rowid FROM track_words WHERE track_words MATCH ? ORDER BY rank LIMIT ? OFFSET ?")

    static let albums = CatalogueQuery(
        count: "SELECT count(*) FROM album WHERE track_count > 0",
        page: """
            SELECT \(albumColumns) FROM album WHERE track_count > 0
            ORDER BY artist COLLATE NOCASE, title COLLATE NOCASE, id LIMIT ? OFFSET ?
            """)
    static let oneAlbum = "SELECT \(albumColumns) FROM album WHERE id = ? AND track_count > 0"
    static let foundAlbums = CatalogueQuery(
        count: "SELECT count(*) FROM album_words WHERE album_words MATCH ?",
        page: """
            SELECT \(albumColumns) FROM album_words CROSS JOIN album ON album.id = album_words.rowid
            WHERE album_words MATCH ? ORDER BY rank LIMIT ? OFFSET ?
            """)

    static let playlists = CatalogueQuery(
        count: "SELECT count(*) FROM playlist WHERE is_present = 1",
        page: """
            SELECT id, title FROM playlist WHERE is_present = 1
            ORDER BY title COLLATE NOCASE, id LIMIT ? OFFSET ?
            """)
    static let onePlaylist = "SELECT id, title FROM playlist WHERE id = ? AND is_present = 1"
    static let foundPlaylists = CatalogueQuery(
        count: "SELECT count(*) FROM playlist_words WHERE playlist_words MATCH ?",
        page: """
            SELECT rowid, title FROM playlist_words WHERE playlist_words MATCH ? ORDER BY rank LIMIT ? OFFSET ?
            """)
}

extension MusicIndex {
    func tracks(_ page: CataloguePage) throws(DatabaseError) -> CatalogueList<Track> {
        CatalogueList(
            total: try count(.tracks, []),
            entries: try tracks("WHERE \(CatalogueQuery.tracks.page)", Self.values([], page)))
    }

    func tracks(ofAlbum id: Int64, _ page: CataloguePage) throws(DatabaseError) -> CatalogueList<Track> {
        CatalogueList(
            total: try count(.album, [.integer(id)]),
            entries: try tracks("WHERE \(CatalogueQuery.album.page)", Self.values([.integer(id)], page)))
    }

    func tracks(ofPlaylist id: Int64, _ page: CataloguePage) throws(DatabaseError) -> CatalogueList<Track> {
        try tracks(.playlist, .integer(id), page)
    }

    func tracks(matching words: SearchWords, _ page: CataloguePage) throws(DatabaseError) -> CatalogueList<Track> {
        try tracks(.foundTracks, .text(words.query), page)
    }

    /// Returns the tracks with the numbers of a query, in its order.
    private func tracks(
        _ query: CatalogueQuery, _ value: DatabaseValue, _ page: CataloguePage
    ) throws(DatabaseError) -> CatalogueList<Track> {
        let numbers = try rows(query.page, Self.values([value], page)) { $0.integer(0) }
        var entries: [Track] = []
        for number in numbers { if let track = try track(number) { entries.append(track) } }
        return CatalogueList(total: try count(query, [value]), entries: entries)
    }

    func albums(_ page: CataloguePage) throws(DatabaseError) -> CatalogueList<Album> {
        CatalogueList(
            total: try count(.albums, []),
            entries: try rows(CatalogueQuery.albums.page, Self.values([], page), Self.album))
    }

    func albums(matching words: SearchWords, _ page: CataloguePage) throws(DatabaseError) -> CatalogueList<Album> {
        let value = DatabaseValue.text(words.query)
        return CatalogueList(
            total: try count(.foundAlbums, [value]),
            entries: try rows(CatalogueQuery.foundAlbums.page, Self.values([value], page), Self.album))
    }

    func album(_ id: Int64) throws(DatabaseError) -> Album? {
        try rows(CatalogueQuery.oneAlbum, [.integer(id)], Self.album).first
    }

    func playlists(_ page: CataloguePage) throws(DatabaseError) -> CatalogueList<Playlist> {
        try playlists(.playlists, [], page)
    }

    func playlists(
        matching words: SearchWords, _ page: CataloguePage
    ) throws(DatabaseError) -> CatalogueList<Playlist> {
        try playlists(.foundPlaylists, [.text(words.query)], page)
    }

    private func playlists(
        _ query: CatalogueQuery, _ values: [DatabaseValue], _ page: CataloguePage
    ) throws(DatabaseError) -> CatalogueList<Playlist> {
        CatalogueList(
            total: try count(query, values), entries: try playlists(query.page, Self.values(values, page)))
    }

    func playlist(_ id: Int64) throws(DatabaseError) -> Playlist? {
        try playlists(CatalogueQuery.onePlaylist, [.integer(id)]).first
    }

    private func playlists(_ sql: String, _ values: [DatabaseValue]) throws(DatabaseError) -> [Playlist] {
        var playlists = try rows(sql, values) { row in
            row.integer(0).map { Playlist(id: $0, title: row.text(1) ?? "", trackCount: 0) }
        }
        for index in playlists.indices {
            playlists[index].trackCount = try count(.playlist, [.integer(playlists[index].id)])
        }
        return playlists
    }

    // MARK: Rows

    private static func values(_ values: [DatabaseValue], _ page: CataloguePage) -> [DatabaseValue] {
        values + [.integer(page.limit), .integer(page.offset)]
    }

    private static func album(_ row: borrowing Statement) -> Album? {
        guard let id = row.integer(0), let title = row.text(1) else { return nil }
        return Album(id: id, title: title, artist: row.text(2) ?? "", trackCount: row.integer(3) ?? 0)
    }

    private func count(_ query: CatalogueQuery, _ values: [DatabaseValue]) throws(DatabaseError) -> Int64 {
        try rows(query.count, values) { $0.integer(0) }.first ?? 0
    }

    private func rows<Row>(
        _ sql: String, _ values: [DatabaseValue], _ row: (borrowing Statement) -> Row?
    ) throws(DatabaseError) -> [Row] {
        try read { (database) throws(DatabaseError) in
            var statement = try database.prepare(sql)
            try statement.bind(values)
            var rows: [Row] = []
            while try statement.step() { if let row = row(statement) { rows.append(row) } }
            return rows
        }
    }
}
