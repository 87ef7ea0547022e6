import Database
import Media
import PCM

/// A track that a scan has read.
package struct ScannedTrack: Sendable {
    /// The number in a cue sheet; 0 for a whole file.
    package var part = 0
    package var stamp: FileStamp
    package var properties: AudioProperties
    package var metadata: TrackMetadata
    /// Identifies the content, whatever its path.
    package var content: Int64

    package init(_ stamp: FileStamp, _ properties: AudioProperties, _ metadata: TrackMetadata, content: Int64) {
        self.stamp = stamp
        self.properties = properties
        self.metadata = metadata
        self.content = content
    }
}

/// Writes the results of a scan: tracks, and the rows that depend on them.
///
/// Thread: one at a time, inside a transaction of the index. Call `finish` at the end of the transaction.
struct TrackRows {
    let database: Database
    private let albums: AlbumRows
    private let search: SearchRows
    private let folders: FolderTracks

    init(_ database: Database) {
        self.database = database
        albums = AlbumRows(database)
        search = SearchRows(database)
        folders = FolderTracks(database: database)
    }

    /// Returns the number of a folder, and creates its row if needed.
    func folder(_ path: String) throws(DatabaseError) -> Int64 {
        var statement = try database.prepare("SELECT id FROM folder WHERE path = ?")
        try statement.bind([.text(path)])
        if try statement.step(), let id = statement.integer(0) { return id }
        try database.execute(
            "INSERT INTO folder (path, place) VALUES (?, ?)", .text(path), .bytes(FolderOrder.place(of: path)))
        return database.lastInsertedRow
    }

    /// Stores a new or changed track.
    /// - Parameter now: the time at which a new track is added, in seconds since 1970.
    func store(_ place: FilePlace, _ scanned: ScannedTrack, now: Int64) throws(DatabaseError) {
        var track = scanned
        track.metadata = track.metadata.composed
        let metadata = track.metadata
        let folder = try folder(place.folder)
        try folders.note(folder)
        let key: [DatabaseValue] = [.integer(folder), .text(place.file), .integer(Int64(track.part))]
        var known = try database.prepare(
            "SELECT id, album_id, content, inode FROM track WHERE folder = ? AND file = ? AND part = ?")
        try known.bind(key)
        var former: (id: Int64, album: Int64?, content: Int64, isOfEarlierVersion: Bool)?
        if try known.step(), let id = known.integer(0) {
            former = (id, known.integer(1), known.number(2), known.integer(3) == -1)
        }
        if let album = former?.album { try albums.note(album, .description) }
        let album = try albums.id(of: place, metadata)
        if former == nil {
            try database.execute(
                """
                INSERT INTO track (folder, file, part, size, modified, inode, is_present, content, added, container,
                    codec, sample_rate, channels, bit_depth, name, is_titled, folded)
                VALUES (?, ?, ?, 0, 0, 0, 1, 0, ?, 0, 0, 0, 0, 0, '', 0, 0)
                """, key[0], key[1], key[2], .integer(now))
        }
        let id = former?.id ?? database.lastInsertedRow
        try update(id, place, track, album)
        // Measured values are valid only for the same content in the same album.
        let isSame = former.map { $0.content == track.content && $0.album == album } ?? false
        if let album { try albums.note(album, isSame ? .description : .loudness) }
        try storeNames(id, metadata)
        try search.note(id)
        guard let former else { return }
        try ContentChangeRows(database: database).note(
            ContentChange(former: former.content, present: track.content), of: id,
            isOfEarlierVersion: former.isOfEarlierVersion)
    }

    private func update(
        _ id: Int64, _ place: FilePlace, _ track: ScannedTrack, _ album: Int64?
    ) throws(DatabaseError) {
        let (properties, metadata) = (track.properties, track.metadata)
        let (gain, picture) = (metadata.replayGain, metadata.picture)
        try database.execute(
            """
            UPDATE track SET is_measured = 0, track_gain = NULL, track_peak = NULL, album_gain = NULL, album_peak = NULL
            WHERE id = ? AND content <> ?
            """, .integer(id), .integer(track.content))
        try database.execute(
            """
            UPDATE track SET folded = ?, size = ?, modified = ?, inode = ?, is_present = 1, content = ?,
                container = ?, codec = ?, sample_rate = ?, channels = ?, bit_depth = ?, frames = ?,
                aac_object_type = ?, name = ?, is_titled = ?, artist = ?, album = ?, album_artist = ?,
                track_number = ?, disc_number = ?, date = ?, album_id = ?, picture_offset = ?,
                picture_length = ?, picture_page = ?, picture_form = ?, picture_type = ?, tag_track_gain = ?,
                tag_track_peak = ?, tag_album_gain = ?, tag_album_peak = ?, tags = ?
            WHERE id = ?
            """,
            .integer(ShortHash.ofFolded(place.path)), .integer(track.stamp.size), .integer(track.stamp.modified),
            .integer(track.stamp.state), .integer(track.content), .integer(Int64(properties.container.number)),
            .integer(Int64(properties.codec.number)),
            .integer(Int64(properties.format.sampleRate)), .integer(Int64(properties.format.channelCount)),
            .integer(Int64(properties.format.bitDepth)), DatabaseValue(properties.frameCount),
            DatabaseValue(properties.aacObjectType), .text(metadata.title ?? place.stem),
            .integer(metadata.title == nil ? 0 : 1), DatabaseValue(metadata.artist), DatabaseValue(metadata.album),
            DatabaseValue(metadata.albumArtist), DatabaseValue(metadata.trackNumber),
            DatabaseValue(metadata.discNumber), DatabaseValue(metadata[.date].first),
            DatabaseValue(album), DatabaseValue(picture?.offset),
            DatabaseValue(picture?.length), DatabaseValue(picture?.page), DatabaseValue(picture?.form),
            DatabaseValue(picture?.mediaType), DatabaseValue(gain.trackGain), DatabaseValue(gain.trackPeak),
            DatabaseValue(gain.albumGain), DatabaseValue(gain.albumPeak), .bytes(TrackTags.bytes(of: metadata)),
            .integer(id))
    }

