import CLinux
import CSQLite

/// A compiled statement. It cannot be copied, and its `deinit` finalizes it, or gives it back to its database.
///
/// Thread: the thread of its database.
public struct Statement: ~Copyable {
    private let handle: OpaquePointer
    /// A reference that holds the connection open as long as the statement lives.
    private let database: Database
    private let sql: String
    /// nil for a statement that is finalized at its end.
    private let text: StatementText?

    init(_ handle: OpaquePointer, of database: Database, sql: String) {
        self.handle = handle
        self.database = database
        self.sql = sql
        text = nil
    }

    /// A statement that its database takes back.
    init(_ handle: OpaquePointer, of database: Database, _ text: StatementText) {
        self.handle = handle
        self.database = database
        sql = text.sql
        self.text = text
    }

    deinit {
        if let text { database.end(handle, text) } else { sqlite3_finalize(handle) }
    }

    /// Binds values to the statement's `?`, in order, and resets it.
    /// - Throws: `.misuse` when the number of values is wrong.
    public mutating func bind(_ values: [DatabaseValue]) throws(DatabaseError) {
        sqlite3_reset(handle)
        guard values.count == Int(sqlite3_bind_parameter_count(handle)) else {
            throw DatabaseError(
                code: SQLITE_RANGE, message: "\(values.count) values do not fit", sql: sql, path: database.path)
        }
        for (index, value) in values.enumerated() {
            let code = bind(value, at: Int32(index + 1))
            if code != SQLITE_OK { throw database.error(code, sql) }
        }
    }

    private func bind(_ value: DatabaseValue, at index: Int32) -> Int32 {
        // SQLITE_TRANSIENT is a cast that Swift cannot import: SQLite makes its own copy.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let value): return sqlite3_bind_int64(handle, index, value)
        case .real(let value): return sqlite3_bind_double(handle, index, value)
        case .text(let value):
            return sqlite3_bind_text64(
                handle, index, value, sqlite3_uint64(value.utf8.count), transient, UInt8(SQLITE_UTF8))
        case .bytes(let value):
            // A null pointer, which an empty array may have, would bind NULL.
            if value.isEmpty { return sqlite3_bind_zeroblob(handle, index, 0) }
            return sqlite3_bind_blob64(handle, index, value, sqlite3_uint64(value.count), transient)
        }
    }

    /// Moves to the next row.
    /// - Returns: whether there is one. After the last row the next call starts again.
    public mutating func step() throws(DatabaseError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            sqlite3_reset(handle)
            return false
        case let code:
            // The message belongs to the connection, and the reset would clear it.
            let error = database.error(code, sql)
            sqlite3_reset(handle)
            throw error
        }
    }

    // MARK: The current row

    /// Returns the column, from 0, as it is stored.
    @inline(never)
    public func value(_ column: Int) -> DatabaseValue {
        switch sqlite3_column_type(handle, Int32(column)) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(handle, Int32(column)))
        case SQLITE_FLOAT: .real(sqlite3_column_double(handle, Int32(column)))
        case SQLITE_TEXT: .text(String(decoding: rawBytes(column), as: UTF8.self))
        case SQLITE_BLOB: .bytes(Array(rawBytes(column)))
        default: .null
        }
    }

    /// Returns the column, from 0; nil when it is not an integer.
    @inline(never)
    public func integer(_ column: Int) -> Int64? {
        if case .integer(let value) = value(column) { value } else { nil }
    }

    /// Returns the column, from 0; nil when it is not a number.
    public func real(_ column: Int) -> Double? {
        switch value(column) {
        case .real(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    /// Returns the column, from 0; nil when it is not text.
    @inline(never)
    public func text(_ column: Int) -> String? {
        if case .text(let value) = value(column) { value } else { nil }
    }

    /// Returns the column, from 0; nil when it is not a blob.
    public func bytes(_ column: Int) -> [UInt8]? {
        if case .bytes(let value) = value(column) { value } else { nil }
    }

    /// Appends the bytes of a text or a blob to `bytes`, without an allocation for each row.
    public func append(_ column: Int, to bytes: inout [UInt8]) { bytes.append(contentsOf: rawBytes(column)) }

    /// Whether the column, from 0, has these bytes.
    public func isText(_ column: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let column = rawBytes(column)
        guard column.count == bytes.count else { return false }
        guard let first = column.baseAddress, let second = bytes.baseAddress else { return true }
        return memcmp(first, second, bytes.count) == 0
    }

    /// Returns the column, from 0, as an integer; 0 when it is not an integer.
    public func number(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

    /// Ends the rows before their end, so that the statement can be bound again.
    public mutating func reset() { sqlite3_reset(handle) }

    /// Returns the bytes of a column, valid until the next step.
    private func rawBytes(_ column: Int) -> UnsafeRawBufferPointer {
        // The order matters: reading the text may convert it and change its length.
        let start = sqlite3_column_blob(handle, Int32(column))
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, Int32(column))))
    }
}

/// The SQL of a reusable statement, which a database recognises by this object. A constant of the program:
///
///     private static let value = StatementText("SELECT value FROM setting WHERE key = ?")
///     var statement = try database.reusable(Self.value)
public final class StatementText: Sendable {
    let sql: String

    public init(_ sql: String) { self.sql = sql }
}
