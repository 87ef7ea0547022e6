import Crypto
import Database
import Platform

/// Device authorization (RFC 8628), and tokens with refresh and rotation (RFC 6749, 6; RFC 9700,
/// 4.14; docs/decisions/origin-login.md).
///
/// A refresh token may be used again until the client uses a token that replaced it: a lost answer does no harm. A
/// refresh token that is used after that was copied, and the login ends.
///
/// Thread: any.
public final class DeviceLogins: Sendable {
    /// Durations in seconds.
    enum Duration {
        static let codeLife: Int64 = 600
        static let firstInterval: Int64 = 5
        static let access: Int64 = 3600
        /// The time from the last refresh on.
        static let refresh: Int64 = 180 * 86_400
    }

    /// The maximum number of open requests. More are an attack or a mistake.
    private static let mostRequests: Int64 = 32

    struct DeviceCode: Equatable {
        var deviceCode: String
        /// The user code without the dash.
        var userCode: String
    }

    struct Tokens: Equatable {
        var access: String
        var refresh: String
    }

    /// Errors of RFC 6749, 5.2, and RFC 8628, 3.5.
    enum Refusal: String, Error {
        case invalidRequest = "invalid_request"
        case invalidGrant = "invalid_grant"
        case unsupportedGrantType = "unsupported_grant_type"
        case authorizationPending = "authorization_pending"
        case slowDown = "slow_down"
        case expiredToken = "expired_token"
        case accessDenied = "access_denied"
    }

    let store: IssuedLogins
    private let random = SystemRandomSource()

    init(_ store: IssuedLogins) { self.store = store }

    /// Opens the logins of an origin, if it has had any. No file is created: it would belong to the calling user, maybe
    /// root, and the service could not open it.
    /// - Returns: nil when no player has ever asked to log in.
    public static func existing(stateFolder: String) throws(ContentOrigin.Failure) -> DeviceLogins? {
        guard !isMissing("\(stateFolder)/logins.db") else { return nil }
        return try DeviceLogins(stateFolder: stateFolder)
    }

    /// Returns false on other errors: opening the file then reports them.
    private static func isMissing(_ path: String) -> Bool {
        do throws(SystemError) { _ = try File(reading: path) } catch { return error.isMissingFile }
        return false
    }

    /// Opens the logins of an origin.
    public convenience init(stateFolder: String) throws(ContentOrigin.Failure) {
        do throws(DatabaseError) { self.init(try IssuedLogins(in: stateFolder)) } catch {
            throw ContentOrigin.Failure(description: "\(stateFolder)/logins.db: \(error.description)")
        }
    }

    private static func hash(_ secret: String) -> DatabaseValue {
        guard let hash = try? SHA256.hash(Array(secret.utf8)) else { preconditionFailure("SHA-256 without memory") }
        return .bytes(hash)
    }

