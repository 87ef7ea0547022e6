import Appliance
import HTTPServer
import Platform

/// Decides which requests the web server accepts. It protects against other sites in the same browser: against their
/// forms and scripts (CSRF), and against names that they resolve to this machine (DNS rebinding).
struct WebGuard: Sendable {
    /// The header with the token.
    static let tokenHeader = "tonearm-token"

    /// Further names of this machine in lower case, besides the names that no foreign site can have.
    let names: [String]
    /// Whether clients outside of the private networks are accepted over TLS.
    let acceptsAll: Bool
    /// The token for scripts of the page, which other sites' scripts cannot read.
    let token: String

    /// Returns why a request is refused; nil when it is accepted.
    /// - Parameter isPrivate: whether the client is in a private network.
    func refusal(of request: HTTPRequest, isPrivate: Bool) -> WebRefusal? {
        guard isPrivate || acceptsAll && request.isSecure else {
            return WebRefusal(
                403, "not-private",
                "only clients in private networks are accepted: others need [web] clients, certificate, key and "
                    + "password-file")
        }
        guard let host = request.headers["host"], isOwn(host) else {
            return .foreignHost
        }
        if let origin = request.headers["origin"] {
            // A proxy in front of this server may use TLS. Over TLS, the origin must use TLS too, because anybody can
            // forge a page without it.
            let isSame = (request.isSecure ? ["https://"] : ["http://", "https://"]).contains {
                origin.lowercasedASCII.utf8.elementsEqual(($0 + host).lowercasedASCII.utf8)
            }
            guard isSame else { return WebRefusal(403, "origin", "requests of other sites are not accepted") }
        }
        guard request.method.utf8.elementsEqual("POST".utf8) else { return nil }
        // A form of another site cannot send this type. A script would need permission from this server first (Fetch
        // standard, CORS).
        guard Self.isJSON(request.headers["content-type"] ?? "") else {
            return WebRefusal(415, "media-type", "the body must have the type application/json")
        }
        // Only browsers send the origin of each POST request.
        let isOfBrowser = request.headers["origin"] != nil || request.headers["sec-fetch-site"] != nil
        let given = request.headers[Self.tokenHeader] ?? ""
        guard !isOfBrowser || SecretText.isEqual(given, token) else {
            return WebRefusal(403, "token", "the token of GET /api/session is missing or old")
        }
        return nil
    }

    /// Whether the host of a URL can only mean this machine: an address, a name that no foreign site can have, or a
    /// configured name.
    private func isOwn(_ host: String) -> Bool {
        let bytes = host.lowercasedASCII.utf8
        guard !bytes.isEmpty else { return false }
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = String(decoding: bytes[bytes.index(after: bytes.startIndex)..<end], as: UTF8.self)
            return StreamSocket.isNumericAddress(address)
        }
        var name = bytes.prefix { $0 != UInt8(ascii: ":") }
        if name.last == UInt8(ascii: ".") { name = name.dropLast() }
        let text = String(decoding: name, as: UTF8.self)
        return LocalName.isLocal(text) || StreamSocket.isNumericAddress(text)
            || names.contains { $0.utf8.elementsEqual(text.utf8) }
    }

    /// Returns whether a media type is JSON, with or without parameters.
    private static func isJSON(_ type: String) -> Bool {
        let name = type.lowercasedASCII.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
        return name.elementsEqual("application/json".utf8)
    }
}
