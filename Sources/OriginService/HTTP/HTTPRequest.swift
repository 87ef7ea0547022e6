import Platform

/// A request as the server has read it.
struct HTTPRequest: Sendable {
    /// `GET`, `HEAD` or `POST`; others are refused before.
    var method = "GET"
    /// Without the query, percent-decoded.
    var path: String
    /// Percent-decoded. Of a name that comes twice the last value counts.
    var query: [String: String] = [:]
    /// By names in lower case.
    var headers: [String: String] = [:]
    var body: [UInt8] = []
    /// Whether it came over TLS.
    var isSecure = false

    /// The parts of the path between its slashes, without empty ones.
    var components: [Substring] { path.split(separator: "/") }

    /// The fields of a form in the body. Of a name that comes twice the last value counts. nil when it is not one.
    var form: [String: String]? {
        let type = headers["content-type"] ?? ""
        guard type.lowercased().hasPrefix("application/x-www-form-urlencoded") else { return nil }
        return FormText.fields(of: body).map { Dictionary($0.map { ($0.name, $0.value) }) { _, last in last } }
    }

    /// The address that the client used: `https://nas:7470`. nil when it has not said it, or nothing that is one.
    var origin: String? {
        guard let host = headers["host"], !host.isEmpty, host.utf8.allSatisfy(Self.isOfHost) else { return nil }
        return (isSecure ? "https://" : "http://") + host
    }

    /// Letters, digits, and what addresses of IPv4 and IPv6 and ports need (RFC 3986, 3.2.2). What is left out would
    /// need escaping in manifests.
    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".-_:[]".utf8.contains(byte)
        }
    }
}
