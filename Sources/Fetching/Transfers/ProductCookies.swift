import Network
import Platform

/// The cookies that servers set for the transfers of one product (RFC 6265). Some servers require those of the manifest
/// for the content. They are in memory, and end with the product.
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
final class ProductCookies: @unchecked Sendable {
    private struct Cookie {
        var name: Substring.UTF8View
        var value: Substring.UTF8View
        /// The domain: one host, or the end of the names of all hosts that get the cookie.
        var domain: [UInt8]
        var isOfHost = true
        var path: [UInt8]
        var isSecure = false
    }

    private static let mostCookies = 50
    private static let mostBytes = 4096

    private let lock = Lock()
    private var cookies: [Cookie] = []

    /// Stores the cookies that an answer sets.
    func take(_ head: ResponseHead) {
        let fields = head.values(of: "set-cookie")
        guard !fields.isEmpty, let address = CookieAddress(head.effectiveURL) else { return }
        for field in fields where field.utf8.count <= Self.mostBytes { take(field, from: address) }
    }

    private func take(_ field: String, from address: CookieAddress) {
        let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let pair = Self.pair(parts[0])
        guard !pair.name.isEmpty, let value = pair.value else { return }
        var cookie = Cookie(name: pair.name, value: value, domain: address.host, path: address.folder)
        var isRemoved = false
        for part in parts.dropFirst() {
            let (name, value) = Self.pair(part)
            if Self.isNamed(name, "domain"), let value, !value.isEmpty {
                let domain = (value.first == UInt8(ascii: ".") ? value.dropFirst() : value).map { $0.lowercased }
                guard address.isBelow(domain) else { return }
                (cookie.domain, cookie.isOfHost) = (domain, domain == address.host)
            } else if Self.isNamed(name, "path"), let value, value.first == UInt8(ascii: "/") {
                cookie.path = Array(value)
            } else if Self.isNamed(name, "secure") {
                cookie.isSecure = true
            } else if Self.isNamed(name, "max-age"), let value {
                isRemoved = Int64(String(Substring(value))).map { $0 <= 0 } ?? false
            }
        }
        let new = cookie
        lock.withLock {
            cookies.removeAll { old in
                old.name.elementsEqual(new.name) && old.domain == new.domain && old.path == new.path
            }
            if isRemoved { return }
            if cookies.count == Self.mostCookies { cookies.removeFirst() }
            cookies.append(new)
        }
    }

    /// Returns the field for a request; nil without a cookie for it.
    func field(for url: String) -> HeaderField? {
        guard let address = CookieAddress(url) else { return nil }
        let found = lock.withLock { cookies }.filter { cookie in
            (!cookie.isSecure || address.isSecure) && address.isIn(cookie.path)
                && (cookie.isOfHost ? cookie.domain == address.host : address.isBelow(cookie.domain))
        }
        guard !found.isEmpty else { return nil }
        var text = ""
        for cookie in found {
            if !text.utf8.isEmpty { text += "; " }
            text += "\(String(Substring(cookie.name)))=\(String(Substring(cookie.value)))"
        }
        return HeaderField("Cookie", text)
    }

    private static func pair(_ text: Substring.UTF8View) -> (name: Substring.UTF8View, value: Substring.UTF8View?) {
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return (trimmed(text), nil) }
        return (trimmed(text[..<equals]), trimmed(text[text.index(after: equals)...]))
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var rest = text.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }

    private static func isNamed(_ name: Substring.UTF8View, _ wanted: StaticString) -> Bool {
        wanted.withUTF8Buffer { name.map { $0.lowercased }.elementsEqual($0) }
    }
}

/// The parts of an address that matter for cookies.
private struct CookieAddress {
    var host: [UInt8]
    /// The path up to the last `/` (RFC 6265, 5.1.4), without it.
    var folder: [UInt8]
    private var path: [UInt8]
    var isSecure: Bool

    init?(_ url: String) {
        guard let host = Network.host(of: url) else { return nil }
        self.host = host.utf8.map { $0.lowercased }
        isSecure = url.utf8.starts(with: "https:".utf8)
        let parts = url.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
        path = [UInt8(ascii: "/")]
        if parts.count > 3 { path += parts[3].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") } }
        let slash = path.lastIndex(of: UInt8(ascii: "/")) ?? 0
        folder = slash == 0 ? [UInt8(ascii: "/")] : Array(path[..<slash])
    }

    /// Returns whether the host is this domain or in it. A name without a dot is not a domain, and an IP address is in
    /// none.
    func isBelow(_ domain: [UInt8]) -> Bool {
        if host == domain { return true }
        guard domain.contains(UInt8(ascii: ".")), host.count > domain.count + 1,
            host.suffix(domain.count) == domain[...],
            host[host.count - domain.count - 1] == UInt8(ascii: ".")
        else { return false }
        return host.contains { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) && $0 != UInt8(ascii: ".") }
    }

    func isIn(_ folder: [UInt8]) -> Bool {
        guard path.starts(with: folder) else { return false }
        return path.count == folder.count || folder.last == UInt8(ascii: "/") || path[folder.count] == UInt8(ascii: "/")
    }
}
