import Database
import Media
import Platform

/// Writes the results of a scan: tracks, their albums, and the words of the search.
///
/// An album's row depends on all of its tracks. While they are written it is stale, which the index records. It is
/// updated once for many of them.
///
/// Thread: one at a time, inside a transaction of the index.
struct CatalogueRows {
    /// The outdated parts of an album's row.
    private enum Staleness: Int64 {
        case description = 1
        /// Its loudness too, which is then measured again as a whole.
        case loudness = 2
    }

    let database: Database

    init(_ database: Database) { self.database = database }

    // MARK: Tracks

    /// Stores a new or changed file.
    func store(
        _ path: String, _ stamp: FileStamp, _ properties: AudioProperties, _ metadata: TrackMetadata
    ) throws(DatabaseError) {
        try noteAlbum(of: path, .description)
        var album: Int64?
        if let title = metadata.album {
            album = try albumId(metadata.albumArtist.map { "artist:\($0)" } ?? Folder.containing(path), title)
        }
        let gain = metadata.replayGain
        try database.execute(
            """
            INSERT INTO track (path, size, modified, is_present, container, codec, sample_rate, channels, bit_depth,
                frames, name, title, artist, album, album_artist, track_number, disc_number, album_id, tag_track_gain,
                tag_track_peak, tag_album_gain, tag_album_peak, aac_object_type, folded)
            VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (path) DO UPDATE SET size = excluded.size, modified = excluded.modified, is_present = 1,
                container = excluded.container, codec = excluded.codec, sample_rate = excluded.sample_rate,
                channels = excluded.channels,
                bit_depth = excluded.bit_depth, frames = excluded.frames, name = excluded.name,
                title = excluded.title, artist = excluded.artist, album = excluded.album,
                album_artist = excluded.album_artist, track_number = excluded.track_number,
                disc_number = excluded.disc_number, album_id = excluded.album_id,
                tag_track_gain = excluded.tag_track_gain, tag_track_peak = excluded.tag_track_peak,
                tag_album_gain = excluded.tag_album_gain, tag_album_peak = excluded.tag_album_peak,
                aac_object_type = excluded.aac_object_type, folded = excluded.folded,
                is_measured = 0, track_gain = NULL, track_peak = NULL, album_gain = NULL, album_peak = NULL
            """,
            .text(path), .integer(stamp.size), .integer(stamp.modified), .text(properties.container.rawValue),
            .text(properties.codec.rawValue),
            .integer(Int64(properties.format.sampleRate)), .integer(Int64(properties.format.channelCount)),
            .integer(Int64(properties.format.bitDepth)), DatabaseValue(properties.frameCount),
            .text(metadata.title ?? Self.name(of: path)), DatabaseValue(metadata.title),
            DatabaseValue(metadata.artist), DatabaseValue(metadata.album), DatabaseValue(metadata.albumArtist),
            DatabaseValue(metadata.trackNumber), DatabaseValue(metadata.discNumber), DatabaseValue(album),
            DatabaseValue(gain.trackGain), DatabaseValue(gain.trackPeak), DatabaseValue(gain.albumGain),
            DatabaseValue(gain.albumPeak), DatabaseValue(properties.aacObjectType),
            .text(PlaylistRows.folded(path)))
        // The measured values belong to the old content.
        if let album { try note(album, .loudness) }
        try refreshWords(of: path)
    }

    /// Records whether a file is present or gone.
    func setPresent(_ isPresent: Bool, _ path: String) throws(DatabaseError) {
        try database.execute(
            "UPDATE track SET is_present = ? WHERE path = ?", .integer(isPresent ? 1 : 0), .text(path))
        try noteAlbum(of: path, .description)
        try refreshWords(of: path)
    }

    private func noteAlbum(of path: String, _ staleness: Staleness) throws(DatabaseError) {
        var statement = try database.prepare("SELECT album_id FROM track WHERE path = ?")
        try statement.bind([.text(path)])
        if try statement.step(), let album = statement.integer(0) { try note(album, staleness) }
    }

    private func note(_ album: Int64, _ staleness: Staleness) throws(DatabaseError) {
        try database.execute(
            "UPDATE album SET is_stale = ? WHERE id = ? AND is_stale < ?", .integer(staleness.rawValue),
            .integer(album), .integer(staleness.rawValue))
    }

    private func albumId(_ group: String, _ title: String) throws(DatabaseError) -> Int64? {
        try database.execute(
            "INSERT OR IGNORE INTO album (grouped_by, title) VALUES (?, ?)", .text(group), .text(title))
        var statement = try database.prepare("SELECT id FROM album WHERE grouped_by = ? AND title = ?")
        try statement.bind([.text(group), .text(title)])
        return try statement.step() ? statement.integer(0) : nil
    }

    private func refreshWords(of path: String) throws(DatabaseError) {
        try database.execute(
            "DELETE FROM track_words WHERE rowid = (SELECT id FROM track WHERE path = ?)", .text(path))
        try database.execute(
            """
            INSERT INTO track_words (rowid, name, artist, album)
            SELECT id, name, coalesce(artist, '') || ' ' || coalesce(album_artist, ''), album
            FROM track WHERE path = ? AND is_present = 1
            """, .text(path))
    }

    /// Returns the name of a file, without folders and ending.
    static func name(of path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return String(name) }
        return String(name[..<dot])
    }

    // MARK: Albums

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
            try database.execute(
                """
                UPDATE album SET is_stale = 0,
                    track_count = (SELECT count(*) FROM track WHERE album_id = album.id AND is_present = 1),
                    artist = coalesce((
                        SELECT coalesce(max(album_artist), CASE WHEN min(artist) = max(artist) THEN min(artist) END)
                        FROM track WHERE album_id = album.id AND is_present = 1), '')
                WHERE id = ?
                """, .integer(album))
            try database.execute("DELETE FROM album_words WHERE rowid = ?", .integer(album))
            try database.execute(
                """
                INSERT INTO album_words (rowid, title, artist)
                SELECT id, title, artist FROM album WHERE id = ? AND track_count > 0
                """, .integer(album))
        }
    }
}
