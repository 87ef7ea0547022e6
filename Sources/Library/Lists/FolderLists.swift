import Database

extension MusicIndex {
    /// Returns the folders with music in a folder, by the bytes of their names.
    /// - Parameter path: an absolute path.
    package func folders(in path: String) throws(DatabaseError) -> [String] {
        let parent = FilePlace(folder: path, file: "").folder
        let start = parent + "/"
        var names: Set<PathBytes> = []
        var from = start
        // Needs one query per folder, because the contents of each folder are skipped.
        while let next = try nextFolder(from: from, before: parent + "0") {
            let rest = next.utf8.dropFirst(start.utf8.count)
            let name = String(decoding: rest.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
            names.insert(PathBytes(name))
            // Names with bytes below the slash are sorted between a folder and its contents.
            from = name.utf8.count == rest.count ? next + "\u{1}" : start + name + "0"
        }
        return names.map { $0.path }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func nextFolder(from: String, before: String) throws(DatabaseError) -> String? {
        try rows(
            """
            SELECT path FROM folder WHERE path >= ? AND path < ?
                AND EXISTS (SELECT 1 FROM track WHERE track.folder = folder.id AND +is_present = 1)
            ORDER BY path LIMIT 1
            """, [.text(from), .text(before)]
        ) { $0.text(0) }.first
    }
}
