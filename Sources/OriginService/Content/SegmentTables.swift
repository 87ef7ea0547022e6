import Database
import HTTPServer
import Library
import Media
import Platform

/// The segment tables of the tracks: made on the first request, then stored in the index.
///
/// Thread: any.
struct SegmentTables: Sendable {
    let index: MusicIndex

    /// Returns nil for a track that can only be served as a whole file: it is not FLAC, or damaged.
    func table(of track: Track, _ file: OpenedFile) throws(DatabaseError) -> SegmentTable? {
        guard track.container == .flac else { return nil }
        // An empty value means that there is no table.
        if let kept = try kept(track) { return SegmentTable(encoded: kept) }
        let table: SegmentTable?
        do throws(MediaError) { table = try SegmentTable(file) } catch {
            Log.notice("\(track.path): served as a whole file only: \(error.reason)")
            table = nil
        }
        do throws(DatabaseError) {
            try index.write { (database) throws(DatabaseError) in
                try database.execute(
                    "INSERT OR REPLACE INTO segments (track, version, content) VALUES (?, ?, ?)", .integer(track.id),
                    .text(track.version), .bytes(table?.encoded() ?? []))
            }
        } catch {
            // A full medium costs one more read of the file for each request, but no music.
            Log.warning("\(track.path): its segments cannot be kept: \(error.description)")
        }
        return table
    }

    private func kept(_ track: Track) throws(DatabaseError) -> [UInt8]? {
        try index.readTables { (database) throws(DatabaseError) in
            var statement = try database.prepare("SELECT content FROM segments WHERE track = ? AND version = ?")
            try statement.bind([.integer(track.id), .text(track.version)])
            return try statement.step() ? statement.bytes(0) : nil
        }
    }
}
