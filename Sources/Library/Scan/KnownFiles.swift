import Database

/// The files of one folder, according to the index.
struct KnownFiles {
    struct Row {
        var stamp: FileStamp
        var isPresent: Bool
    }

    /// The number of the folder; nil when the index does not have it.
    let folder: Int64?
    private var tracks: [PathBytes: Row] = [:]
    private var playlists: [PathBytes: Row] = [:]

    init(_ path: String, _ index: MusicIndex) throws(DatabaseError) {
        folder = try index.rows("SELECT id FROM folder WHERE path = ?", [.text(path)]) { $0.integer(0) }.first
        guard let folder else { return }
        tracks = try Self.rows("track", folder, index)
        playlists = try Self.rows("playlist", folder, index)
    }

    private static func rows(
        _ table: String, _ folder: Int64, _ index: MusicIndex
    ) throws(DatabaseError) -> [PathBytes: Row] {
        var rows: [PathBytes: Row] = [:]
        let all = try index.rows(
            "SELECT file, size, modified, inode, is_present FROM \(table) WHERE folder = ?", [.integer(folder)]
        ) { row -> (String, Row)? in
            guard let file = row.text(0), let size = row.integer(1), let modified = row.integer(2) else { return nil }
            let stamp = FileStamp(size: size, modified: modified, state: row.integer(3) ?? 0)
            return (file, Row(stamp: stamp, isPresent: row.integer(4) ?? 0 > 0))
        }
        // A file with several tracks exists if one of its tracks does.
        for (file, row) in all where row.isPresent || (rows[PathBytes(file)]?.stamp.size ?? -1) < 0 {
            rows[PathBytes(file)] = row
        }
        return rows
    }

    mutating func takeTrack(_ file: String) -> Row? { tracks.removeValue(forKey: PathBytes(file)) }
    mutating func takePlaylist(_ file: String) -> Row? { playlists.removeValue(forKey: PathBytes(file)) }
    mutating func putBack(_ file: String, _ row: Row) { tracks[PathBytes(file)] = row }
    mutating func putBack(playlist file: String, _ row: Row) { playlists[PathBytes(file)] = row }

    /// Forgets all files but one.
    mutating func keep(only file: String) {
        let name = PathBytes(file)
        tracks = tracks.filter { $0.key == name }
        playlists = playlists.filter { $0.key == name }
    }

    /// The remaining files that existed at the last scan, each with the change that marks it as gone.
    var present: [(name: String, gone: ScanBatch.Change)] {
        tracks.filter { $0.value.isPresent }.map { ($0.key.path, .tracksAreGone) }
            + playlists.filter { $0.value.isPresent }.map { ($0.key.path, .playlistIsGone) }
    }
}
