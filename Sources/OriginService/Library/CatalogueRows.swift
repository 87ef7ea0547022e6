import Database
import Media
import Platform

/// Writes what a scan has found: tracks, playlists, their albums, and the words by which they are found.
///
/// Thread: one at a time, inside a transaction of the index.
struct CatalogueRows {
    let database: Database
    /// Albums whose tracks have changed.
    private var albums: Set<Int64> = []

    init(_ database: Database) { self.database = database }

    // MARK: Tracks

    /// Stores a new or changed file.
    mutating func store(
        _ path: String, _ stamp: FileStamp, _ properties: AudioProperties, _ metadata: TrackMetadata
    ) throws(DatabaseError) {
        try noteAlbum(of: path)
        var album: Int64?
        if let title = metadata.album {
            album = try albumId(metadata.albumArtist.map { "artist:\($0)" } ?? Folder.containing(path), title)
        }
        // What was measured belongs to the old content; an album is measured again as a whole.
        if let album {
            try database.execute("UPDATE track SET is_measured = 0 WHERE album_id = ?", .integer(album))
        }
        let gain = metadata.replayGain
        try database.execute(
            """
            INSERT INTO track (path, size, modified, is_present, container, codec, sample_rate, channels, bit_depth,
                frames, name, title, artist, album, album_artist, track_number, disc_number, album_id, tag_track_gain,
                tag_track_peak, tag_album_gain, tag_album_peak, aac_object_type)
            VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (path) DO UPDATE SET size = excluded.size, modified = excluded.modified, is_present = 1,
                container = excluded.container, codec = excluded.codec, sample_rate = excluded.sample_rate,
                channels = excluded.channels,
                bit_depth = excluded.bit_depth, frames = excluded.frames, name = excluded.name,
                title = excluded.title, artist = excluded.artist, album = excluded.album,
                album_artist = excluded.album_artist, track_number = excluded.track_number,
                disc_number = excluded.disc_number, album_id = excluded.album_id,
                tag_track_gain = excluded.tag_track_gain, tag_track_peak = excluded.tag_track_peak,
                tag_album_gain = excluded.tag_album_gain, tag_album_peak = excluded.tag_album_peak,
                aac_object_type = excluded.aac_object_type,
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
            DatabaseValue(gain.albumPeak), DatabaseValue(properties.aacObjectType))
        if let album { albums.insert(album) }
        try refreshWords(of: path)
    }

    /// Notes that a file is there again, or gone.
    mutating func setPresent(_ isPresent: Bool, _ path: String) throws(DatabaseError) {
        try database.execute(
            "UPDATE track SET is_present = ? WHERE path = ?", .integer(isPresent ? 1 : 0), .text(path))
        try noteAlbum(of: path)
        try refreshWords(of: path)
    }

    private mutating func noteAlbum(of path: String) throws(DatabaseError) {
        var statement = try database.prepare("SELECT album_id FROM track WHERE path = ?")
        try statement.bind([.text(path)])
        if try statement.step(), let album = statement.integer(0) { albums.insert(album) }
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

    /// Without folders and ending.
    private static func name(of path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return String(name) }
        return String(name[..<dot])
    }

    // MARK: Albums

    /// Brings the albums of the changed tracks up to date. Call it at the end.
    mutating func finish() throws(DatabaseError) {
        for album in albums {
            try database.execute(
                """
                UPDATE album SET
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
        albums = []
    }

    // MARK: Playlists

    func store(_ playlist: PlaylistFile, _ path: String, _ stamp: FileStamp) throws(DatabaseError) {
        try database.execute(
            """
            INSERT INTO playlist (path, size, modified, is_present, title) VALUES (?, ?, ?, 1, ?)
            ON CONFLICT (path) DO UPDATE SET size = excluded.size, modified = excluded.modified, is_present = 1,
                title = excluded.title
            """,
            .text(path), .integer(stamp.size), .integer(stamp.modified),
            .text(playlist.title ?? Self.name(of: path)))
        var statement = try database.prepare("SELECT id FROM playlist WHERE path = ?")
        try statement.bind([.text(path)])
        guard try statement.step(), let id = statement.integer(0) else { return }
        try database.execute("DELETE FROM playlist_entry WHERE playlist = ?", .integer(id))
        for (position, entry) in playlist.paths.enumerated() {
            try database.execute(
                "INSERT INTO playlist_entry (playlist, position, path) VALUES (?, ?, ?)", .integer(id),
                .integer(Int64(position)), .text(entry))
        }
        try refreshPlaylistWords(of: path)
    }

    func setPlaylistPresent(_ isPresent: Bool, _ path: String) throws(DatabaseError) {
        try database.execute(
            "UPDATE playlist SET is_present = ? WHERE path = ?", .integer(isPresent ? 1 : 0), .text(path))
        try refreshPlaylistWords(of: path)
    }

    private func refreshPlaylistWords(of path: String) throws(DatabaseError) {
        try database.execute(
            "DELETE FROM playlist_words WHERE rowid = (SELECT id FROM playlist WHERE path = ?)", .text(path))
        try database.execute(
            """
            INSERT INTO playlist_words (rowid, title) SELECT id, title FROM playlist WHERE path = ? AND is_present = 1
            """, .text(path))
    }
}
