import CSQLite
import Platform

/// A connection to one SQLite database in WAL mode. A committed transaction survives a power cut (`synchronous=FULL`).
///
/// Thread: one at a time, also for its statements. In the program that is the storage thread (`StorageThread`); before
/// it runs, it is the thread that opens the state.
public final class Database {
    /// The database file; `-wal` and `-shm` lie beside it. `:memory:` for a database without a file.
    public let path: String
    let connection: OpaquePointer
    /// Whether the log has its whole length (`reserveLog`).
    var isLogReserved = false
    /// Compiled statements that are not in use.
    private var idle: [(sql: StatementText, handle: OpaquePointer)] = []

    /// Opens the database. A missing file is created empty, readable only for its owner.
    /// - Parameter busyTimeout: how long to wait for the lock of another process, in milliseconds.
    /// - Throws: `.notAccessible`, `.corrupt` when the file is no database, `.full`, `.busy`. A file is never removed.
    public convenience init(path: String, busyTimeout: Int = 1000) throws(DatabaseError) {
        try Self.createFile(path)
        try self.init(opening: path, busyTimeout)
    }

    /// Creates an empty database without a file. The database is lost when its connection ends.
    public static func inMemory() throws(DatabaseError) -> Database { try Database(opening: ":memory:", 0) }

    private init(opening path: String, _ busyTimeout: Int) throws(DatabaseError) {
        var opened: OpaquePointer?
        // NOMUTEX: one thread uses the connection. EXRESCODE: codes that distinguish I/O errors.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            defer { sqlite3_close_v2(opened) }
            throw DatabaseError(code: code, message: String(cString: sqlite3_errstr(code)), sql: nil, path: path)
        }
        self.path = path
        connection = opened
        // SQLite falls back to read-only access for a file that cannot be written, and reports it only at the first
        // change.
        if sqlite3_db_readonly(opened, "main") == 1 {
            throw DatabaseError(kind: .notAccessible, message: "the file or its medium is read-only", path: path)
        }
        sqlite3_busy_timeout(connection, Int32(clamping: busyTimeout))
        try execute("PRAGMA journal_mode=WAL")
        try execute("PRAGMA synchronous=FULL")
        try execute("PRAGMA foreign_keys=ON")
        try execute("PRAGMA trusted_schema=OFF")
        try execute("PRAGMA temp_store=MEMORY")
        // The player's budget is 10 MB in all: at most 256 KiB of pages, and no file mapped into memory.
        try execute("PRAGMA cache_size=-256")
        try execute("PRAGMA mmap_size=0")
        try execute("PRAGMA journal_size_limit=1048576")
    }

    deinit {
        for statement in idle { sqlite3_finalize(statement.handle) }
        sqlite3_close_v2(connection)
    }

    private static func createFile(_ path: String) throws(DatabaseError) {
        guard FileKind(at: path) == nil else { return }
        do throws(SystemError) {
            // SQLite would create a file that everyone can read, and it does not sync the file's name.
            let file = try File(updating: path, mode: 0o600)
            try file.synchronize()
            try Folder.synchronize(containing: path)
        } catch {
            throw DatabaseError(error, path: path)
        }
    }

    // MARK: Statements

    /// Compiles one statement.
    /// - Throws: `.misuse` for SQL that is not valid.
    public func prepare(_ sql: String) throws(DatabaseError) -> Statement {
        Statement(try handle(sql), of: self, sql: sql)
    }

    private func handle(_ sql: String) throws(DatabaseError) -> OpaquePointer {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v2(connection, sql, -1, &handle, nil)
        guard code == SQLITE_OK, let handle else { throw error(code, sql) }
        return handle
    }

    /// The most statements that stay compiled. Each one takes some KiB.
    private static let idleLimit = 16

    /// Returns a statement that stays compiled after its end, for the next call with the same text. For queries that
    /// run often.
    /// - Throws: `.misuse` for SQL that is not valid.
    public func reusable(_ text: StatementText) throws(DatabaseError) -> Statement {
        if let index = idle.lastIndex(where: { $0.sql === text }) {
            return Statement(idle.remove(at: index).handle, of: self, text)
        }
        return Statement(try handle(text.sql), of: self, text)
    }

    /// Takes back a reusable statement.
    func end(_ handle: OpaquePointer, _ text: StatementText) {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        idle.append((text, handle))
        if idle.count > Self.idleLimit { sqlite3_finalize(idle.removeFirst().handle) }
    }

    /// Runs one statement to its end and ignores its rows.
    /// - Parameter values: the values for the statement's `?`, in order.
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

    /// The number of rows that the last statement inserted, changed or deleted.
    public var changedRowCount: Int { Int(sqlite3_changes(connection)) }

    /// The number of the row that was inserted last.
    public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(connection) }

    /// Reads the whole file, the list of free pages included: about a second for 20 MB on a memory card.
    /// - Throws: `.corrupt` when it is damaged.
    public func check() throws(DatabaseError) {
        // quick_check leaves out only the comparison of tables with their indexes: `IndexCheck` does that later.
        var statement = try prepare("PRAGMA quick_check(1)")
        let answer = try statement.step() ? statement.text(0) ?? "" : ""
        guard answer.utf8.elementsEqual("ok".utf8) else {
            throw DatabaseError(kind: .corrupt, message: answer, path: path)
        }
    }

    /// Moves all pages from the log into the file and empties the log: the file alone is then the whole database. A
    /// power cut during this loses no data: the log is emptied after the file is on the medium.
    /// - Throws: `.busy` when another connection is in use; `.full`, `.inputOutput`.
    public func checkpoint() throws(DatabaseError) {
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)"
        var statement = try prepare(sql)
        if try statement.step(), statement.integer(0) == 1 {
            throw DatabaseError(kind: .busy, message: "the log is in use", sql: sql, path: path)
        }
    }

    // MARK: Transactions

    /// Runs `body` as one transaction. When this returns, all changes are on the medium; when it throws, none of them
    /// is. Transactions cannot be nested. A power cut leaves all changes or none.
    public func transaction<Result: ~Copyable>(
        _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        precondition(!isInTransaction, "Database.transaction: transactions cannot be nested")
        // IMMEDIATE waits for the lock of another process here. In the middle of a transaction SQLite does not wait.
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

    private static let begin = StatementText("BEGIN")
    private static let commit = StatementText("COMMIT")

    /// Runs `body`, which only reads, on one state of the database: later writes of other connections are not visible.
    /// This is faster for several statements, because the lock of the file is taken once.
    public func snapshot<Result: ~Copyable>(
        _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        precondition(!isInTransaction, "Database.snapshot: transactions cannot be nested")
        try run(Self.begin)
        do throws(DatabaseError) {
            let result = try body()
            try run(Self.commit)
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    private func run(_ text: StatementText) throws(DatabaseError) {
        var statement = try reusable(text)
        _ = try statement.step()
    }

    private func rollBack() {
        // After a full disk or an I/O error SQLite may have rolled back already.
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