    private func storeNames(_ track: Int64, _ metadata: TrackMetadata) throws(DatabaseError) {
        try database.execute("DELETE FROM track_name WHERE track = ?", .integer(track))
        for kind in NameKind.allCases {
            for text in kind.values(metadata) {
                // An earlier version may have folded the text in another way.
                try database.execute(
                    """
                    INSERT INTO name (kind, text, folded) VALUES (?, ?, ?)
                    ON CONFLICT (kind, text) DO UPDATE SET folded = excluded.folded WHERE folded <> excluded.folded
                    """, .integer(kind.rawValue), .text(text),
                    .text(String(decoding: FoldedText.searched(text), as: UTF8.self)))
                try database.execute(
                    """
                    INSERT OR IGNORE INTO track_name (name, track)
                    SELECT id, ? FROM name WHERE kind = ? AND text = ?
                    """, .integer(track), .integer(kind.rawValue), .text(text))
            }
        }
    }

    /// Records that all tracks of a file with known contents exist, or are gone.
    func setPresent(_ isPresent: Bool, _ place: FilePlace) throws(DatabaseError) {
        var tracks: [(id: Int64, album: Int64?)] = []
        var statement = try database.prepare(
            "SELECT id, album_id FROM track WHERE folder = ? AND file = ? AND size >= 0")
        try statement.bind([.integer(try folder(place.folder)), .text(place.file)])
        while try statement.step() { if let id = statement.integer(0) { tracks.append((id, statement.integer(1))) } }
        for (id, album) in tracks { try set(isPresent ? 1 : 0, id, album) }
    }

    /// Sets the presence of a track, as the value of the column.
    func set(_ presence: Int64, _ track: Int64, _ album: Int64?) throws(DatabaseError) {
        try database.execute("UPDATE track SET is_present = ? WHERE id = ?", .integer(presence), .integer(track))
        if let album { try albums.note(album, .description) }
        try search.note(track)
    }

    /// Records that the tracks of a file with other numbers are gone.
    func dropParts(of place: FilePlace, outside parts: ClosedRange<Int>) throws(DatabaseError) {
        let key: [DatabaseValue] = [
            .integer(try folder(place.folder)), .text(place.file), .integer(Int64(parts.lowerBound)),
            .integer(Int64(parts.upperBound)),
        ]
        var statement = try database.prepare(
            """
            SELECT id, album_id FROM track
            WHERE folder = ? AND file = ? AND (part < ? OR part > ?) AND size >= 0
            """)
        try statement.bind(key)
        var tracks: [(id: Int64, album: Int64?)] = []
        while try statement.step() { if let id = statement.integer(0) { tracks.append((id, statement.integer(1))) } }
        for (id, album) in tracks {
            try set(0, id, album)
            // The size -1 ensures that the track does not return with its file.
            try database.execute("UPDATE track SET size = -1 WHERE id = ?", .integer(id))
        }
    }

    /// Writes the outdated texts of the search, and with `albums` also the outdated albums and positions.
    func finish(albums withAlbums: Bool = true) throws(DatabaseError) {
        if withAlbums {
            try albums.finish()
            try folders.finish()
        }
        try search.refresh()
    }
}

extension NameKind {
    fileprivate func values(_ metadata: TrackMetadata) -> [String] {
        switch self {
        // A list of artists is better than a text like "A feat. B".
        case .artist: metadata[.artists].isEmpty ? metadata[.artist] : metadata[.artists]
        case .albumArtist:
            metadata[.albumArtist].isEmpty ? NameKind.artist.values(metadata) : metadata[.albumArtist]
        case .composer: metadata[.composer]
        case .genre: metadata[.genre]
        case .date: metadata[.date]
        }
    }
}

extension TrackMetadata {
    /// The metadata with composed letters, so that each text has one spelling.
    fileprivate var composed: TrackMetadata {
        var composed = self
        for field in TagField.allCases where !self[field].isEmpty { composed[field] = self[field].map(ComposedText.of) }
        return composed
    }
}

extension TagPicture {
    /// The number in the index for the form of the picture's bytes.
    fileprivate var form: Int {
        switch encoding {
        case .plain: 0
        case .unsynchronised: 1
        case .base64(let dropped): 2 + dropped
        }
    }
}
