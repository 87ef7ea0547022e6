import Database
import Glibc
import Media
import Platform

/// Compares the music folder, or a part of it, with the index, and reads the headers of new and changed files.
struct MusicScan {
    /// The files to compare. Paths are without links and dots.
    enum Scope: Equatable {
        /// A folder with all its contents.
        case tree(String)
        case file(String)
    }

    let index: MusicIndex
    let scope: Scope
    /// Notified of each folder before it is read.
    var watch: FolderWatch?
    /// The music folder, in which playlists may find their files; nil: that of the scope.
    var root: String?

    struct Summary: Equatable {
        /// The number of music files.
        var tracks = 0
        /// The number of music files that were read.
        var read = 0
        /// The number of music files that are gone since the last scan.
        var gone = 0
        /// The number of files that look like music and are not readable.
        var problems = 0
        /// The number of playlists that are new, changed or gone.
        var playlists = 0

        static func += (sum: inout Summary, other: Summary) {
            sum.tracks += other.tracks
            sum.read += other.read
            sum.gone += other.gone
            sum.problems += other.problems
            sum.playlists += other.playlists
        }
    }

    /// The endings of names that are read.
    static let endings = [
        "flac", "wav", "wave", "aif", "aiff", "aifc", "m4a", "mp4", "mp3", "mp2", "ogg", "oga", "opus", "wv", "dsf",
        "dff",
    ]
    static let playlistEndings = ["m3u8", "m3u"]
    /// The changes of one transaction.
    private static let batchSize = 500
    /// The number of changes after which albums are updated for the first time; it doubles each time. So the cost of an
    /// album of any size equals a few changes for each track.
    private static let firstFinish = 500

    private struct Known {
        var stamp: FileStamp
        var isPresent: Bool
    }

    private enum Change {
        case track(FileStamp, AudioProperties, TrackMetadata)
        case trackIsBack
        case trackIsGone
        case playlist(FileStamp, PlaylistFile)
        case playlistIsBack
        case playlistIsGone
    }

    func run() throws(DatabaseError) -> Summary {
        var tracks = try known("track")
        var playlists = try known("playlist")
        var summary = Summary()
        var batch: [(String, Change)] = []
        var (changed, nextFinish) = (0, Self.firstFinish)
        var walk =
            switch scope {
            case .tree(let folder): FolderWalk(folder) { watch?.add($0) ?? true }
            case .file(let file): FolderWalk(file: file)
            }
        while let path = walk.next() {
            guard let stamp = walk.stamp(of: path) else { continue }
            let change: Change?
            if Self.isPlaylist(path) {
                change = playlist(path, stamp, &playlists)
                if change != nil { summary.playlists += 1 }
            } else {
                change = Self.track(path, stamp, &tracks, &summary)
            }
            if let change { batch.append((path, change)) }
            if batch.count >= Self.batchSize {
                changed += batch.count
                let finishes = changed >= nextFinish
                if finishes { nextFinish = changed * 2 }
                try store(batch, finishes: finishes)
                batch = []
            }
        }
        // Unreadable files may still be there: they are served when they can be read again.
        let gone = tracks.filter { $0.value.isPresent && !walk.isUnread($0.key.path) }.keys
        summary.gone = gone.count
        batch += gone.map { ($0.path, .trackIsGone) }
        let gonePlaylists = playlists.filter { $0.value.isPresent && !walk.isUnread($0.key.path) }.keys
        summary.playlists += gonePlaylists.count
        batch += gonePlaylists.map { ($0.path, .playlistIsGone) }
        try store(batch, finishes: false)
        return summary
    }

    /// Updates albums and playlists after one or several scans.
    static func finish(_ index: MusicIndex) throws(DatabaseError) {
        try index.write { (database) throws(DatabaseError) in
            try CatalogueRows(database).finish()
            try PlaylistRows(database).foldTracks()
            try PlaylistRows(database).resolve()
        }
    }

    /// Marks all files outside of the folder as gone: the index may come from another folder.
    func forgetOthers() throws(DatabaseError) {
        guard case .tree(let folder) = scope, folder != "/" else { return }
        func others(_ table: String) throws(DatabaseError) -> [String] {
            try index.read { (database) throws(DatabaseError) in
                var paths: [String] = []
                var row = try database.prepare(
                    "SELECT path FROM \(table) WHERE is_present AND NOT (path >= ? AND path < ?)")
                try row.bind([.text(folder + "/"), .text(folder + "0")])
                while try row.step() { if let path = row.text(0) { paths.append(path) } }
                return paths
            }
        }
        try store(
            others("track").map { ($0, .trackIsGone) } + others("playlist").map { ($0, .playlistIsGone) },
            finishes: true)
    }

