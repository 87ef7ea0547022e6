import Platform

/// A parsed request.
package struct HTTPRequest: Sendable {
    /// `GET`, `HEAD` or `POST`; the server refuses others.
    package var method: String
    /// The path without the query, percent-decoded.
    package var path: String
    /// The query, percent-decoded. If a name is repeated, the last value counts.
    package var query: [String: String]
    /// The headers by name in lower case.
    package var headers: [String: String]
    package var body: [UInt8]
    /// Whether it arrived over TLS.
    package var isSecure: Bool
    /// The connection; nil for a request that a test makes.
    package var connection: HTTPConnection?

    package init(
        method: String = "GET", path: String, query: [String: String] = [:], headers: [String: String] = [:],
        body: [UInt8] = [], isSecure: Bool = false, connection: HTTPConnection? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.isSecure = isSecure
        self.connection = connection
    }

    /// The parts of the path between its slashes, without empty ones.
    package var components: [Substring] { path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) } }

    /// The fields of a form in the body; nil when it is not a form. If a name is repeated, the last value counts.
    package var form: [String: String]? {
        guard HTTPText.hasPrefix(headers["content-type"] ?? "", "application/x-www-form-urlencoded") else { return nil }
        guard let fields = FormText.fields(of: body) else { return nil }
        var form: [String: String] = [:]
        for (name, value) in fields { form[name] = value }
        return form
    }

    /// The address that the client used: `https://nas:7470`. nil when the header is missing or invalid.
    package var origin: String? {
        guard let host = headers["host"], !host.isEmpty, host.utf8.allSatisfy(Self.isOfHost) else { return nil }
        return (isSecure ? "https://" : "http://") + host
    }

    /// Whether the client takes a body in the content coding gzip (RFC 9110, 12.5.3).
    package var acceptsGzip: Bool {
        for element in (headers["accept-encoding"] ?? "").utf8.split(separator: UInt8(ascii: ",")) {
            let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
            let text = String(decoding: element.filter { !blanks.contains($0) }, as: UTF8.self).lowercasedASCII
            let parts = text.utf8.split(separator: UInt8(ascii: ";"))
            guard let name = parts.first, name.elementsEqual("gzip".utf8) else { continue }
            // A weight of 0 means that it is not taken: `q=0`, `q=0.000`.
            return !parts.dropFirst().contains { part in
                part.starts(with: "q=0".utf8) && part.dropFirst(3).allSatisfy { ".0".utf8.contains($0) }
            }
        }
        return false
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
