import Database
import Glibc
import Media
import Platform

/// Compares the music folder with the index: reads the headers of files that are new or have changed.
struct MusicScan {
    let index: MusicIndex
    /// Without links and dots.
    let folder: String

    struct Summary: Equatable {
        /// Files that are there.
        var tracks = 0
        /// Of them, those that were read.
        var read = 0
        /// Files that are gone since the last scan.
        var gone = 0
        /// Files that look like music and are not readable.
        var problems = 0
    }

    /// Names that end so are read.
    static let endings = ["flac", "wav", "wave", "aif", "aiff", "aifc"]
    /// Changes of a transaction.
    private static let batchSize = 500

    private struct Known {
        var id: Int64
        var stamp: FileStamp
        var isPresent: Bool
    }

    private struct Found {
        var path: String
        var stamp: FileStamp
        /// nil when the file has not changed.
        var content: (properties: AudioProperties, metadata: TrackMetadata)?
    }

    func run() throws(DatabaseError) -> Summary {
        var known = try knownFiles()
        var summary = Summary()
        var batch: [Found] = []
        var walk = FolderWalk(folder)
        while let path = walk.next() {
            guard let stamp = FileStamp(of: path) else { continue }
            let row = known.removeValue(forKey: path)
            if let row, row.stamp == stamp {
                if !row.isPresent { batch.append(Found(path: path, stamp: stamp)) }
                summary.tracks += 1
            } else {
                do throws(MediaError) {
                    let content = try Self.content(of: path)
                    batch.append(Found(path: path, stamp: stamp, content: content))
                    summary.tracks += 1
                    summary.read += 1
                } catch {
                    Log.warning("\(path): not served: \(error)")
                    summary.problems += 1
                    // What it was before is not there any more.
                    if let row { known[path] = row }
                }
            }
            if batch.count >= Self.batchSize {
                try store(batch)
                batch = []
            }
        }
        try store(batch)
        let gone = known.values.filter(\.isPresent).map(\.id)
        try index.write { (database) throws(DatabaseError) in
            for id in gone { try database.execute("UPDATE track SET is_present = 0 WHERE id = ?", .integer(id)) }
        }
        summary.gone = gone.count
        return summary
    }

    private func knownFiles() throws(DatabaseError) -> [String: Known] {
        try index.read { (database) throws(DatabaseError) in
            var known: [String: Known] = [:]
            var statement = try database.prepare("SELECT path, id, size, modified, is_present FROM track")
            while try statement.step() {
                guard let path = statement.text(0), let id = statement.integer(1), let size = statement.integer(2),
                    let modified = statement.integer(3)
                else { continue }
                known[path] = Known(
                    id: id, stamp: FileStamp(size: size, modified: modified), isPresent: statement.integer(4) == 1)
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

    private func store(_ files: [Found]) throws(DatabaseError) {
        guard !files.isEmpty else { return }
        try index.write { (database) throws(DatabaseError) in
            for file in files {
                if let (properties, metadata) = file.content {
                    try store(file, properties, metadata, in: database)
                } else {
                    try database.execute("UPDATE track SET is_present = 1 WHERE path = ?", .text(file.path))
                }
            }
        }
    }

    private func store(
        _ file: Found, _ properties: AudioProperties, _ metadata: TrackMetadata, in database: Database
    ) throws(DatabaseError) {
        var album: Int64?
        if let title = metadata.album {
            album = try albumId(Folder.containing(file.path), title, in: database)
        }
        // What was measured belongs to the old content; an album is measured again as a whole.
        if let album {
            try database.execute("UPDATE track SET is_measured = 0 WHERE album_id = ?", .integer(album))
        }
        let gain = metadata.replayGain
        try database.execute(
            """
            INSERT INTO track (path, size, modified, is_present, container, sample_rate, channels, bit_depth, frames,
                title, artist, album, track_number, disc_number, album_id, tag_track_gain, tag_track_peak,
                tag_album_gain, tag_album_peak)
            VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (path) DO UPDATE SET size = excluded.size, modified = excluded.modified, is_present = 1,
                container = excluded.container, sample_rate = excluded.sample_rate, channels = excluded.channels,
                bit_depth = excluded.bit_depth, frames = excluded.frames, title = excluded.title,
                artist = excluded.artist, album = excluded.album, track_number = excluded.track_number,
                disc_number = excluded.disc_number, album_id = excluded.album_id,
                tag_track_gain = excluded.tag_track_gain, tag_track_peak = excluded.tag_track_peak,
                tag_album_gain = excluded.tag_album_gain, tag_album_peak = excluded.tag_album_peak,
                is_measured = 0, track_gain = NULL, track_peak = NULL, album_gain = NULL, album_peak = NULL
            """,
            .text(file.path), .integer(file.stamp.size), .integer(file.stamp.modified),
            .text(properties.container.rawValue), .integer(Int64(properties.format.sampleRate)),
            .integer(Int64(properties.format.channelCount)), .integer(Int64(properties.format.bitDepth)),
            DatabaseValue(properties.frameCount), DatabaseValue(metadata.title), DatabaseValue(metadata.artist),
            DatabaseValue(metadata.album), DatabaseValue(metadata.trackNumber), DatabaseValue(metadata.discNumber),
            DatabaseValue(album), DatabaseValue(gain.trackGain), DatabaseValue(gain.trackPeak),
            DatabaseValue(gain.albumGain), DatabaseValue(gain.albumPeak))
    }

    /// Tracks of one folder with the same album title are an album.
    private func albumId(_ folder: String, _ title: String, in database: Database) throws(DatabaseError) -> Int64? {
        try database.execute("INSERT OR IGNORE INTO album (folder, title) VALUES (?, ?)", .text(folder), .text(title))
        var statement = try database.prepare("SELECT id FROM album WHERE folder = ? AND title = ?")
        try statement.bind([.text(folder), .text(title)])
        return try statement.step() ? statement.integer(0) : nil
    }
}

extension FileStamp {
    /// nil when there is no ordinary file.
    init?(of path: String) {
        var status = stat()
        guard FileName.withBytes(of: path, { stat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    }
}
