import Database
import Network
import Platform

/// The rows of the cache's index. Changes run inside a transaction of the caller.
///
/// Thread: the thread of the database.
struct CacheRows {
    static let schema = """
        CREATE TABLE cache_entry (
            key BLOB PRIMARY KEY NOT NULL, body BLOB NOT NULL, details TEXT NOT NULL, count INTEGER NOT NULL,
            is_complete INTEGER NOT NULL, size INTEGER NOT NULL, used INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX cache_entry_used ON cache_entry (used);
        CREATE TABLE cache_total (id INTEGER PRIMARY KEY NOT NULL, bytes INTEGER NOT NULL);
        INSERT INTO cache_total VALUES (1, 0)
        """

    /// Version 1 stored the fields of requests unchanged, including tokens. Deletes all rows, and overwrites them with
    /// zeros.
    static let withoutCredentials = """
        PRAGMA secure_delete = ON;
        DELETE FROM cache_entry;
        UPDATE cache_total SET bytes = 0
        """

    /// The maximum number of rows that one step removes, so that a step takes equally long in a large cache and a small
    /// one.
    static let step = 32

    private let database: Database

    init(_ database: Database) { self.database = database }

    /// - Returns: nil for a missing row and for a damaged one, which a new response replaces.
    func response(_ key: CacheKey) throws(DatabaseError) -> CachedResponse? {
        var statement = try database.prepare(
            "SELECT body, details, count, is_complete, used FROM cache_entry WHERE key = ?")
        try statement.bind([.bytes(key.bytes)])
        guard try statement.step(), let body = statement.bytes(0), let details = statement.text(1),
            let count = statement.integer(2), let isComplete = statement.integer(3), let used = statement.integer(4)
        else { return nil }
        var response = CachedResponse(
            key: key.bytes, body: body, details: details, count: count, isComplete: isComplete == 1)
        response?.used = used
        return response
    }

    func allBodies() throws(DatabaseError) -> [[UInt8]] {
        var statement = try database.prepare("SELECT body FROM cache_entry")
        var bodies: [[UInt8]] = []
        while try statement.step() { if let body = statement.bytes(0) { bodies.append(body) } }
        return bodies
    }

    /// - Returns: the bodies that are no longer needed.
    func put(
        _ response: CachedResponse, size: Int64, limit: Int64, now: Int64
    ) throws(DatabaseError) -> [[UInt8]] {
        var unused = try remove(response.key)
        unused.removeAll { $0 == response.body }
        guard size <= limit else { return unused + [response.body] }
        unused += try shrink(to: limit - size)
        guard try total() <= limit - size else { return unused + [response.body] }
        try database.execute(
            "INSERT INTO cache_entry VALUES (?, ?, ?, ?, ?, ?, ?)", .bytes(response.key.bytes), .bytes(response.body),
            .text(response.details), .integer(response.count), .integer(response.isComplete ? 1 : 0), .integer(size),
            .integer(now))
        try add(size)
        return unused
    }

    func refresh(_ response: CachedResponse, now: Int64) throws(DatabaseError) {
        try database.execute(
            "UPDATE cache_entry SET details = ?, used = ? WHERE key = ? AND body = ?", .text(response.details),
            .integer(now), .bytes(response.key.bytes), .bytes(response.body))
    }

    func remove(_ response: CachedResponse) throws(DatabaseError) -> [[UInt8]] {
        var statement = try database.prepare("SELECT body FROM cache_entry WHERE key = ?")
        try statement.bind([.bytes(response.key.bytes)])
        guard try statement.step(), statement.bytes(0) == response.body else { return [] }
        return try remove(response.key)
    }

    /// Removes the least recently used rows until the others have at most `limit` bytes; at most `step` rows.
    func shrink(to limit: Int64) throws(DatabaseError) -> [[UInt8]] {
        var excess = try total() - limit
        guard excess > 0 else { return [] }
        var keys: [[UInt8]] = []
        var statement = try database.prepare("SELECT key, size FROM cache_entry ORDER BY used LIMIT \(Self.step)")
        while excess > 0, try statement.step() {
            guard let key = statement.bytes(0) else { continue }
            keys.append(key)
            excess -= statement.integer(1) ?? 0
        }
        var unused: [[UInt8]] = []
        for key in keys.compactMap({ CacheKey(bytes: $0) }) { unused += try remove(key) }
        return unused
    }

    private func remove(_ key: CacheKey) throws(DatabaseError) -> [[UInt8]] {
        var statement = try database.prepare("SELECT body, size FROM cache_entry WHERE key = ?")
        try statement.bind([.bytes(key.bytes)])
        guard try statement.step() else { return [] }
        let (body, size) = (statement.bytes(0), statement.integer(1) ?? 0)
        try database.execute("DELETE FROM cache_entry WHERE key = ?", .bytes(key.bytes))
        try add(-size)
        return body.map { [$0] } ?? []
    }

    /// Returns the size of all files, in bytes.
    func total() throws(DatabaseError) -> Int64 {
        var statement = try database.prepare("SELECT bytes FROM cache_total")
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    /// Computes the total from all rows again: a recovered database may have lost some.
    func recount() throws(DatabaseError) {
        let sum = "(SELECT coalesce(sum(size), 0) FROM cache_entry)"
        try database.execute("UPDATE cache_total SET bytes = \(sum) WHERE bytes <> \(sum)")
    }

    private func add(_ bytes: Int64) throws(DatabaseError) {
        try database.execute("UPDATE cache_total SET bytes = max(0, bytes + ?)", .integer(bytes))
    }
}
