import Database

/// A file of a folder that is listed besides tracks: a playlist, a cue sheet, or a file that contains one.
package struct ListedFile: Equatable, Sendable {
    package var file: String
    /// Seconds since 1970.
    package var modified: Int64
}

extension IndexReader {
    // MARK: One folder

    private static let folderByID = StatementText("SELECT id, path FROM folder WHERE id = ?")
    private static let folderByPath = StatementText("SELECT id, path FROM folder WHERE path = ?")

    /// Returns a folder by its number.
    package func folder(_ id: Int64) throws(DatabaseError) -> (id: Int64, path: String)? {
        try folder(Self.folderByID, .integer(id))
    }

    /// - Parameter path: a path in the form of `FilePlace`, where the folder / is empty.
    package func folder(at path: String) throws(DatabaseError) -> (id: Int64, path: String)? {
        try folder(Self.folderByPath, .text(path))
    }

    private func folder(
        _ text: StatementText, _ key: DatabaseValue
    ) throws(DatabaseError) -> (id: Int64, path: String)? {
        var statement = try database.reusable(text)
        try statement.bind([key])
        guard try statement.step(), let path = statement.text(1) else { return nil }
        return (statement.number(0), path)
    }

    private static let playlists = StatementText(
        "SELECT file, modified FROM playlist WHERE folder = ? AND is_present = 1 ORDER BY file")
    private static let sheets = StatementText(
        """
        SELECT file, max(modified) FROM track WHERE folder = ? AND +is_present = 1 AND part > 0
        GROUP BY file ORDER BY file
        """)

    /// Returns the playlists of a folder.
    package func playlists(inFolder id: Int64) throws(DatabaseError) -> [ListedFile] { try files(Self.playlists, id) }

    /// Returns the cue sheets of a folder, and the files that contain one.
    package func sheets(inFolder id: Int64) throws(DatabaseError) -> [ListedFile] { try files(Self.sheets, id) }

    private func files(_ text: StatementText, _ folder: Int64) throws(DatabaseError) -> [ListedFile] {
        var statement = try database.reusable(text)
        try statement.bind([.integer(folder)])
        var files: [ListedFile] = []
        while try statement.step() {
            files.append(ListedFile(file: statement.text(0) ?? "", modified: statement.number(1) / 1_000_000_000))
        }
        return files
    }

    /// Returns any listed track of a file.
    /// - Returns: the track's number, its number in a cue sheet, and the number of its folder.
    package func anyTrack(
        of place: FilePlace
    ) throws(DatabaseError) -> (id: Int64, part: Int64, folder: Int64)? {
        var statement = try database.prepare(
            """
            SELECT id, part, folder FROM track
            WHERE folder = (SELECT id FROM folder WHERE path = ?) AND file = ? AND is_present = 1 LIMIT 1
            """)
        try statement.bind([.text(place.folder), .text(place.file)])
        return try statement.step() ? (statement.number(0), statement.number(1), statement.number(2)) : nil
    }

    // MARK: Trees

    /// Returns the numbers of a folder and its subfolders, each one followed by its contents.
    package func folders(below root: String) throws(DatabaseError) -> [Int64] {
        let range = Self.places(below: root)
        return try rows(
            "SELECT id FROM folder WHERE place >= ? AND place < ? ORDER BY place",
            [.bytes(range.start), .bytes(range.end)]
        ) { $0.number(0) }
    }

    /// Returns the name of the first subfolder of `parent` with tracks, after the subfolder `last`.
    /// - Parameter last: the name of a subfolder; nil for the first one.
    package func folder(in parent: String, after last: String?) throws(DatabaseError) -> String? {
        var range = Self.places(below: parent)
        if let last { range.start = Self.places(below: "\(parent)/\(last)").end }
        var statement = try database.prepare(
            """
            SELECT path FROM folder WHERE place > ? AND place < ?
                AND EXISTS (SELECT 1 FROM track WHERE track.folder = folder.id AND +is_present = 1)
            ORDER BY place LIMIT 1
            """)
        try statement.bind([.bytes(range.start), .bytes(range.end)])
        guard try statement.step(), let path = statement.text(0) else { return nil }
        let name = path.utf8.dropFirst(parent.utf8.count + 1).prefix { $0 != UInt8(ascii: "/") }
        return String(decoding: name, as: UTF8.self)
    }

    /// Returns whether a folder or one of its subfolders has a listed track or playlist.
    package func hasMusic(below path: String) throws(DatabaseError) -> Bool {
        let range = Self.places(below: path)
        var statement = try database.prepare(
            """
            SELECT 1 FROM folder WHERE place >= ? AND place < ?
                AND (EXISTS (SELECT 1 FROM track WHERE track.folder = folder.id AND +is_present = 1)
                    OR EXISTS (SELECT 1 FROM playlist WHERE playlist.folder = folder.id AND +is_present = 1)) LIMIT 1
            """)
        try statement.bind([.bytes(range.start), .bytes(range.end)])
        return try statement.step()
    }

    /// Returns the range of sort keys of a folder and its contents.
    private static func places(below folder: String) -> (start: [UInt8], end: [UInt8]) {
        let start = FolderOrder.place(of: folder)
        // No byte of UTF-8 is 0xFF.
        guard let last = start.last else { return ([], [0xFF]) }
        return (start, start.dropLast() + [last + 1])
    }
}