    /// Returns 256 random bits, in RFC 4648's alphabet for addresses.
    private func newSecret() -> String {
        base64(random.bytes(32)).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    // MARK: Device codes

    /// Begins a request of a player.
    /// - Parameter now: the time in seconds since 1970, as everywhere here.
    /// - Returns: nil when there are too many.
    func begin(client: String, at now: Int64) throws(DatabaseError) -> DeviceCode? {
        let code = DeviceCode(deviceCode: newSecret(), userCode: UserCode.make(random))
        return try store.transaction { (database) throws(DatabaseError) in
            // Expired requests stay for a while, so that their players get the right error.
            try database.execute("DELETE FROM request WHERE expires < ?", .integer(now - Duration.codeLife))
            var count = try database.prepare("SELECT count(*) FROM request WHERE expires >= ?")
            try count.bind([.integer(now)])
            guard try count.step(), count.integer(0) ?? 0 < Self.mostRequests else { return nil }
            try database.execute(
                "INSERT INTO request (device_code, user_code, client, expires, interval) VALUES (?, ?, ?, ?, ?)",
                Self.hash(code.deviceCode), .text(code.userCode), .text(client),
                .integer(now + Duration.codeLife), .integer(Duration.firstInterval))
            return code
        }
    }

    /// Records the owner's decision.
    /// - Parameter userCode: the code without the dash.
    /// - Returns: the player's name; nil when there is no such code any more.
    func decide(_ userCode: String, isAllowed: Bool, at now: Int64) throws(DatabaseError) -> String? {
        try store.transaction { (database) throws(DatabaseError) in
            var statement = try database.prepare(
                """
                UPDATE request SET is_allowed = ? WHERE user_code = ? AND expires >= ? AND is_allowed IS NULL
                RETURNING client
                """)
            try statement.bind([.integer(isAllowed ? 1 : 0), .text(userCode), .integer(now)])
            guard try statement.step() else { return nil }
            let client = statement.text(0)
            while try statement.step() {}
            return client
        }
    }

    /// Answers a player that asks whether the owner has decided.
    func tokens(forDevice deviceCode: String, client: String, at now: Int64) throws(DatabaseError) -> Result<
        Tokens, Refusal
    > {
        let hash = Self.hash(deviceCode)
        return try store.transaction { (database) throws(DatabaseError) in
            var row = try database.prepare(
                "SELECT expires, interval, asked, is_allowed FROM request WHERE device_code = ? AND client = ?")
            try row.bind([hash, .text(client)])
            guard try row.step(), let expires = row.integer(0), let interval = row.integer(1) else {
                return .failure(.invalidGrant)
            }
            let (asked, isAllowed) = (row.integer(2), row.integer(3))
            // An unfinished statement would block the changes below.
            while try row.step() {}
            if expires < now { return .failure(.expiredToken) }
            let isTooSoon = asked.map { now - $0 < interval && now >= $0 } ?? false
            try database.execute(
                "UPDATE request SET asked = ?, interval = ? WHERE device_code = ?", .integer(now),
                .integer(isTooSoon ? interval + 5 : interval), hash)
            if isTooSoon { return .failure(.slowDown) }
            guard let isAllowed else { return .failure(.authorizationPending) }
            try database.execute("DELETE FROM request WHERE device_code = ?", hash)
            if isAllowed == 0 { return .failure(.accessDenied) }
            try database.execute(
                "INSERT INTO login (client, created, generation, seen) VALUES (?, ?, 0, 0)", .text(client),
                .integer(now))
            return .success(try newTokens(database.lastInsertedRow, generation: 1, at: now, in: database))
        }
    }

    // MARK: Tokens

    private func newTokens(
        _ login: Int64, generation: Int64, at now: Int64, in database: Database
    ) throws(DatabaseError) -> Tokens {
        let tokens = Tokens(access: newSecret(), refresh: newSecret())
        try database.execute("DELETE FROM token WHERE expires < ?", .integer(now))
        try database.execute(
            "UPDATE login SET generation = ? WHERE id = ?", .integer(generation), .integer(login))
        for (token, isRefresh, life) in [
            (tokens.access, false, Duration.access), (tokens.refresh, true, Duration.refresh),
        ] {
            try database.execute(
                "INSERT INTO token (hash, login, generation, is_refresh, expires) VALUES (?, ?, ?, ?, ?)",
                Self.hash(token), .integer(login), .integer(generation), .integer(isRefresh ? 1 : 0),
                .integer(now + life))
        }
        return tokens
    }

    private struct Known {
        var login: Int64
        var generation: Int64
        /// The last generation of the login, and the last one that the client has used.
        var last: Int64
        var seen: Int64
        var client: String
    }

    private func known(
        _ token: String, isRefresh: Bool, at now: Int64, in database: Database
    ) throws(DatabaseError) -> Known? {
        var row = try database.prepare(
            """
            SELECT login.id, token.generation, login.generation, login.seen, login.client
            FROM token JOIN login ON login.id = token.login WHERE hash = ? AND is_refresh = ? AND expires >= ?
            """)
        try row.bind([Self.hash(token), .integer(isRefresh ? 1 : 0), .integer(now)])
        guard try row.step(), let login = row.integer(0), let generation = row.integer(1), let last = row.integer(2),
            let seen = row.integer(3), let client = row.text(4)
        else { return nil }
        return Known(login: login, generation: generation, last: last, seen: seen, client: client)
    }

    private func noteSeen(_ known: Known, in database: Database) throws(DatabaseError) {
        guard known.generation > known.seen else { return }
        try database.execute(
            "UPDATE login SET seen = max(seen, ?) WHERE id = ?", .integer(known.generation), .integer(known.login))
    }

    /// Returns whether a request with this access token may be answered.
    func isValid(_ access: String, at now: Int64) throws(DatabaseError) -> Bool {
        try client(of: access, at: now) != nil
    }

    /// Returns the name of the player with this access token; nil when its requests must not be answered.
    func client(of access: String, at now: Int64) throws(DatabaseError) -> String? {
        let known = try store.read { (database) throws(DatabaseError) in
            try self.known(access, isRefresh: false, at: now, in: database)
        }
        guard let known else { return nil }
        if known.generation > known.seen {
            try store.transaction { (database) throws(DatabaseError) in try noteSeen(known, in: database) }
        }
        return known.client
    }

    /// Returns new tokens for a refresh token.
    func tokens(forRefresh refresh: String, client: String, at now: Int64) throws(DatabaseError) -> Result<
        Tokens, Refusal
    > {
        try store.transaction { (database) throws(DatabaseError) in
            guard let known = try known(refresh, isRefresh: true, at: now, in: database), known.client == client
            else { return .failure(.invalidGrant) }
            if known.generation < known.seen {
                Log.warning("login \(known.login) of \(client) ends: an old token was used again")
                try database.execute("DELETE FROM login WHERE id = ?", .integer(known.login))
                return .failure(.invalidGrant)
            }
            try noteSeen(known, in: database)
            return .success(try newTokens(known.login, generation: known.last + 1, at: now, in: database))
        }
    }

    /// Ends the login of a token, of either kind (RFC 7009).
    func revoke(_ token: String) throws(DatabaseError) {
        try store.transaction { (database) throws(DatabaseError) in
            try database.execute(
                "DELETE FROM login WHERE id = (SELECT login FROM token WHERE hash = ?)", Self.hash(token))
        }
    }
}
