import Database
import Platform

/// Logins and requests for them, in SQLite beside the index. It stores only hashes of tokens and codes.
///
/// Thread: any, and any process: `tonearm-origin approve` uses the same file.
/// `@unchecked Sendable` is safe because `lock` guards the connection.
final class IssuedLogins: @unchecked Sendable {
    private let lock = Lock()
    private let database: Database

    init(in folder: String) throws(DatabaseError) {
        database = try Database(path: "\(folder)/logins.db")
        try database.migrate([Self.schema])
    }

    /// Runs `body` as one transaction.
    func transaction<Result>(_ body: (Database) throws(DatabaseError) -> Result) throws(DatabaseError) -> Result {
        try lock.withLock { () throws(DatabaseError) in
            try database.transaction { () throws(DatabaseError) in try body(database) }
        }
    }

    func read<Result>(_ body: (Database) throws(DatabaseError) -> Result) throws(DatabaseError) -> Result {
        try lock.withLock { () throws(DatabaseError) in try body(database) }
    }

    private static let schema = SchemaModule(
        "logins",
        [
            Migration(
                1,
                """
                CREATE TABLE request (
                    device_code BLOB PRIMARY KEY NOT NULL,
                    user_code TEXT NOT NULL UNIQUE,
                    client TEXT NOT NULL,
                    expires INTEGER NOT NULL,
                    interval INTEGER NOT NULL,
                    asked INTEGER,
                    -- NULL until the owner has decided.
                    is_allowed INTEGER
                ) WITHOUT ROWID;
                CREATE TABLE login (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    client TEXT NOT NULL,
                    created INTEGER NOT NULL,
                    -- Tokens are given out in generations: the last one, and the last that the client was seen to have.
                    generation INTEGER NOT NULL,
                    seen INTEGER NOT NULL
                );
                CREATE TABLE token (
                    hash BLOB PRIMARY KEY NOT NULL,
                    login INTEGER NOT NULL REFERENCES login (id) ON DELETE CASCADE,
                    generation INTEGER NOT NULL,
                    is_refresh INTEGER NOT NULL,
                    expires INTEGER NOT NULL
                ) WITHOUT ROWID;
                CREATE INDEX token_login ON token (login);
                CREATE INDEX token_expires ON token (expires);
                """)
        ])
}
