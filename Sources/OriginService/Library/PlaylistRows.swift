import Database
import Foundation
import Media
import Platform

/// Writes playlists, and finds the tracks of their entries.
///
/// An entry has the path that it means. While no track has that path, its alternative paths are compared: by their
/// bytes, then without regard to case and to the spelling of accents.
///
/// Thread: one at a time, inside a transaction of the index.
struct PlaylistRows {
    let database: Database

    init(_ database: Database) { self.database = database }

    func store(_ playlist: PlaylistFile, _ path: String, _ stamp: FileStamp, name: String) throws(DatabaseError) {
        try database.execute(
            """
            INSERT INTO playlist (path, size, modified, is_present, title) VALUES (?, ?, ?, 1, ?)
            ON CONFLICT (path) DO UPDATE SET size = excluded.size, modified = excluded.modified, is_present = 1,
                title = excluded.title
            """,
            .text(path), .integer(stamp.size), .integer(stamp.modified), .text(playlist.title ?? name))
        var statement = try database.prepare("SELECT id FROM playlist WHERE path = ?")
        try statement.bind([.text(path)])
        guard try statement.step(), let id = statement.integer(0) else { return }
        try database.execute("DELETE FROM playlist_entry WHERE playlist = ?", .integer(id))
        try database.execute("DELETE FROM playlist_place WHERE playlist = ?", .integer(id))
        // The service has no files of other servers.
        for (position, entry) in playlist.entries.filter({ $0.webAddress == nil }).enumerated() {
            let places = (entry.path.map { [$0] } ?? []) + entry.alternatives
            try database.execute(
                "INSERT INTO playlist_entry (playlist, position, path) VALUES (?, ?, ?)", .integer(id),
                .integer(Int64(position)), .text(places[0]))
            for (rank, place) in places.enumerated() {
                try database.execute(
                    """
                    INSERT INTO playlist_place (playlist, position, rank, path, folded, line)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """,
                    .integer(id), .integer(Int64(position)), .integer(Int64(rank)), .text(place),
                    .text(Self.folded(place)), rank == 0 ? .text(entry.line) : .null)
            }
        }
        try refreshWords(of: path)
    }

    func setPresent(_ isPresent: Bool, _ path: String) throws(DatabaseError) {
        try database.execute(
            "UPDATE playlist SET is_present = ? WHERE path = ?", .integer(isPresent ? 1 : 0), .text(path))
        try refreshWords(of: path)
    }

    private func refreshWords(of path: String) throws(DatabaseError) {
        try database.execute(
            "DELETE FROM playlist_words WHERE rowid = (SELECT id FROM playlist WHERE path = ?)", .text(path))
        try database.execute(
            """
            INSERT INTO playlist_words (rowid, title) SELECT id, title FROM playlist WHERE path = ? AND is_present = 1
            """, .text(path))
    }

    // MARK: Tracks

    /// Returns one spelling for all normal forms and cases of a path.
    static func folded(_ path: String) -> String {
        path.precomposedStringWithCanonicalMapping.lowercased().precomposedStringWithCanonicalMapping
    }

    /// The entries whose track is missing.
    private static let unresolved = """
        FROM playlist JOIN playlist_entry AS entry ON entry.playlist = playlist.id
        WHERE playlist.is_present = 1
            AND NOT EXISTS (SELECT 1 FROM track WHERE track.path = entry.path AND track.is_present = 1)
        """

    /// Gives entries the paths of existing tracks. Call it after changes of tracks or playlists.
    func resolve() throws(DatabaseError) {
        var entries: [(Int64, Int64)] = []
        var statement = try database.prepare("SELECT entry.playlist, entry.position \(Self.unresolved)")
        while try statement.step() {
            if let playlist = statement.integer(0), let position = statement.integer(1) {
                entries.append((playlist, position))
            }
        }
        for (playlist, position) in entries {
            for column in ["path", "folded"] {
                var match = try database.prepare(
                    """
                    SELECT track.path FROM playlist_place AS place
                    CROSS JOIN track ON track.\(column) = place.\(column) AND track.is_present = 1
                    WHERE place.playlist = ? AND place.position = ? ORDER BY place.rank LIMIT 1
                    """)
                try match.bind([.integer(playlist), .integer(position)])
                guard try match.step(), let path = match.text(0) else { continue }
                try database.execute(
                    "UPDATE playlist_entry SET path = ? WHERE playlist = ? AND position = ?", .text(path),
                    .integer(playlist), .integer(position))
                break
            }
        }
    }

    /// Adds values that an index of an earlier version lacks.
    func foldTracks() throws(DatabaseError) {
        var paths: [String] = []
        var statement = try database.prepare("SELECT path FROM track WHERE folded IS NULL")
        while try statement.step() { if let path = statement.text(0) { paths.append(path) } }
        for path in paths {
            try database.execute("UPDATE track SET folded = ? WHERE path = ?", .text(Self.folded(path)), .text(path))
        }
    }

    /// Returns the lines of each playlist that name no track.
    func missing() throws(DatabaseError) -> [(playlist: Int64, line: String)] {
        var lines: [(Int64, String)] = []
        var statement = try database.prepare(
            """
            SELECT entry.playlist, coalesce((
                SELECT line FROM playlist_place AS place
                WHERE place.playlist = entry.playlist AND place.position = entry.position AND place.rank = 0
            ), entry.path) \(Self.unresolved) ORDER BY entry.playlist, entry.position
            """)
        while try statement.step() {
            if let playlist = statement.integer(0), let line = statement.text(1) { lines.append((playlist, line)) }
        }
        return lines
    }
}
