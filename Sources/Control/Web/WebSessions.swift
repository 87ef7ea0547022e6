import Appliance
import Crypto
import Database
import Platform

/// The browsers that have logged in. Each has a random cookie, of which only the hash is stored.
///
/// Thread: any; `@unchecked Sendable` is safe because `lock` guards the state.
final class WebSessions: @unchecked Sendable {
    /// How long a session lasts, in seconds: 30 days.
    static let lifetime: Int64 = 30 * 86_400
    /// The most sessions. A newer session replaces the one that ends first.
    static let limit = 100

    private let lock = Lock()
    private let storage: StorageThread
    private let password: [UInt8]
    private let random: any RandomSource
    private let ended: @Sendable (WebSessionRows.Hash) -> Void
    private var sessions: [WebSessionRows.Session] = []

    /// - Parameters:
    ///   - password: a part of each hash, so that another password ends all sessions.
    ///   - ended: called when a session ends before the server does. Any thread.
    init(
        _ storage: StorageThread, password: [UInt8], random: any RandomSource,
        ended: @escaping @Sendable (WebSessionRows.Hash) -> Void
    ) {
        self.storage = storage
        self.password = password
        self.random = random
        self.ended = ended
    }

    /// Reads the sessions of earlier starts.
    func load() {
        storage.query { [self] database in
            guard let database, let stored = try? WebSessionRows(database).all() else { return }
            lock.withLock { sessions += stored }
        }
    }

    /// Begins a session.
    /// - Parameters:
    ///   - isSecure: whether the session uses TLS. Others may know a cookie that was sent without TLS, so it is not
    ///     valid over TLS.
    ///   - now: the time in seconds since 1970.
    /// - Returns: the cookie of the session.
    func begin(isSecure: Bool, at now: Int64) -> String {
        let cookie = hexadecimal(random.bytes(32))
        let session = WebSessionRows.Session(hash: hash(cookie, isSecure), end: now + Self.lifetime)
        let former = lock.withLock {
            sessions.append(session)
            let former = sessions.filter { $0.end <= now }
            sessions.removeAll { $0.end <= now }
            guard sessions.count > Self.limit else { return former }
            let first = sessions.indices.min { sessions[$0].end < sessions[$1].end } ?? 0
            return former + [sessions.remove(at: first)]
        }
        write { rows throws(DatabaseError) in
            for session in former { try rows.remove(session.hash) }
            try rows.add(session)
        }
        for session in former { ended(session.hash) }
        return cookie
    }

    /// Returns the session of a cookie; nil when there is none, or when it has ended.
    func session(_ cookie: String, isSecure: Bool, at now: Int64) -> WebSessionRows.Hash? {
        let hash = hash(cookie, isSecure)
        let isOpen = lock.withLock { sessions.contains { SecretText.isEqual($0.hash, hash) && $0.end > now } }
        return isOpen ? hash : nil
    }

    func end(_ cookie: String, isSecure: Bool) {
        let hash = hash(cookie, isSecure)
        lock.withLock { sessions.removeAll { SecretText.isEqual($0.hash, hash) } }
        write { rows throws(DatabaseError) in try rows.remove(hash) }
        ended(hash)
    }

    private func write(_ body: @escaping @Sendable (WebSessionRows) throws(DatabaseError) -> Void) {
        storage.write(answerOn: nil) { (database) throws(DatabaseError) in
            try body(WebSessionRows(database))
        } answer: { error in
            if let error { Log.warning("a session of the web page was not stored: \(error.description)") }
        }
    }

    private func hash(_ cookie: String, _ isSecure: Bool) -> WebSessionRows.Hash {
        // Hashing fails only if memory is missing. No session has the hash `[0]`.
        (try? SHA256.hash(Array(cookie.utf8) + [isSecure ? 1 : 0] + password)) ?? [0]
    }
}

/// The rows of the sessions, in the state.
///
/// Thread: that of the database.
struct WebSessionRows {
    /// SHA-256 of the cookie, a byte that is 1 for TLS, and the password.
    typealias Hash = [UInt8]

    struct Session: Equatable, Sendable {
        var hash: Hash
        /// The end of the session in seconds since 1970.
        var end: Int64
    }

    static let schema = SchemaModule(
        "web",
        [Migration(1, "CREATE TABLE web_session (hash BLOB PRIMARY KEY, end INTEGER NOT NULL) WITHOUT ROWID;")])

    private let database: Database

    init(_ database: Database) { self.database = database }

    func all() throws(DatabaseError) -> [Session] {
        var row = try database.prepare("SELECT hash, end FROM web_session")
        var sessions: [Session] = []
        while try row.step() {
            if let hash = row.bytes(0), let end = row.integer(1) { sessions.append(Session(hash: hash, end: end)) }
        }
        return sessions
    }

    func add(_ session: Session) throws(DatabaseError) {
        try database.execute(
            "INSERT OR REPLACE INTO web_session (hash, end) VALUES (?, ?)", .bytes(session.hash), .integer(session.end))
    }

    func remove(_ hash: Hash) throws(DatabaseError) {
        try database.execute("DELETE FROM web_session WHERE hash = ?", .bytes(hash))
    }
}
