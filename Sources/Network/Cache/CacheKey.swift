import Crypto

/// What makes two requests ask for the same resource.
public enum CacheScope: Equatable, Sendable {
    /// The whole address, and who asks: the field Authorization.
    case wholeAddress
    /// The path of the address alone, without host and query: addresses of content are signed again each time, and the
    /// host is one of several with the same content. `TransferRequest.cacheSpace` says what the path belongs to.
    case path
}

/// The name of a resource in the cache: a digest, so that the index holds no address and no credential.
public struct CacheKey: Hashable, Sendable {
    /// 32 bytes.
    public let bytes: [UInt8]

    /// - Returns: nil when it has another length.
    public init?(bytes: [UInt8]) {
        guard bytes.count == SHA256.digestCount else { return nil }
        self.bytes = bytes
    }

    /// - Returns: nil for a request that is never answered from the cache: not GET, without a scope, or with conditions
    ///   of its own.
    public init?(of request: TransferRequest) {
        guard case .get = request.method, let scope = request.cacheScope, !request.hasConditions else { return nil }
        var text: [UInt8] = []
        switch scope {
        case .wholeAddress:
            text += Array("address ".utf8) + Array(Self.withoutFragment(request.url))
            for header in request.headers where header.isNamed("authorization") {
                text += [0] + Array(header.value.utf8)
            }
        // What came without TLS does not answer for what is asked with it.
        case .path:
            text +=
                Array("path ".utf8) + Array(request.url.utf8.prefix { $0 != UInt8(ascii: ":") }) + [0]
                + Array(Self.path(of: request.url))
            if let space = request.cacheSpace { text += [0] + Array("in \(space)".utf8) }
        }
        // A part with an end is a resource of its own: an initialization, a segment. One without an end is the rest of
        // the whole.
        if let range = request.range, let end = range.upTo {
            text += [0] + Array("bytes \(range.from)-\(end)".utf8)
        }
        do throws(CryptoError) { bytes = try SHA256.hash(text) } catch { return nil }
    }

    /// The path, "/" when it is empty.
    static func path(of url: String) -> Substring.UTF8View {
        let whole = url.utf8
        var rest = whole[...]
        // Behind `//` of the scheme comes the host.
        if let colon = whole.firstIndex(of: UInt8(ascii: ":")), whole[colon...].starts(with: "://".utf8) {
            rest = whole[colon...].dropFirst(3).drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        }
        let path = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return path.isEmpty ? Substring("/").utf8 : path
    }

    private static func withoutFragment(_ url: String) -> Substring.UTF8View {
        url.utf8.prefix { $0 != UInt8(ascii: "#") }
    }
}

extension TransferRequest {
    /// Whether it asks for something only under a condition of its own (RFC 9110, 13).
    var hasConditions: Bool {
        headers.contains { header in
            ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "range"]
                .contains { header.isNamed($0) }
        }
    }
}
