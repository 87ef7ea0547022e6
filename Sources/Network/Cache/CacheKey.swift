import Crypto

/// The properties by which two requests are for the same resource.
public enum CacheScope: Equatable, Sendable {
    /// The whole address, and the field Authorization, which identifies the client.
    case wholeAddress
    /// Only the path of the address, without host and query. Addresses of content are signed anew each time, and
    /// several hosts have the same content. `TransferRequest.cacheSpace` names the scope of the path.
    case path
}

/// The name of a resource in the cache: a digest, so that the index contains no addresses and no credentials.
public struct CacheKey: Hashable, Sendable {
    /// 32 bytes.
    public let bytes: [UInt8]

    /// - Returns: nil when `bytes` has another length.
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
        // The scheme is part of the key: a response without TLS must not answer a request with TLS.
        case .path:
            text +=
                Array("path ".utf8) + Array(request.url.utf8.prefix { $0 != UInt8(ascii: ":") }) + [0]
                + Array(Self.path(of: request.url))
            if let space = request.cacheSpace { text += [0] + Array("in \(space)".utf8) }
        }
        // A range with an end is a resource of its own, such as a segment or an initialization segment. A range without
        // an end is the rest of the whole resource.
        if let range = request.range, let end = range.upTo {
            text += [0] + Array("bytes \(range.from)-\(end)".utf8)
        }
        do throws(CryptoError) { bytes = try SHA256.hash(text) } catch { return nil }
    }

    /// Returns the path; "/" when it is empty.
    static func path(of url: String) -> Substring.UTF8View {
        let whole = url.utf8
        var rest = whole[...]
        // Skip the scheme, `://` and the host.
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
    /// Whether the request has a condition of its own (RFC 9110, 13).
    var hasConditions: Bool {
        headers.contains { header in
            ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "range"]
                .contains { header.isNamed($0) }
        }
    }
}
