import Database

// Lists with many entries are read along an index of SQLite, so that the cost of a page depends on its entries.
// `OFFSET` also skips along the index.

/// A list of the library: the query that counts it, and the query of a page.
struct ListQuery: Sendable {
    /// Returns one number.
    let count: String
    /// The query of a page, which ends in LIMIT ? OFFSET ?.
    let page: String

    fileprivate static let albumColumns = "id, title, artist, track_count, disc_count, date"

    static let tracks = ListQuery(
        count: "SELECT count(*) FROM track WHERE is_present = 1",
        // Skips only numbers in a narrow index, and not rows.
        page: "WHERE id IN (SELECT id FROM track WHERE is_present = 1 ORDER BY id LIMIT ? OFFSET ?) ORDER BY id")
    static let playlist = ListQuery(
        count: """
            SELECT count(*) FROM playlist_entry AS entry
            CROSS JOIN track ON track.id = entry.track AND is_present > 0 WHERE playlist = ?
            """,
        page: """
            SELECT track.id FROM playlist_entry AS entry
            CROSS JOIN track ON track.id = entry.track AND is_present > 0 WHERE playlist = ?
            ORDER BY position LIMIT ? OFFSET ?
            """)

    static let albums = ListQuery(
        count: "SELECT count(*) FROM album WHERE track_count > 0",
        page: """
            SELECT \(albumColumns) FROM album WHERE track_count > 0
            ORDER BY artist COLLATE NOCASE, title COLLATE NOCASE, id LIMIT ? OFFSET ?
            """)
    static let oneAlbum = "SELECT \(albumColumns) FROM album WHERE id = ? AND track_count > 0"
    static let recentAlbums = ListQuery(
        count: albums.count,
        page: """
            SELECT \(albumColumns) FROM album WHERE track_count > 0
            ORDER BY added DESC, id DESC LIMIT ? OFFSET ?
            """)
    static let albumsOfName = ListQuery(
        count: "SELECT count(*) FROM album WHERE \(isOfName)",
        page: """
            SELECT \(albumColumns) FROM album WHERE \(isOfName)
            ORDER BY date, title COLLATE NOCASE, id LIMIT ? OFFSET ?
            """)
    private static let isOfName = """
        id IN (SELECT album_id FROM track_name CROSS JOIN track ON track.id = track_name.track AND is_present = 1
            WHERE track_name.name = ?)
        """

    static let names = ListQuery(
        count: "SELECT count(*) FROM name WHERE kind = ? AND \(hasTracks)",
        page: "SELECT id, text FROM name WHERE kind = ? AND \(hasTracks) ORDER BY folded LIMIT ? OFFSET ?")
    fileprivate static let hasTracks = """
        EXISTS (SELECT 1 FROM track_name CROSS JOIN track ON track.id = track_name.track AND is_present = 1
            WHERE track_name.name = name.id)
        """

    static let playlists = ListQuery(
        count: "SELECT count(*) FROM playlist WHERE is_present = 1",
        page: """
            SELECT id, title FROM playlist WHERE is_present = 1
            ORDER BY title COLLATE NOCASE, id LIMIT ? OFFSET ?
            """)
    static let onePlaylist = "SELECT id, title FROM playlist WHERE id = ? AND is_present = 1"

    static func foundAlbums(_ words: SearchWords) -> ListQuery {
        let found = "track_count > 0 AND \(words.clause("folded"))"
        return ListQuery(
            count: "SELECT count(*) FROM album WHERE \(found)",
            page: "SELECT \(albumColumns) FROM album WHERE \(found) ORDER BY folded, id LIMIT ? OFFSET ?")
    }

    static func foundPlaylists(_ words: SearchWords) -> ListQuery {
        let found = "is_present = 1 AND \(words.clause("folded"))"
        return ListQuery(
            count: "SELECT count(*) FROM playlist WHERE \(found)",
            page: "SELECT id, title FROM playlist WHERE \(found) ORDER BY folded, id LIMIT ? OFFSET ?")
    }

    static func foundNames(_ words: SearchWords) -> ListQuery {
        let found = "kind = ? AND \(words.clause("folded")) AND \(hasTracks)"
        return ListQuery(
            count: "SELECT count(*) FROM name WHERE \(found)",
            page: "SELECT id, text FROM name WHERE \(found) ORDER BY folded LIMIT ? OFFSET ?")
    }
}

