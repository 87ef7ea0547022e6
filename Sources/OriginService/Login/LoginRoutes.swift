import Crypto
import Database
import HTTPServer
import Platform

/// The endpoints of device authorization, and the page on which the owner allows a player (docs/service.md, "Login").
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
final class LoginRoutes: @unchecked Sendable {
    /// The path of the page, after the address of the service. It is short because users type it.
    static let pagePath = "/link"
    private static let longestName = 64

    private let logins: DeviceLogins
    private let settings: OriginSettings
    /// Returns seconds since 1970.
    private let now: @Sendable () -> Int64
    private let lock = Lock()
    private var attempts = AttemptLimit()

    init(_ logins: DeviceLogins, settings: OriginSettings, now: @escaping @Sendable () -> Int64) {
        self.logins = logins
        self.settings = settings
        self.now = now
    }

    /// - Returns: nil for a path outside the login.
    func answer(to request: HTTPRequest) throws(DatabaseError) -> HTTPAnswer? {
        let isPost = request.method == "POST"
        switch request.path {
        case Self.pagePath where !isPost: return page(request)
        case Self.pagePath: return try decision(request)
        case "/v1/oauth2/device_authorization" where isPost: return try begin(request)
        case "/v1/oauth2/token" where isPost: return try token(request)
        case "/v1/oauth2/revoke" where isPost:
            guard let token = request.form?["token"] else { return Self.refusal(.invalidRequest, "token is missing") }
            try logins.revoke(token)
            return HTTPAnswer(headers: [HTTPField("Cache-Control", "no-store")])
        default: return nil
        }
    }

    // MARK: Players

    private static func refusal(_ error: DeviceLogins.Refusal, _ description: String? = nil) -> HTTPAnswer {
        var json: JSONValue = ["error": .string(error.rawValue)]
        if let description { json["error_description"] = .string(description) }
        return .json(json, status: 400)
    }

    /// Returns the name that a player gives itself. The owner reads it.
    private static func client(_ form: [String: String]) -> String? {
        guard let name = form["client_id"], (1...longestName).contains(name.count),
            name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        else { return nil }
        return name
    }

    private func begin(_ request: HTTPRequest) throws(DatabaseError) -> HTTPAnswer {
        guard let client = request.form.flatMap(Self.client) else {
            return Self.refusal(.invalidRequest, "client_id is missing or too long")
        }
        guard let origin = settings.publicAddress ?? request.origin else {
            return Self.refusal(.invalidRequest, "Host is missing")
        }
        guard let code = try logins.begin(client: client, at: now()) else {
            var answer = HTTPAnswer.refusal(429, SubStatus.tooManyLogins, "Too many players wait for a login.")
            answer.headers.append(HTTPField("Retry-After", "60"))
            return answer
        }
        let shown = UserCode.shown(code.userCode)
        Log.notice("\(client) asks for a login with the code \(shown)")
        let page = origin + Self.pagePath
        return .json([
            "device_code": .string(code.deviceCode), "user_code": .string(shown), "verification_uri": .string(page),
            "verification_uri_complete": .string("\(page)?code=\(shown)"),
            "expires_in": .integer(DeviceLogins.Duration.codeLife),
            "interval": .integer(DeviceLogins.Duration.firstInterval),
        ])
    }

    private func token(_ request: HTTPRequest) throws(DatabaseError) -> HTTPAnswer {
        guard let form = request.form, let client = Self.client(form) else {
            return Self.refusal(.invalidRequest, "client_id is missing or too long")
        }
        let result: Result<DeviceLogins.Tokens, DeviceLogins.Refusal>
        switch (form["grant_type"], form["device_code"], form["refresh_token"]) {
        case ("urn:ietf:params:oauth:grant-type:device_code", let code?, _):
            result = try logins.tokens(forDevice: code, client: client, at: now())
        case ("refresh_token", _, let token?):
            result = try logins.tokens(forRefresh: token, client: client, at: now())
        case ("urn:ietf:params:oauth:grant-type:device_code", nil, _), ("refresh_token", _, nil), (nil, _, _):
            return Self.refusal(.invalidRequest)
        default: return Self.refusal(.unsupportedGrantType)
        }
        switch result {
        case .failure(let refusal): return Self.refusal(refusal)
        case .success(let tokens):
            return .json([
                "access_token": .string(tokens.access), "token_type": "Bearer",
                "expires_in": .integer(DeviceLogins.Duration.access), "refresh_token": .string(tokens.refresh),
                // All logins are of the one owner.
                "user_id": "owner",
            ])
        }
    }

    // MARK: The owner

    private func page(_ request: HTTPRequest) -> HTTPAnswer {
        let code = request.query["code"].flatMap(UserCode.read)
        return VerificationPage.form(code: code, hasPassword: settings.ownersPassword != nil)
    }

    private func decision(_ request: HTTPRequest) throws(DatabaseError) -> HTTPAnswer {
        guard let password = settings.ownersPassword else {
            return VerificationPage.form(code: nil, hasPassword: false)
        }
        let form = request.form ?? [:]
        let code = UserCode.read(form["code"] ?? "")
        let time = now()
        // Check the password first: others must not learn which codes exist.
        let isRight = equalInConstantTime(Array((form["password"] ?? "").utf8), Array(password.utf8))
        // Checked and noted in one step, so that only one of several simultaneous requests is an attempt.
        let isAttempt = lock.withLock {
            guard attempts.allowsAttempt(at: time) else { return false }
            if isRight { attempts.succeeded() } else { attempts.failed(at: time) }
            return true
        }
        guard isAttempt else {
            return VerificationPage.form(
                code: code, hasPassword: true, status: 429,
                mistake: "There were too many wrong passwords. Try again in a minute.")
        }
        guard isRight else {
            Log.warning("a wrong password on the page for logins")
            return VerificationPage.form(
                code: code, hasPassword: true, status: 403, mistake: "The password is wrong.")
        }
        let isAllowed = form["decision"] == "allow"
        guard isAllowed || form["decision"] == "deny", let code,
            let client = try logins.decide(code, isAllowed: isAllowed, at: time)
        else {
            return VerificationPage.form(
                code: code, hasPassword: true, status: 404,
                mistake: "No player waits with this code. Codes are good for 10 minutes.")
        }
        Log.notice("\(client) was \(isAllowed ? "let in" : "refused")")
        return VerificationPage.decided(client: client, isAllowed: isAllowed)
    }
}
