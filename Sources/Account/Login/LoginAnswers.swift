import Platform

/// The answer to a request for a device code (RFC 8628, 3.2).
struct DeviceCodeAnswer: Equatable {
    var deviceCode: String
    var userCode: String
    var verificationAddress: String
    /// The address with the code in it.
    var completeAddress: String?
    /// How long the code is valid, in seconds.
    var life: Int64
    /// The time between polls, in seconds.
    var interval: Int64

    /// The longest accepted text: the texts go to a terminal or into requests.
    private static let longestText = 2048

    /// - Returns: nil when a field is missing, or cannot be shown or sent.
    init?(parsing body: [UInt8]) {
        guard let json = try? JSONValue.parseForeign(body), let device = Self.text(json["device_code"]),
            let user = Self.text(json["user_code"]), let address = Self.text(json["verification_uri"]),
            let life = json["expires_in"]?.number, life >= 1
        else { return nil }
        deviceCode = device
        userCode = user
        verificationAddress = address
        completeAddress = Self.text(json["verification_uri_complete"])
        self.life = Int64(min(life, 86_400))
        let interval = json["interval"]?.number ?? 5
        self.interval = Int64(min(max(interval.isNaN ? 5 : interval, 1), 300))
    }

    private static func text(_ value: JSONValue?) -> String? {
        guard let text = value?.string, !text.utf8.isEmpty, text.utf8.count <= longestText,
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        return text
    }
}

/// The tokens of a login (RFC 6749, 5.1).
package struct LoginTokens: Equatable, Sendable {
    package var access: String
    /// nil when the service issues none; the login then ends with the access token.
    package var refresh: String?
    /// The service's id of the user; nil when the service names none.
    var user: String?

    private static let longestToken = 8192
    private static let longestUser = 256

    init(access: String, refresh: String?, user: String? = nil) {
        self.access = access
        self.refresh = refresh
        self.user = user
    }

    /// - Parameter previous: the tokens that were refreshed. The refresh token remains valid when the answer has none
    ///   (RFC 6749, 6), and so does the user.
    /// - Returns: nil when there is no bearer token.
    init?(parsing body: [UInt8], previous: LoginTokens? = nil) {
        guard let json = try? JSONValue.parseForeign(body), let access = Self.token(json["access_token"]) else {
            return nil
        }
        if let type = json["token_type"]?.string, !Self.isBearer(type) { return nil }
        self.init(
            access: access, refresh: Self.token(json["refresh_token"]) ?? previous?.refresh,
            user: Self.user(json["user_id"]) ?? previous?.user)
    }

    /// Returns the id of a user, which is a text or a number.
    static func user(_ value: JSONValue?) -> String? {
        if let number = value?.integer { return "\(number)" }
        guard let text = value?.string, !text.utf8.isEmpty, text.utf8.count <= longestUser else { return nil }
        return text
    }

    private static func isBearer(_ type: String) -> Bool {
        type.utf8.count == 6 && zip(type.utf8, "bearer".utf8).allSatisfy { $0.lowercased == $1 }
    }

    /// Returns a token of visible ASCII characters, as a header requires (RFC 6750, 2.1).
    static func token(_ value: JSONValue?) -> String? {
        guard let text = value?.string, !text.utf8.isEmpty, text.utf8.count <= longestToken,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return text
    }
}

/// An error of the token endpoint (RFC 6749, 5.2; RFC 8628, 3.5).
enum LoginErrorAnswer: Equatable {
    case authorizationPending
    case slowDown
    case accessDenied
    case expiredToken
    /// The refresh token or the code is no longer valid.
    case invalidGrant
    /// Another error, or an answer without one. The reason is for users.
    case other(String)

    private static let longestText = 256

    /// The errors without a case of their own.
    private static let others = [
        "invalid_request", "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
    ]
    private static let cases: [(String, LoginErrorAnswer)] = [
        ("authorization_pending", .authorizationPending), ("slow_down", .slowDown), ("access_denied", .accessDenied),
        ("expired_token", .expiredToken), ("invalid_grant", .invalidGrant),
    ]

    /// Returns whether the body is an error of the token endpoint. Any other answer comes from a third party.
    static func isOne(_ body: [UInt8]) -> Bool {
        guard let name = (try? JSONValue.parseForeign(body))?["error"]?.string else { return false }
        return (others + cases.map { $0.0 }).contains { $0.hasSameBytes(as: name) }
    }

    init(status: Int, body: [UInt8]) {
        let json = try? JSONValue.parseForeign(body)
        let name = json?["error"]?.string ?? ""
        if let match = Self.cases.first(where: { $0.0.hasSameBytes(as: name) }) {
            self = match.1
            return
        }
        var text = "status \(status)"
        for reason in [name, json?["error_description"]?.string ?? json?["userMessage"]?.string ?? ""]
        where !reason.utf8.isEmpty && reason.utf8.count <= Self.longestText { text += ", \(reason)" }
        self = .other(text)
    }
}