extension ListPage {
    fileprivate func values(after values: [DatabaseValue]) -> [DatabaseValue] {
        values + [.integer(limit), .integer(offset)]
    }
}

// MARK: Tracks

extension MusicIndex {
    package func tracks(_ page: ListPage) throws(DatabaseError) -> ListPart<Track> {
        let entries = try read { (reader) throws(DatabaseError) in
            try reader.tracks(BoundSQL(ListQuery.tracks.page, .integer(page.limit), .integer(page.offset)))
        }
        return ListPart(total: try count(.tracks), entries: entries)
    }

    package func tracks(ofAlbum id: Int64, _ page: ListPage) throws(DatabaseError) -> ListPart<Track> {
        try part(TrackQuery(.album(id), order: .album, page: page))
    }

    package func tracks(ofFolder path: String, _ page: ListPage) throws(DatabaseError) -> ListPart<Track> {
        try part(TrackQuery(.folder(path), order: .file, page: page))
    }

    /// - Parameter id: the id of a `SharedName`: an artist, a genre, a date.
    package func tracks(ofName id: Int64, _ page: ListPage) throws(DatabaseError) -> ListPart<Track> {
        try part(TrackQuery(.name(id), order: .number, page: page))
    }

    package func tracks(ofPlaylist id: Int64, _ page: ListPage) throws(DatabaseError) -> ListPart<Track> {
        let query = ListQuery.playlist
        let numbers = try rows(query.page, page.values(after: [.integer(id)])) { $0.integer(0) }
        var tracks: [Track] = []
        for number in numbers {
            tracks += try self.tracks(TrackQuery(.id(number), presence: .withHidden))
        }
        return ListPart(total: try number(query.count, [.integer(id)]), entries: tracks)
    }

    /// Returns the tracks with all words in the title, the artists, the composers or the album, the best ones first.
    package func tracks(matching words: SearchWords, _ page: ListPage) throws(DatabaseError) -> ListPart<Track> {
        let found = try readTables { (database) throws(DatabaseError) in
            try SearchRows(database).tracks(matching: words, page)
        }
        return ListPart(total: found.total, entries: try tracks(numbered: found.entries))
    }

    /// Returns the tracks of a query, and the number of all tracks without regard to the page.
    private func part(_ query: TrackQuery) throws(DatabaseError) -> ListPart<Track> {
        let count = query.count
        return ListPart(total: try number(count.text, count.values), entries: try tracks(query))
    }
}

// MARK: Albums, names and playlists

extension MusicIndex {
    package func albums(_ page: ListPage) throws(DatabaseError) -> ListPart<Album> { try albums(.albums, [], page) }

    /// Returns the albums whose tracks were added last, the latest first.
    package func recentAlbums(_ page: ListPage) throws(DatabaseError) -> ListPart<Album> {
        try albums(.recentAlbums, [], page)
    }

    /// - Parameter id: the id of a `SharedName`.
    package func albums(ofName id: Int64, _ page: ListPage) throws(DatabaseError) -> ListPart<Album> {
        try albums(.albumsOfName, [.integer(id)], page)
    }

    package func albums(matching words: SearchWords, _ page: ListPage) throws(DatabaseError) -> ListPart<Album> {
        try albums(.foundAlbums(words), words.values, page)
    }

    /// Returns the first albums with all words, without counting the others.
    package func albums(matching words: SearchWords, limit: Int64) throws(DatabaseError) -> [Album] {
        try rows(
            ListQuery.foundAlbums(words).page, ListPage(limit: limit).values(after: words.values), Self.album)
    }

    package func album(_ id: Int64) throws(DatabaseError) -> Album? {
        try rows(ListQuery.oneAlbum, [.integer(id)], Self.album).first
    }

    private func albums(
        _ query: ListQuery, _ values: [DatabaseValue], _ page: ListPage
    ) throws(DatabaseError) -> ListPart<Album> {
        ListPart(
            total: try number(query.count, values),
            entries: try rows(query.page, page.values(after: values), Self.album))
    }

    private static func album(_ row: borrowing Statement) -> Album? {
        guard let id = row.integer(0), let title = row.text(1) else { return nil }
        return Album(
            id: id, title: title, artist: row.text(2) ?? "", trackCount: row.integer(3) ?? 0,
            discCount: row.integer(4) ?? 1, date: row.text(5))
    }

