import CSQLite
import Platform

/// A connection to one SQLite database in WAL mode. What a transaction has committed survives a power cut
/// (`synchronous=FULL`).
///
/// Thread: control alone, with its statements.
public final class Database {
    /// Of the database file; `-wal` and `-shm` lie beside it.
    public let path: String
    private let connection: OpaquePointer

    /// Opens the database, and makes an empty one where there is none, readable for its owner only.
    /// - Parameter busyTimeout: how long, in milliseconds, to wait for another process's lock.
    /// - Throws: `.notAccessible`, `.corrupt` when the file is no database, `.full`, `.busy`. A file is never removed.
    public init(path: String, busyTimeout: Int = 1000) throws(DatabaseError) {
        try Self.createFile(path)
        var opened: OpaquePointer?
        // NOMUTEX: one thread uses the connection. EXRESCODE: codes that tell one I/O error from another.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            defer { sqlite3_close_v2(opened) }
            throw DatabaseError(code: code, message: String(cString: sqlite3_errstr(code)), sql: nil, path: path)
        }
        self.path = path
        connection = opened
        sqlite3_busy_timeout(connection, Int32(clamping: busyTimeout))
        try execute("PRAGMA journal_mode=WAL")
        try execute("PRAGMA synchronous=FULL")
        try execute("PRAGMA foreign_keys=ON")
        try execute("PRAGMA trusted_schema=OFF")
        try execute("PRAGMA temp_store=MEMORY")
        // The player has 10 MB in all: at most 256 KiB of pages, and no file mapped into memory.
        try execute("PRAGMA cache_size=-256")
        try execute("PRAGMA mmap_size=0")
        try execute("PRAGMA journal_size_limit=1048576")
    }

    deinit { sqlite3_close_v2(connection) }

    private static func createFile(_ path: String) throws(DatabaseError) {
        guard FileKind(at: path) == nil else { return }
        do throws(SystemError) {
            // The file would come without this too, but readable for everyone, and SQLite does not sync its name.
            let file = try File(updating: path, mode: 0o600)
            try file.synchronize()
            try Folder.synchronize(containing: path)
        } catch {
            throw DatabaseError(error, path: path)
        }
    }

    // MARK: Statements

    /// Compiles one statement.
    /// - Throws: `.misuse` for SQL that is not understood.
    public func prepare(_ sql: String) throws(DatabaseError) -> Statement {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v2(connection, sql, -1, &handle, nil)
        guard code == SQLITE_OK, let handle else { throw error(code, sql) }
        return Statement(handle, of: self, sql: sql)
    }

    /// Runs one statement to its end; rows that it gives are passed over.
    /// - Parameter values: for the statement's `?`, in their order.
    public func execute(_ sql: String, _ values: DatabaseValue...) throws(DatabaseError) {
        var statement = try prepare(sql)
        try statement.bind(values)
        while try statement.step() {}
    }

    /// Runs several statements, separated by semicolons: a schema.
    public func execute(script: String) throws(DatabaseError) {
        let code = sqlite3_exec(connection, script, nil, nil, nil)
        if code != SQLITE_OK { throw error(code, script) }
    }

    /// Rows that the last statement inserted, changed or deleted.
    public var changedRowCount: Int { Int(sqlite3_changes(connection)) }

    /// The number of the row that was inserted last.
    public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(connection) }

    /// Looks through the whole file; takes long for a large one.
    /// - Throws: `.corrupt` when it is damaged.
    public func check() throws(DatabaseError) {
        var statement = try prepare("PRAGMA quick_check(1)")
        let answer = try statement.step() ? statement.text(0) ?? "" : ""
        guard answer.utf8.elementsEqual("ok".utf8) else {
            throw DatabaseError(kind: .corrupt, message: answer, path: path)
        }
    }

    // MARK: Transactions

    /// Runs `body` as one transaction: when this returns all of it is on the medium; when it throws nothing of it
    /// happened. Not to be nested.
    public func transaction<Result: ~Copyable>(
        _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        precondition(!isInTransaction, "Database.transaction: transactions cannot be nested")
        // IMMEDIATE: waiting for another's lock happens here, and not in the middle, where it could not be waited for.
        try execute("BEGIN IMMEDIATE")
        do throws(DatabaseError) {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    private func rollBack() {
        // After a full disk or an I/O error SQLite may have rolled back of its own accord.
        guard isInTransaction else { return }
        do throws(DatabaseError) { try execute("ROLLBACK") } catch {
            Log.error("cannot roll back: \(error.description)")
        }
    }

    private var isInTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

    func error(_ code: Int32, _ sql: String) -> DatabaseError {
        DatabaseError(code: code, message: String(cString: sqlite3_errmsg(connection)), sql: sql, path: path)
    }
}
