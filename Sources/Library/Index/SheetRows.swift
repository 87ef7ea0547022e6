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

    /// Lists each track once: hides files that a sheet covers, sheets inside of these files, and further sheets for the
    /// same files. Shows them again when the sheet is gone. Call it after changes of tracks.
    func hideFiles() throws(DatabaseError) {
        var hidden: Set<Key> = []
        for folder in try sheets() {
            var taken: Set<PathBytes> = []
            for (sheet, music) in folder.sheets {
                if music.isSubset(of: taken) {
                    hidden.insert(Key(folder: folder.folder, file: sheet))
                } else {
                    taken.formUnion(music)
                }
            }
            for file in taken { hidden.insert(Key(folder: folder.folder, file: file)) }
        }
        for key in hidden {
            try set(
                2, "SELECT id, album_id FROM track WHERE folder = ? AND file = ? AND is_present = 1",
                [.integer(key.folder), .text(key.file.path)])
        }
        var statement = try database.prepare("SELECT id, album_id, folder, file FROM track WHERE is_present = 2")
        var shown: [(Int64, Int64?)] = []
        while try statement.step() {
            let key = Key(folder: statement.number(2), file: PathBytes(statement.text(3) ?? ""))
            if !hidden.contains(key) { shown.append((statement.number(0), statement.integer(1))) }
        }
        for (id, album) in shown { try TrackRows(database).set(1, id, album) }
    }

    /// A file, as the number of its folder and its name.
    private struct Key: Hashable {
        var folder: Int64
        var file: PathBytes
    }

    /// Returns the existing sheets of each folder, in the order of their names, with the files that they name.
    private func sheets() throws(DatabaseError) -> [(folder: Int64, sheets: [(PathBytes, Set<PathBytes>)])] {
        var folders: [(folder: Int64, sheets: [(PathBytes, Set<PathBytes>)])] = []
        var statement = try database.prepare(
            """
            SELECT folder, sheet, music FROM sheet_file WHERE EXISTS (
                SELECT 1 FROM track WHERE track.folder = sheet_file.folder AND track.file = sheet_file.sheet
                    AND part > 0 AND is_present > 0)
            ORDER BY folder, sheet COLLATE NOCASE, sheet
            """)
        while try statement.step() {
            let folder = statement.number(0)
            let (sheet, music) = (PathBytes(statement.text(1) ?? ""), PathBytes(statement.text(2) ?? ""))
            if folders.last?.folder != folder { folders.append((folder, [])) }
            if folders[folders.count - 1].sheets.last?.0 != sheet {
                folders[folders.count - 1].sheets.append((sheet, []))
            }
            let last = folders[folders.count - 1].sheets.count - 1
            folders[folders.count - 1].sheets[last].1.insert(music)
        }
        return folders
    }

    private func set(
        _ presence: Int64, _ query: String, _ values: [DatabaseValue]
    ) throws(DatabaseError) {
        var tracks: [(id: Int64, album: Int64?)] = []
        var statement = try database.prepare(query)
        try statement.bind(values)
        while try statement.step() { if let id = statement.integer(0) { tracks.append((id, statement.integer(1))) } }
        for (id, album) in tracks { try TrackRows(database).set(presence, id, album) }
    }
}