    /// Returns the names of a kind that tracks have, in alphabetical order.
    package func names(_ kind: NameKind, _ page: ListPage) throws(DatabaseError) -> ListPart<SharedName> {
        try names(.names, [.integer(kind.rawValue)], page)
    }

    package func names(
        _ kind: NameKind, matching words: SearchWords, _ page: ListPage
    ) throws(DatabaseError) -> ListPart<SharedName> {
        try names(.foundNames(words), [.integer(kind.rawValue)] + words.values, page)
    }

    /// Returns the album artists with this name. Without any, returns the artists, or else the genres. Ignores case and
    /// accents.
    package func names(called text: String) throws(DatabaseError) -> [SharedName] {
        let folded = String(decoding: FoldedText.words(text), as: UTF8.self)
        for kind in [NameKind.albumArtist, .artist, .genre] {
            let names = try rows(
                """
                SELECT id, text FROM name WHERE kind = ?1 AND \(ListQuery.hasTracks)
                    AND (folded = ?2 OR folded > ?2 || char(1) AND folded < ?2 || char(2)) ORDER BY id
                """, [.integer(kind.rawValue), .text(folded)], Self.name)
            if !names.isEmpty { return Self.exact(names, text) { $0.text } }
        }
        return []
    }

    /// Returns the albums with a title, without regard to case and accents.
    package func albums(called title: String) throws(DatabaseError) -> [Album] {
        let words = FoldedText.words(title)
        let albums = try rows(
            "SELECT \(ListQuery.albumColumns) FROM album WHERE track_count > 0 AND instr(folded, ?) = 1 ORDER BY id",
            [.text(String(decoding: words, as: UTF8.self))], Self.album)
        return Self.exact(albums.filter { FoldedText.words($0.title).elementsEqual(words) }, title) { $0.title }
    }

    /// Returns the entries with exactly this text. If there are none, returns all entries.
    private static func exact<Entry>(_ entries: [Entry], _ text: String, _ name: (Entry) -> String) -> [Entry] {
        let exact = entries.filter { name($0).utf8.elementsEqual(text.utf8) }
        return exact.isEmpty ? entries : exact
    }

    /// Returns the first names with all words, without counting the others.
    package func names(
        _ kind: NameKind, matching words: SearchWords, limit: Int64
    ) throws(DatabaseError) -> [SharedName] {
        try rows(
            ListQuery.foundNames(words).page,
            ListPage(limit: limit).values(after: [.integer(kind.rawValue)] + words.values), Self.name)
    }

    private static func name(_ row: borrowing Statement) -> SharedName? {
        row.integer(0).map { SharedName(id: $0, text: row.text(1) ?? "") }
    }

    private func names(
        _ query: ListQuery, _ values: [DatabaseValue], _ page: ListPage
    ) throws(DatabaseError) -> ListPart<SharedName> {
        ListPart(
            total: try number(query.count, values),
            entries: try rows(query.page, page.values(after: values), Self.name))
    }

    package func playlists(_ page: ListPage) throws(DatabaseError) -> ListPart<Playlist> {
        try playlists(.playlists, [], page)
    }

    package func playlists(
        matching words: SearchWords, _ page: ListPage
    ) throws(DatabaseError) -> ListPart<Playlist> {
        try playlists(.foundPlaylists(words), words.values, page)
    }

    package func playlist(_ id: Int64) throws(DatabaseError) -> Playlist? {
        try playlists(ListQuery.onePlaylist, [.integer(id)]).first
    }

    private func playlists(
        _ query: ListQuery, _ values: [DatabaseValue], _ page: ListPage
    ) throws(DatabaseError) -> ListPart<Playlist> {
        ListPart(
            total: try number(query.count, values), entries: try playlists(query.page, page.values(after: values)))
    }

    private func playlists(_ sql: String, _ values: [DatabaseValue]) throws(DatabaseError) -> [Playlist] {
        var playlists = try rows(sql, values) { row in
            row.integer(0).map { Playlist(id: $0, title: row.text(1) ?? "", trackCount: 0) }
        }
        for place in playlists.indices {
            playlists[place].trackCount = try number(ListQuery.playlist.count, [.integer(playlists[place].id)])
        }
        return playlists
    }
}

extension SearchWords {
    /// The values of `clause`.
    fileprivate var values: [DatabaseValue] { texts.map { .text($0) } }
}
