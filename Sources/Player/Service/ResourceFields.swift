import Network

extension TransferRequest {
    /// The same without the first bytes.
    func rest(from offset: Int64) -> TransferRequest {
        guard offset > 0 else { return self }
        var request = self
        request.range = ByteRange(from: (range?.from ?? 0) + offset, upTo: range?.upTo)
        return request
    }

    /// For the log: what follows in an address may be a secret.
    var host: String {
        let parts = url.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: true)
        guard parts.count > 1 else { return "the service" }
        let host = parts[1].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return String(decoding: host, as: UTF8.self)
    }
}

extension ResponseHead {
    /// In seconds. A date counts from the server's own `Date`: the clock here may be wrong.
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
