import CCurl
import Platform

/// An http or https address, as libcurl parses it.
struct WebAddress: Equatable {
    /// The whole address.
    let text: String
    let isSecure: Bool
    /// The host in lower case; an IPv6 address has its brackets.
    let host: String
    let port: String

    /// - Parameters:
    ///   - text: an absolute address, or one relative to `base`.
    ///   - base: nil when `text` must be absolute.
    /// - Returns: nil when it is not an address, has another scheme, or has a user name.
    init?(_ text: String, relativeTo base: WebAddress? = nil) {
        guard let address = curl_url() else { return nil }
        defer { curl_url_cleanup(address) }
        // Blanks are accepted only in addresses from a server.
        let flags = UInt32(CURLU_DISALLOW_USER) | (base == nil ? 0 : UInt32(CURLU_URLENCODE))
        if let base, !Self.set(address, base.text, flags) { return nil }
        guard Self.set(address, text, flags),
            let scheme = Self.part(CURLUPART_SCHEME, of: address), let host = Self.part(CURLUPART_HOST, of: address),
            let port = Self.part(CURLUPART_PORT, of: address, UInt32(CURLU_DEFAULT_PORT)),
            let whole = Self.part(CURLUPART_URL, of: address)
        else { return nil }
        switch scheme {
        case _ where scheme.equalsIgnoringCase("https"): isSecure = true
        case _ where scheme.equalsIgnoringCase("http"): isSecure = false
        default: return nil
        }
        self.text = whole
        self.host = String(decoding: host.utf8.map { $0.lowercased }, as: UTF8.self)
        self.port = port
    }

    /// Whether both have the same scheme, host and port (RFC 9110, 4.3.1).
    func hasOrigin(of other: WebAddress) -> Bool {
        isSecure == other.isSecure && host.utf8.elementsEqual(other.host.utf8)
            && port.utf8.elementsEqual(other.port.utf8)
    }

    private static func set(_ address: OpaquePointer, _ text: String, _ flags: UInt32) -> Bool {
        // A 0 byte would end the text early.
        !text.isEmpty && !text.utf8.contains(0)
            && text.withCString {
                curl_url_set(address, CURLUPART_URL, $0, flags) == CURLUE_OK
            }
    }

    private static func part(_ part: CURLUPart, of address: OpaquePointer, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(address, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
