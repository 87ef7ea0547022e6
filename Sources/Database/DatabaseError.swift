import CSQLite
import Platform

/// Why an operation of the database failed.
public struct DatabaseError: Error, Equatable, Sendable {
    /// The kinds of errors that a caller handles differently.
    public enum Kind: Equatable, Sendable {
        /// Another connection held the lock for the whole busy timeout. Nothing changed; a retry may help.
        case busy
        /// No space on the medium. Nothing changed.
        case full
        /// The file is damaged or not a database. It is unchanged.
        case corrupt
        /// A newer version of the program wrote the file. It is unchanged.
        case newerSchema(found: Int, known: Int)
        /// The file or its folder is missing, or may not be opened or written.
        case notAccessible
        /// A rule of the schema (unique, not null, foreign key, check) forbids it. Nothing changed.
        case constraint
        /// The medium failed. Nothing changed.
        case inputOutput
        /// The operation was interrupted because other work waited. Nothing changed.
        case interrupted
        /// A mistake in the program (invalid SQL, too many values), or no memory.
        case misuse
    }

    public var kind: Kind
    /// SQLite's extended result code; 0 when the error is not from SQLite.
    public var code: Int32
    public var message: String
    /// The statement, if there is one.
    public var sql: String?
    /// The database file.
    public var path: String

    public init(kind: Kind, code: Int32 = 0, message: String, sql: String? = nil, path: String) {
        self.kind = kind
        self.code = code
        self.message = message
        self.sql = sql
        self.path = path
    }

    init(code: Int32, message: String, sql: String?, path: String) {
        self.init(kind: Kind(code: code), code: code, message: message, sql: sql, path: path)
    }

    public init(_ error: SystemError, path: String) {
        self.init(
            kind: error.isOutOfSpace ? .full : .notAccessible, message: error.description, path: path)
    }
}

extension DatabaseError.Kind {
    /// The low byte of an extended code is the primary one.
    fileprivate init(code: Int32) {
        self =
            switch code & 0xFF {
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_FULL: .full
            case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
            case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .notAccessible
            case SQLITE_CONSTRAINT: .constraint
            case SQLITE_IOERR: .inputOutput
            case SQLITE_INTERRUPT: .interrupted
            default: .misuse
            }
    }
}

extension DatabaseError: CustomStringConvertible {
    /// One line that names the file and, if possible, the solution.
    public var description: String {
        switch kind {
        case .newerSchema(let found, let known):
            return "database \(path): a newer version of the program wrote it (schema \(found); this version "
                + "knows \(known)). Install that version again, or move the file away to start with an empty state. "
                + "The file is unchanged"
        case .corrupt:
            return
                "database \(path): damaged: \(message). The file is unchanged; move it away to start with an empty one"
        case .full:
            return "database \(path): no space left. Nothing was written; free some space on the medium"
        default:
            guard let sql else { return "database \(path): \(message)" }
            return "database \(path): \(message) [\(sql)]"
        }
    }
}
