import Database
import Media

/// Writes albums.
///
/// An album's row depends on all of its tracks. While tracks are written, the row is stale, and the index records that.
/// The row is updated once for many tracks.
///
/// Thread: one at a time, inside a transaction of the index.
struct AlbumRows {
    /// The outdated parts of an album's row.
    enum Staleness: Int64 {
        case description = 1
        /// The loudness is outdated too, and the whole album is measured again.
        case loudness = 2
    }

    let database: Database

    init(_ database: Database) { self.database = database }

    func note(_ album: Int64, _ staleness: Staleness) throws(DatabaseError) {
        try database.execute(
            "UPDATE album SET is_stale = ? WHERE id = ? AND is_stale < ?", .integer(staleness.rawValue),
            .integer(album), .integer(staleness.rawValue))
    }

    /// Returns the album of a track, and creates its row if needed; nil without the title of an album.
    ///
    /// An album is one title of one album artist, or without an album artist one title in one folder. A compilation is
    /// one title in all folders. Different releases are different albums. So are different years in different folders,
    /// except in a compilation, whose tracks have their own years.
    func id(of place: FilePlace, _ metadata: TrackMetadata) throws(DatabaseError) -> Int64? {
        guard let title = metadata.album else { return nil }
        let folder = place.albumFolder
        let isCompilation = metadata.albumArtist == nil && metadata.isCompilation
        let year =
            isCompilation ? nil : metadata[.date].first.map { String(decoding: $0.utf8.prefix(4), as: UTF8.self) }
        let release = metadata[.releaseID].first
        let group = metadata.albumArtist.map { "artist:\($0)" } ?? (isCompilation ? "compilation:" : folder)
        var statement = try database.prepare(
            """
            SELECT id FROM album WHERE title = ?1 AND grouped_by = ?2
                AND (release IS NULL OR ?3 IS NULL OR release = ?3)
                AND (release = ?3 OR folder = ?4 OR year IS NULL OR ?5 IS NULL OR year = ?5)
            ORDER BY folder = ?4 DESC, id LIMIT 1
            """)
        try statement.bind([
            .text(title), .text(group), DatabaseValue(release), .text(folder), DatabaseValue(year),
        ])
        if try statement.step(), let id = statement.integer(0) {
            try database.execute(
                """
                UPDATE album SET release = coalesce(release, ?1), year = coalesce(year, ?2)
                WHERE id = ?3 AND (release IS NULL AND ?1 IS NOT NULL OR year IS NULL AND ?2 IS NOT NULL)
                """, DatabaseValue(release), DatabaseValue(year), .integer(id))
            return id
        }
        try database.execute(
            "INSERT INTO album (grouped_by, title, folder, release, year) VALUES (?, ?, ?, ?, ?)", .text(group),
            .text(title), .text(folder), DatabaseValue(release), DatabaseValue(year))
        return database.lastInsertedRow
    }

    /// Updates stale albums. The cost of an album depends on its number of tracks.
    func finish() throws(DatabaseError) {
        var albums: [(id: Int64, isMeasured: Bool)] = []
        var statement = try database.prepare("SELECT id, is_stale FROM album WHERE is_stale > 0")
        while try statement.step() {
            guard let id = statement.integer(0) else { continue }
            albums.append((id, statement.integer(1) != Staleness.loudness.rawValue))
        }
        for (album, isMeasured) in albums {
            if !isMeasured {
                try database.execute(
                    "UPDATE track SET is_measured = 0 WHERE album_id = ? AND is_measured", .integer(album))
            }
            try update(album)
        }
    }

    private func update(_ album: Int64) throws(DatabaseError) {
        var statement = try database.prepare(
            """
            SELECT count(*), coalesce(max(album_artist), CASE WHEN min(artist) = max(artist) THEN min(artist) END, ''),
                min(date), count(DISTINCT coalesce(disc_number, 1)), max(added), (SELECT title FROM album WHERE id = ?1)
            FROM track WHERE album_id = ?1 AND is_present = 1
            """)
        try statement.bind([.integer(album)])
        guard try statement.step() else { return }
        let artist = statement.text(1) ?? ""
        let year = String(decoding: (statement.text(2) ?? "").utf8.prefix(4), as: UTF8.self)
        let words = FoldedText.searched("\(statement.text(5) ?? "") \(artist) \(year)")
        try database.execute(
            """
            UPDATE album SET is_stale = 0, track_count = ?, artist = ?, date = ?, disc_count = ?, added = ?,
                folded = ?
            WHERE id = ?
            """, statement.value(0), .text(artist), statement.value(2), .integer(max(1, statement.integer(3) ?? 1)),
            .integer(statement.integer(4) ?? 0), .text(String(decoding: words, as: UTF8.self)), .integer(album))
    }
}
