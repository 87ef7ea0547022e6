import Database
import PCM

/// The measured loudness of files, as rows of the state's database. A row is of one version of a file.
///
/// Thread: the database's.
public struct LoudnessRows {
    public static let schema = SchemaModule(
        "loudness",
        [
            Migration(
                1,
                """
                CREATE TABLE loudness (
                    number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
                    modified INTEGER NOT NULL, track_gain REAL, track_peak REAL, album_gain REAL, album_peak REAL)
                """)
        ])
    /// The most rows: about 50 MB. The oldest measurements are removed first.
    public static let limit: Int64 = 200_000

    private let database: Database

    /// - Parameter database: its migrations include `schema`.
    public init(_ database: Database) { self.database = database }

    /// Returns for each file whether this version of it was measured.
    public func known(_ files: [MusicFileVersion]) throws(DatabaseError) -> [Bool] {
        var known: [Bool] = []
        for file in files { known.append(try replayGain(of: file) != nil) }
        return known
    }

    /// Returns the loudness of a file; nil when this version was not measured.
    @inline(never)
    public func replayGain(of file: MusicFileVersion) throws(DatabaseError) -> ReplayGain? {
        var statement = try database.prepare(
            """
            SELECT track_gain, track_peak, album_gain, album_peak FROM loudness
            WHERE path = ? AND size = ? AND modified = ?
            """)
        try statement.bind([.text(file.path), .integer(file.size), .integer(file.modified)])
        guard try statement.step() else { return nil }
        return ReplayGain(
            trackGain: statement.real(0), trackPeak: statement.real(1), albumGain: statement.real(2),
            albumPeak: statement.real(3))
    }

    /// Stores measurements, each in place of an older one of the same file. Part of the caller's transaction.
    public func keep(_ results: [FileLoudness], limit: Int64 = limit) throws(DatabaseError) {
        for result in results {
            let (file, gain) = (result.file, result.replayGain)
            try database.execute(
                """
                INSERT OR REPLACE INTO loudness
                    (path, size, modified, track_gain, track_peak, album_gain, album_peak)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                .text(file.path), .integer(file.size), .integer(file.modified), Self.value(gain.trackGain),
                Self.value(gain.trackPeak), Self.value(gain.albumGain), Self.value(gain.albumPeak))
        }
        try database.execute(
            "DELETE FROM loudness WHERE number <= (SELECT max(number) FROM loudness) - ?", .integer(limit))
    }

    private static func value(_ number: Double?) -> DatabaseValue { number.map { .real($0) } ?? .null }
}
