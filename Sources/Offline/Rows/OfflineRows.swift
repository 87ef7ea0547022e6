import Database
import Platform
import Playback

/// The rows of the offline engine. Changes run inside a transaction of the caller.
///
/// Thread: the thread of the database.
package struct OfflineRows {
    /// The tables of offline copies and downloads. A partial index finds the copies that are due.
    static let schema = SchemaModule(
        "offline",
        [
            Migration(
                1,
                """
                CREATE TABLE offline_item (
                    product TEXT PRIMARY KEY NOT NULL, reference TEXT NOT NULL, request TEXT NOT NULL,
                    received TEXT NOT NULL, fingerprint BLOB NOT NULL, content BLOB NOT NULL, key BLOB NOT NULL,
                    license BLOB, count INTEGER NOT NULL, revalidate_at INTEGER, valid_until INTEGER,
                    is_damaged INTEGER NOT NULL, is_automatic INTEGER NOT NULL, plays INTEGER NOT NULL,
                    played INTEGER NOT NULL
                ) WITHOUT ROWID;
                CREATE INDEX offline_item_due ON offline_item (revalidate_at) WHERE revalidate_at IS NOT NULL;
                CREATE INDEX offline_item_content ON offline_item (content);
                CREATE INDEX offline_item_automatic ON offline_item (played) WHERE is_automatic = 1;
                CREATE TABLE offline_job (
                    number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, product TEXT UNIQUE NOT NULL,
                    reference TEXT NOT NULL,
                    request TEXT NOT NULL, priority INTEGER NOT NULL, state INTEGER NOT NULL, failure TEXT,
                    is_automatic INTEGER NOT NULL, content BLOB, key BLOB, fingerprint BLOB, synced INTEGER NOT NULL,
                    parts TEXT, percent INTEGER NOT NULL
                );
                CREATE INDEX offline_job_next ON offline_job (state, priority DESC, number);
                CREATE INDEX offline_job_content ON offline_job (content, synced) WHERE content IS NOT NULL;
                CREATE TABLE offline_total (id INTEGER PRIMARY KEY NOT NULL, bytes INTEGER NOT NULL);
                INSERT INTO offline_total VALUES (1, 0);
                CREATE TABLE offline_key (id INTEGER PRIMARY KEY NOT NULL, proof BLOB NOT NULL)
                """),
            Migration(
                2,
                """
                CREATE TABLE offline_folder (id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL);
                CREATE INDEX offline_item_damaged ON offline_item (product) WHERE is_damaged <> 0;
                CREATE TABLE former_job AS SELECT * FROM offline_job;
                DROP TABLE offline_job;
                CREATE TABLE offline_job (
                    number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, product TEXT UNIQUE NOT NULL,
                    reference TEXT NOT NULL,
                    request TEXT NOT NULL, priority INTEGER NOT NULL, state INTEGER NOT NULL, failure TEXT,
                    is_automatic INTEGER NOT NULL, content BLOB, key BLOB, fingerprint BLOB, synced INTEGER NOT NULL,
                    parts TEXT, percent INTEGER NOT NULL, is_repair INTEGER NOT NULL DEFAULT 0
                );
                CREATE INDEX offline_job_next ON offline_job (state, priority DESC, number);
                CREATE INDEX offline_job_content ON offline_job (content, synced) WHERE content IS NOT NULL;
                INSERT INTO offline_job SELECT *, 0 FROM former_job;
                DROP TABLE former_job
                """),
            // Like `OfflineValidity.dueAt`: copies with an end and without an earlier date were never re-validated.
            Migration(
                3,
                """
                UPDATE offline_item SET revalidate_at = max(valid_until, -9000000000000000000) - 86400
                WHERE typeof(valid_until) = 'integer' AND (revalidate_at IS NULL OR revalidate_at > valid_until)
                """),
            Migration(4, "CREATE TABLE offline_failure (number INTEGER PRIMARY KEY NOT NULL, time INTEGER)"),
            Migration(
                5,
                """
                CREATE TABLE offline_cover (
                    product TEXT PRIMARY KEY NOT NULL, content BLOB NOT NULL, count INTEGER NOT NULL
                ) WITHOUT ROWID;
                CREATE INDEX offline_cover_content ON offline_cover (content)
                """),
        ])

    let database: Database

    init(_ database: Database) { self.database = database }

    /// Returns at most `limit` rows. Damaged rows do not count: a page of them would hide all later rows.
    static func read<Row>(
        _ statement: inout Statement, _ limit: Int, _ row: (borrowing Statement) -> Row?
    ) throws(DatabaseError) -> [Row] {
        var rows: [Row] = []
        while rows.count < limit, try statement.step() { if let row = row(statement) { rows.append(row) } }
        return rows
    }

    /// Removes the copy and the download of a product.
    /// - Returns: the files to remove, and the reference of the last request; nil when there was nothing.
    func remove(_ product: ServiceAddress) throws(DatabaseError) -> (contents: [[UInt8]], referenceId: String)? {
        let (stored, former) = (try stored(product), try item(product))
        let (part, download) = (try part(of: product), try download(product))
        // This also removes rows that cannot be read.
        try database.execute("DELETE FROM offline_item WHERE product = ?", .text(product.text))
        let hadItem = database.changedRowCount > 0
        try database.execute("DELETE FROM offline_job WHERE product = ?", .text(product.text))
        guard hadItem || database.changedRowCount > 0 else { return nil }
        try addBytes(-(stored?.bytes ?? 0))
        let contents = [stored?.content, part, try removeCover(of: product)].compactMap { $0 }
        return (contents, download?.referenceId ?? former?.referenceId ?? product.text)
    }

    /// - Returns: whether there was anything to remove.
    func removeAll() throws(DatabaseError) -> Bool {
        try database.execute("DELETE FROM offline_item")
        var count = database.changedRowCount
        try database.execute("DELETE FROM offline_job")
        count += database.changedRowCount
        try database.execute("DELETE FROM offline_cover")
        try database.execute("UPDATE offline_total SET bytes = 0")
        return count > 0
    }

    func count(_ table: String) throws(DatabaseError) -> Int {
        var statement = try database.prepare("SELECT count(*) FROM \(table)")
        return try statement.step() ? Int(clamping: statement.integer(0) ?? 0) : 0
    }
}
