import Platform

/// A parsed request.
struct HTTPRequest: Sendable {
    /// `GET`, `HEAD` or `POST`; the server refuses others.
    var method = "GET"
    /// The path without the query, percent-decoded.
    var path: String
    /// The query, percent-decoded. If a name is repeated, the last value counts.
    var query: [String: String] = [:]
    /// The headers by name in lower case.
    var headers: [String: String] = [:]
    var body: [UInt8] = []
    /// Whether it arrived over TLS.
    var isSecure = false

    /// The parts of the path between its slashes, without empty ones.
    var components: [Substring] { path.split(separator: "/") }

    /// The fields of a form in the body; nil when it is no form. If a name is repeated, the last value counts.
    var form: [String: String]? {
        let type = headers["content-type"] ?? ""
        guard type.lowercased().hasPrefix("application/x-www-form-urlencoded") else { return nil }
        return FormText.fields(of: body).map { Dictionary($0.map { ($0.name, $0.value) }) { _, last in last } }
    }

    /// The address that the client used: `https://nas:7470`. nil when the header is missing or invalid.
    var origin: String? {
        guard let host = headers["host"], !host.isEmpty, host.utf8.allSatisfy(Self.isOfHost) else { return nil }
        return (isSecure ? "https://" : "http://") + host
    }

    /// Whether the byte is allowed in a host: letters, digits, and the characters of IPv4, IPv6 and ports (RFC 3986,
    /// 3.2.2). Other characters would need escaping in manifests.
    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".-_:[]".utf8.contains(byte)
        }
    }
}
