import Network
import Platform

extension TransferRequest {
    /// Returns the request without the first `offset` bytes. The only code that requests a rest.
    /// - Parameter validator: the validator of the resource to which these bytes belong: the server sends the rest only
    ///   of the same one (`If-Range`, RFC 9110, 13.1.5). nil without a condition.
    func rest(from offset: Int64, ifSame validator: String? = nil) -> TransferRequest {
        guard offset > 0 else { return self }
        var request = self
        request.range = ByteRange(from: (range?.from ?? 0) + offset, upTo: range?.upTo)
        request.headers.removeAll { $0.isNamed("If-Range") }
        if let validator { request.headers.append(HeaderField("If-Range", validator)) }
        return request
    }

    /// The host, for the log: the rest of an address may be a secret.
    var host: String {
        let parts = url.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: true)
        guard parts.count > 1 else { return "the service" }
        let host = parts[1].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return String(decoding: host, as: UTF8.self)
    }
}

extension ResponseHead {
    var rangeStart: Int64? { contentRange?.range.lowerBound }

    /// Whether it begins the endless stream of a station. The only code that decides it: servers of stations send
    /// fields `icy-…`.
    var isOfStation: Bool {
        headers.contains { $0.name.utf8.prefix(4).map { $0.lowercased }.elementsEqual("icy-".utf8) }
    }

    /// Whether the body has no announced end: it ends with its connection, also when that breaks (RFC 9112, 6.3).
    var endsWithConnection: Bool {
        contentRange == nil && contentLength == nil && value(of: "transfer-encoding") == nil
    }
}
