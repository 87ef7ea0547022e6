import Database

/// Writes which music files are listed as the tracks of cue sheets.
///
/// Thread: one at a time, inside a transaction of the index.
struct SheetRows {
    let database: Database

    init(_ database: Database) { self.database = database }

    /// - Parameter music: the files in the folder of the sheet.
    func store(_ music: [String], of sheet: FilePlace) throws(DatabaseError) {
        let folder = DatabaseValue.integer(try TrackRows(database).folder(sheet.folder))
        try database.execute("DELETE FROM sheet_file WHERE folder = ? AND sheet = ?", folder, .text(sheet.file))
        for file in music {
            try database.execute(
                "INSERT OR IGNORE INTO sheet_file (folder, sheet, music) VALUES (?, ?, ?)", folder, .text(sheet.file),
                .text(file))
        }
    }

    /// Hides the files of sheets, and shows those whose sheets are gone. Call it after changes of tracks.
    func hideFiles() throws(DatabaseError) {
        let listed = """
            SELECT 1 FROM track AS listed WHERE listed.folder = sheet_file.folder AND listed.file = sheet_file.sheet
                AND listed.part > 0 AND listed.is_present = 1
            """
        try set(
            2,
            """
            SELECT track.id, track.album_id FROM sheet_file CROSS JOIN track
                ON track.folder = sheet_file.folder AND track.file = sheet_file.music AND track.part = 0
            WHERE track.is_present = 1 AND EXISTS (\(listed))
            """)
        try set(
            1,
            """
            SELECT track.id, track.album_id FROM track WHERE is_present = 2 AND NOT EXISTS (
                SELECT 1 FROM sheet_file WHERE sheet_file.folder = track.folder AND sheet_file.music = track.file
                    AND EXISTS (\(listed)))
            """)
    }

    private func set(_ presence: Int64, _ query: String) throws(DatabaseError) {
        var tracks: [(id: Int64, album: Int64?)] = []
        var statement = try database.prepare(query)
        while try statement.step() { if let id = statement.integer(0) { tracks.append((id, statement.integer(1))) } }
        for (id, album) in tracks { try TrackRows(database).set(presence, id, album) }
    }
}
