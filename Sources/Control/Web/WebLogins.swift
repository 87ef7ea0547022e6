import Appliance
import HTTPServer
import Platform

/// The logins of browsers, and their rights (docs/decisions/guests.md). Without `[web] password-file` everybody may use
/// the page. With it, users need the password, and `[web] guests` lets guests use the music.
///
/// Thread: any; `@unchecked Sendable` is safe because `lock` guards the state.
final class WebLogins: @unchecked Sendable {
    /// Returns the name of the cookie. Over TLS and without it, the names differ, because a page without TLS cannot
    /// read or replace a cookie with `Secure`. The prefix `__Host-` ensures that only TLS can set the cookie of TLS
    /// (RFC 6265bis, 4.1.3).
    static func cookieName(_ request: HTTPRequest) -> String {
        request.isSecure ? "__Host-tonearm-session" : "tonearm-session"
    }

    private let lock = Lock()
    private let access: WebAccess
    private let sessions: WebSessions
    private let clock: any MonotonicClock
    /// Returns the machine's address in its own network; nil while there is none.
    private let ownAddress: @Sendable () -> String?
    private var limit = PasswordLimit()

    init(
        _ access: WebAccess, sessions: WebSessions, clock: any MonotonicClock,
        ownAddress: @escaping @Sendable () -> String?
    ) {
        self.access = access
        self.sessions = sessions
        self.clock = clock
        self.ownAddress = ownAddress
    }

    /// The message why the page admits no user; nil when it admits users.
    var problem: String? { access.problem }
    var hasPassword: Bool { access.password != nil }

    /// Returns the rights of the request's browser; nil when it has to log in first.
    func rights(of request: HTTPRequest) -> ClientRights? {
        access.rights(
            isLoggedIn: hasPassword && session(of: request) != nil,
            isPrivate: request.connection?.isPeerPrivate ?? true
        ) {
            guard let connection = request.connection, let address = ownAddress() else { return false }
            return connection.isConnected(to: address)
        }
    }

    /// Returns the session of the request; nil when it has none.
    func session(of request: HTTPRequest) -> WebSessionRows.Hash? {
        guard let cookie = Self.cookie(of: request) else { return nil }
        return sessions.session(cookie, isSecure: request.isSecure, at: SystemTime.clockMilliseconds() / 1000)
    }

    /// Answers `POST /api/login`.
    func login(_ request: HTTPRequest) throws(WebRefusal) -> HTTPAnswer {
        if let problem { throw WebRefusal(503, "locked", problem) }
        guard let given = (try? JSONValue.parse(request.body, depthLimit: 4))?["password"]?.string else {
            throw WebRefusal(400, "bad-request", "password: must be a text")
        }
        guard let password = access.password else { return .json(["ok": true]) }
        let address = request.connection?.peerAddress ?? []
        let seconds = clock.now() / 1_000_000_000
        let wait = lock.withLock {
            let wait = limit.wait(for: address, at: seconds)
            // Notes the failure before the comparison, so that simultaneous attempts count as well.
            if wait == 0 { limit.failed(address, at: seconds) }
            return wait
        }
        guard wait == 0 else {
            throw WebRefusal(429, "too-many-attempts", "too many wrong passwords: try again in \(wait) s")
        }
        guard SecretText.isEqual(Array(given.utf8), password) else {
            throw WebRefusal(403, "wrong-password", "this is not the password")
        }
        lock.withLock { limit.succeeded(address) }
        let cookie = sessions.begin(isSecure: request.isSecure, at: SystemTime.clockMilliseconds() / 1000)
        return Self.answer(setting: cookie, seconds: WebSessions.lifetime, request)
    }

    /// Answers `POST /api/logout`.
    func logout(_ request: HTTPRequest) -> HTTPAnswer {
        if let cookie = Self.cookie(of: request) { sessions.end(cookie, isSecure: request.isSecure) }
        return Self.answer(setting: "", seconds: 0, request)
    }

    private static func answer(setting cookie: String, seconds: Int64, _ request: HTTPRequest) -> HTTPAnswer {
        var answer = HTTPAnswer.json(["ok": true])
        // Scripts cannot read the cookie, and requests from other sites do not contain it (RFC 6265bis, 4.1.2).
        let attributes = "Path=/; HttpOnly; SameSite=Strict; Max-Age=\(seconds)" + (request.isSecure ? "; Secure" : "")
        answer.headers.append(HTTPField("Set-Cookie", "\(cookieName(request))=\(cookie); \(attributes)"))
        return answer
    }

    private static func cookie(of request: HTTPRequest) -> String? {
        let start = "\(cookieName(request))="
        for pair in (request.headers["cookie"] ?? "").utf8.split(separator: UInt8(ascii: ";")) {
            let pair = pair.drop { $0 == UInt8(ascii: " ") }
            if pair.starts(with: start.utf8) {
                return String(decoding: pair.dropFirst(start.utf8.count), as: UTF8.self)
            }
        }
        return nil
    }
}
