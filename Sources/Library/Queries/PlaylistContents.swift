import Database

/// A playlist file of the index, and its lines that name no track.
package struct PlaylistContents: Equatable, Sendable {
    package var path: String
    package var title: String
    package var entryCount: Int
    package var missing: [String]
}

extension IndexReader {
    /// Returns the existing playlists, sorted by their paths.
    package func playlistContents() throws(DatabaseError) -> [PlaylistContents] {
        var places: [Int64: Int] = [:]
        var playlists: [PlaylistContents] = []
        var statement = try database.prepare(
            """
            SELECT playlist.id, folder.path || '/' || file AS place, title,
                (SELECT count(*) FROM playlist_entry WHERE playlist = playlist.id)
            FROM playlist JOIN folder ON folder.id = playlist.folder WHERE is_present = 1 ORDER BY place
            """)
        while try statement.step() {
            guard let id = statement.integer(0), let path = statement.text(1) else { continue }
            places[id] = playlists.count
            playlists.append(
                PlaylistContents(
                    path: path, title: statement.text(2) ?? "", entryCount: Int(statement.integer(3) ?? 0), missing: [])
            )
        }
        for (playlist, line) in try PlaylistRows(database).missing() {
            if let place = places[playlist] { playlists[place].missing.append(line) }
        }
        return playlists
    }
}