    /// - Returns: nil when nothing has changed.
    private static func track(
        _ path: String, _ stamp: FileStamp, _ known: inout [PathBytes: Known], _ summary: inout Summary
    ) -> Change? {
        let row = known.removeValue(forKey: PathBytes(path))
        if let row, row.stamp == stamp {
            summary.tracks += 1
            return row.isPresent ? nil : .trackIsBack
        }
        do throws(MediaError) {
            let (properties, metadata) = try content(of: path)
            summary.tracks += 1
            summary.read += 1
            return .track(stamp, properties, metadata)
        } catch {
            Log.warning("\(path): not served: \(error.reason)")
            summary.problems += 1
            // The former content is gone.
            if let row { known[PathBytes(path)] = row }
            return nil
        }
    }

    private func playlist(_ path: String, _ stamp: FileStamp, _ known: inout [PathBytes: Known]) -> Change? {
        let row = known.removeValue(forKey: PathBytes(path))
        if let row, row.stamp == stamp { return row.isPresent ? nil : .playlistIsBack }
        do throws(SystemError) {
            let bytes = try File.contents(of: path, limit: PlaylistFile.mostBytes)
            let folder = Folder.containing(path)
            return .playlist(stamp, PlaylistFile(parsing: bytes, in: folder, below: root ?? scope.folder ?? folder))
        } catch {
            Log.warning("\(path): not served: \(error.reason)")
            if let row { known[PathBytes(path)] = row }
            return nil
        }
    }

    /// Returns the rows of the files in scope. The paths below a folder are between `folder/` and `folder0`, because
    /// `0` follows `/` in order.
    private func known(_ table: String) throws(DatabaseError) -> [PathBytes: Known] {
        try index.read { (database) throws(DatabaseError) in
            var known: [PathBytes: Known] = [:]
            var statement = try database.prepare(
                "SELECT path, size, modified, is_present FROM \(table) WHERE path >= ? AND path <= ?")
            switch scope {
            case .tree(let folder):
                let start = folder == "/" ? "" : folder
                try statement.bind([.text(start + "/"), .text(start + "0")])
            case .file(let file): try statement.bind([.text(file), .text(file)])
            }
            while try statement.step() {
                guard let path = statement.text(0), let size = statement.integer(1), let modified = statement.integer(2)
                else { continue }
                known[PathBytes(path)] = Known(
                    stamp: FileStamp(size: size, modified: modified), isPresent: statement.integer(3) == 1)
            }
            return known
        }
    }

    private static func content(of path: String) throws(MediaError) -> (AudioProperties, TrackMetadata) {
        let file: OpenedFile
        do throws(SystemError) { file = try OpenedFile(path) } catch { throw .source(.medium(error)) }
        let decoder = try AudioFile.open(file)
        return (decoder.properties, decoder.metadata)
    }

    /// - Parameter finishes: whether albums are updated.
    private func store(_ changes: [(String, Change)], finishes: Bool) throws(DatabaseError) {
        guard !changes.isEmpty else { return }
        try index.write { (database) throws(DatabaseError) in
            let (rows, playlists) = (CatalogueRows(database), PlaylistRows(database))
            for (path, change) in changes {
                switch change {
                case .track(let stamp, let properties, let metadata):
                    try rows.store(path, stamp, properties, metadata)
                case .trackIsBack: try rows.setPresent(true, path)
                case .trackIsGone: try rows.setPresent(false, path)
                case .playlist(let stamp, let playlist):
                    try playlists.store(playlist, path, stamp, name: CatalogueRows.name(of: path))
                case .playlistIsBack: try playlists.setPresent(true, path)
                case .playlistIsGone: try playlists.setPresent(false, path)
                }
            }
            if finishes { try rows.finish() }
        }
    }
}

extension MusicScan.Scope {
    /// The folder; nil for a file.
    fileprivate var folder: String? { if case .tree(let folder) = self { folder } else { nil } }
}

extension SystemError {
    /// Whether the error means that no file has this name. After any other error the file may well be there.
    var meansNoFile: Bool { [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG].contains(code) }
}

extension FileStamp {
    /// Returns nil when there is no ordinary file, or it cannot be read.
    init?(of path: String) {
        guard let stamp = try? FileStamp(reading: path) else { return nil }
        self = stamp
    }

    /// Returns nil when it is no ordinary file.
    init?(reading path: String) throws(SystemError) {
        var status = stat()
        guard FileName.withBytes(of: path, { stat($0, &status) }) == 0 else { throw .last("stat", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        size = Int64(status.st_size)
        // The time is only compared: beyond the year 2262 it may wrap.
        modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    }
}
