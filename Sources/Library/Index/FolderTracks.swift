import Database

/// The order of the tracks in a folder: whole files by album, disc, track and name, and then the tracks of each cue
/// sheet. The index stores it as a position, so that a folder can be read in order, from any track on.
///
/// Thread: one at a time, inside a transaction of the index.
struct FolderTracks {
    let database: Database

    private static let unsort = StatementText("UPDATE folder SET is_sorted = 0 WHERE id = ? AND is_sorted = 1")
    private static let order = StatementText(
        """
        SELECT id, folder_position FROM track WHERE folder = ?
        ORDER BY part > 0, CASE WHEN part > 0 THEN file END, album COLLATE NOCASE, coalesce(disc_number, 1),
            track_number, file COLLATE NOCASE, part
        """)
    private static let place = StatementText("UPDATE track SET folder_position = ? WHERE id = ?")

    /// Records that a track of a folder is new or has other tags.
    func note(_ folder: Int64) throws(DatabaseError) {
        var statement = try database.reusable(Self.unsort)
        try statement.bind([.integer(folder)])
        _ = try statement.step()
    }

    /// Writes the outdated positions. Until then new tracks are listed before the others.
    func finish() throws(DatabaseError) {
        var folders: [Int64] = []
        var unsorted = try database.prepare("SELECT id FROM folder WHERE is_sorted = 0")
        while try unsorted.step() { folders.append(unsorted.number(0)) }
        for folder in folders { try sort(folder) }
        try database.execute("UPDATE folder SET is_sorted = 1 WHERE is_sorted = 0")
    }

    private func sort(_ folder: Int64) throws(DatabaseError) {
        var moved: [(track: Int64, position: Int64)] = []
        var position: Int64 = 0
        var order = try database.reusable(Self.order)
        try order.bind([.integer(folder)])
        while try order.step() {
            position += 1
            if order.number(1) != position { moved.append((order.number(0), position)) }
        }
        var statement = try database.reusable(Self.place)
        for (track, position) in moved {
            try statement.bind([.integer(position), .integer(track)])
            _ = try statement.step()
        }
    }
}
