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
    /// The delay in seconds. A date is relative to the server's own `Date`, because the clock here may be wrong.
    var retryAfter: Int64? {
        guard let text = value(of: "retry-after") else { return nil }
        if let seconds = Int64(text) { return seconds }
        guard let now = value(of: "date").flatMap({ HTTPDate.seconds(of: $0, now: 0) }),
            let time = HTTPDate.seconds(of: text, now: now)
        else { return nil }
        return max(0, time - now)
    }

    var rangeStart: Int64? { contentRange?.range.lowerBound }
}
