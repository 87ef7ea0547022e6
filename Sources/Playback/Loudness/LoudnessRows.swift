import Database
import PCM

/// The measured loudness of files, as rows of the state's database. A row belongs to one version of a file, and to all
/// files with the same sound.
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
                """),
            // The column is 0 in rows of an earlier version, until `note` stores their sound. The shipped SQLite has no
            // ALTER.
            Migration(
                2,
                """
                CREATE TABLE loudness_before AS SELECT * FROM loudness;
                DROP TABLE loudness;
                CREATE TABLE loudness (
                    number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
                    modified INTEGER NOT NULL, track_gain REAL, track_peak REAL, album_gain REAL, album_peak REAL,
                    content INTEGER NOT NULL DEFAULT 0);
                INSERT INTO loudness (number, path, size, modified, track_gain, track_peak, album_gain, album_peak)
                    SELECT number, path, size, modified, track_gain, track_peak, album_gain, album_peak
                    FROM loudness_before;
                DROP TABLE loudness_before;
                CREATE INDEX loudness_content ON loudness (content);
                """),
        ])
    /// The most rows: about 50 MB. The oldest measurements are removed first.
    public static let limit: Int64 = 200_000

    private let database: Database

    /// - Parameter database: its migrations include `schema`.
    public init(_ database: Database) { self.database = database }

    /// Returns the known loudness of each file; nil when neither this version nor its sound was measured.
    public func known(_ files: [MusicFileVersion]) throws(DatabaseError) -> [KnownLoudness?] {
        var known: [KnownLoudness?] = []
        for file in files { known.append(try replayGain(of: file).map { KnownLoudness(albumGain: $0.albumGain) }) }
        return known
    }

    /// Returns the loudness of a file; nil when neither this version nor its sound was measured.
    public func replayGain(of file: MusicFileVersion) throws(DatabaseError) -> ReplayGain? {
        try row(of: file)?.replayGain
    }

    /// Returns the loudness of a file, and the identity of the sound in its row.
    @inline(never)
    func row(of file: MusicFileVersion) throws(DatabaseError) -> (replayGain: ReplayGain, content: Int64)? {
        var statement = try database.prepare(
            """
            SELECT track_gain, track_peak, album_gain, album_peak, content FROM loudness
            WHERE path = ?1 AND size = ?2 AND modified = ?3 OR content = ?4
            ORDER BY path = ?1 AND size = ?2 AND modified = ?3 DESC, number DESC LIMIT 1
            """)
        let content: DatabaseValue = file.content == 0 ? .null : .integer(file.content)
        try statement.bind([.text(file.path), .integer(file.size), .integer(file.modified), content])
        guard try statement.step() else { return nil }
        let replayGain = ReplayGain(
            trackGain: statement.real(0), trackPeak: statement.real(1), albumGain: statement.real(2),
            albumPeak: statement.real(3))
        return (replayGain, statement.integer(4) ?? 0)
    }

    /// Whether no file was measured.
    func isEmpty() throws(DatabaseError) -> Bool {
        var statement = try database.prepare("SELECT 1 FROM loudness LIMIT 1")
        return try !statement.step()
    }

    // MARK: Rows of an earlier version

    /// Returns the next rows whose sound is not known, after the row with this number.
    public func unidentified(
        after number: Int64, limit: Int
    ) throws(DatabaseError) -> [(number: Int64, file: MusicFileVersion)] {
        var statement = try database.prepare(
            """
            SELECT number, path, size, modified FROM loudness WHERE content = 0 AND number > ?
            ORDER BY number LIMIT ?
            """)
        try statement.bind([.integer(number), .integer(Int64(limit))])
        var rows: [(number: Int64, file: MusicFileVersion)] = []
        while try statement.step() {
            let file = MusicFileVersion(
                path: statement.text(1) ?? "", size: statement.integer(2) ?? 0, modified: statement.integer(3) ?? 0)
            rows.append((statement.integer(0) ?? 0, file))
        }
        return rows
    }

    /// Stores the sound of the row of this version of a file. Part of the caller's transaction.
    public func note(_ content: Int64, of file: MusicFileVersion) throws(DatabaseError) {
        try database.execute(
            "UPDATE loudness SET content = ? WHERE path = ? AND size = ? AND modified = ?", .integer(content),
            .text(file.path), .integer(file.size), .integer(file.modified))
    }

    /// Stores measurements, each in place of an older one of the same file. Part of the caller's transaction.
    public func keep(_ results: [FileLoudness], limit: Int64 = limit) throws(DatabaseError) {
        for result in results {
            let (file, gain) = (result.file, result.replayGain)
            try database.execute(
                """
                INSERT OR REPLACE INTO loudness
                    (path, size, modified, content, track_gain, track_peak, album_gain, album_peak)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                .text(file.path), .integer(file.size), .integer(file.modified), .integer(file.content),
                Self.value(gain.trackGain),
                Self.value(gain.trackPeak), Self.value(gain.albumGain), Self.value(gain.albumPeak))
        }
        try database.execute(
            "DELETE FROM loudness WHERE number <= (SELECT max(number) FROM loudness) - ?", .integer(limit))
    }

    private static func value(_ number: Double?) -> DatabaseValue { number.map { .real($0) } ?? .null }
}
