import Network

extension TransferRequest {
    /// Returns the request without the first `offset` bytes.
    func rest(from offset: Int64) -> TransferRequest {
        guard offset > 0 else { return self }
        var request = self
        request.range = ByteRange(from: (range?.from ?? 0) + offset, upTo: range?.upTo)
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
}
