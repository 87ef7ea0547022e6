import Database
import Manifests
import Media

/// Writes playlists, and finds the tracks of their entries.
///
/// The index stores all paths that an entry may mean. They are compared with the tracks, first by their bytes, then
/// without regard to case and to the spelling of accents.
///
/// Thread: one at a time, inside a transaction of the index.
struct PlaylistRows {
    let database: Database

    init(_ database: Database) { self.database = database }

    func store(_ playlist: PlaylistFile, _ place: FilePlace, _ stamp: FileStamp) throws(DatabaseError) {
        let folder = try TrackRows(database).folder(place.folder)
        let title = playlist.title ?? place.stem
        try database.execute(
            """
            INSERT INTO playlist (folder, file, size, modified, inode, is_present, title, folded)
            VALUES (?, ?, ?, ?, ?, 1, ?, ?)
            ON CONFLICT (folder, file) DO UPDATE SET size = excluded.size, modified = excluded.modified,
                inode = excluded.inode, is_present = 1, title = excluded.title, folded = excluded.folded
            """,
            .integer(folder), .text(place.file), .integer(stamp.size), .integer(stamp.modified), .integer(stamp.state),
            .text(title), .text(String(decoding: FoldedText.searched(title), as: UTF8.self)))
        var statement = try database.prepare("SELECT id FROM playlist WHERE folder = ? AND file = ?")
        try statement.bind([.integer(folder), .text(place.file)])
        guard try statement.step(), let id = statement.integer(0) else { return }
        try database.execute("DELETE FROM playlist_entry WHERE playlist = ?", .integer(id))
        try database.execute("DELETE FROM playlist_place WHERE playlist = ?", .integer(id))
        // The library contains no files of other servers and no products of a service.
        let entries = playlist.entries.filter { $0.webAddress == nil && $0.serviceAddress == nil }
        for (position, entry) in entries.enumerated() {
            try database.execute(
                "INSERT INTO playlist_entry (playlist, position, line) VALUES (?, ?, ?)", .integer(id),
                .integer(Int64(position)), .text(entry.line))
            for (rank, path) in ((entry.path.map { [$0] } ?? []) + entry.alternatives).enumerated() {
                try database.execute(
                    "INSERT INTO playlist_place (playlist, position, rank, path, folded) VALUES (?, ?, ?, ?, ?)",
                    .integer(id), .integer(Int64(position)), .integer(Int64(rank)), .text(path),
                    .integer(ShortHash.ofFolded(path)))
            }
        }
    }

    func setPresent(_ isPresent: Bool, _ place: FilePlace) throws(DatabaseError) {
        try database.execute(
            """
            UPDATE playlist SET is_present = ?
            WHERE folder = (SELECT id FROM folder WHERE path = ?) AND file = ?
            """, .integer(isPresent ? 1 : 0), .text(place.folder), .text(place.file))
    }

    // MARK: Tracks

    /// The entries whose track is missing.
    private static let unresolved = """
        FROM playlist CROSS JOIN playlist_entry AS entry ON entry.playlist = playlist.id
        WHERE playlist.is_present = 1
            AND NOT EXISTS (SELECT 1 FROM track WHERE track.id = entry.track AND track.is_present > 0)
        """

    /// Finds the tracks of entries. Call it after changes of tracks or playlists.
    func resolve() throws(DatabaseError) {
        var entries: [(Int64, Int64)] = []
        var statement = try database.prepare("SELECT entry.playlist, entry.position \(Self.unresolved)")
        while try statement.step() {
            if let playlist = statement.integer(0), let position = statement.integer(1) {
                entries.append((playlist, position))
            }
        }
        for (playlist, position) in entries {
            var match = try database.prepare(
                """
                SELECT track.id FROM playlist_place AS place
                CROSS JOIN track ON track.folded = place.folded AND track.is_present > 0 AND track.part = 0
                CROSS JOIN folder ON folder.id = track.folder
                WHERE place.playlist = ? AND place.position = ?
                ORDER BY folder.path || '/' || track.file = place.path DESC, place.rank LIMIT 1
                """)
            try match.bind([.integer(playlist), .integer(position)])
            guard try match.step(), let track = match.integer(0) else { continue }
            try database.execute(
                "UPDATE playlist_entry SET track = ? WHERE playlist = ? AND position = ?", .integer(track),
                .integer(playlist), .integer(position))
        }
    }

    /// Returns the lines of each playlist that name no track.
    func missing() throws(DatabaseError) -> [(playlist: Int64, line: String)] {
        var lines: [(playlist: Int64, line: String)] = []
        var statement = try database.prepare(
            "SELECT entry.playlist, entry.line \(Self.unresolved) ORDER BY entry.playlist, entry.position")
        while try statement.step() {
            if let playlist = statement.integer(0), let line = statement.text(1) { lines.append((playlist, line)) }
        }
        return lines
    }
}
