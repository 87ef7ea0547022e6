import Network
import Platform

/// A request of a login (docs/service.md, "Login").
package enum LoginRequest: Equatable {
    case deviceCode
    /// Asks whether the owner has decided.
    case token(deviceCode: String)
    case refresh(String)
    case revoke(String)

    private var path: String {
        switch self {
        case .deviceCode: "/v1/oauth2/device_authorization"
        case .token, .refresh: "/v1/oauth2/token"
        case .revoke: "/v1/oauth2/revoke"
        }
    }

    private var fields: [(name: String, value: String)] {
        switch self {
        case .deviceCode: []
        case .token(let code):
            [("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", code)]
        case .refresh(let token): [("grant_type", "refresh_token"), ("refresh_token", token)]
        case .revoke(let token): [("token", token)]
        }
    }

    /// Makes the request. Redirects are not followed, because they would send the token elsewhere.
    package func transfer(_ settings: ServiceSettings) -> TransferRequest {
        let text = FormText.text(of: fields + [("client_id", settings.clientName)])
        var request = TransferRequest(
            .post(body: Array(text.utf8), contentType: "application/x-www-form-urlencoded"),
            url: settings.baseURL + path, headers: [HeaderField("Accept", "application/json")])
        request.isRedirectAllowed = false
        return request
    }
}
