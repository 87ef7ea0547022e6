import Network

/// The head of an answer from the cache, and which part of the body belongs to it.
struct StoredHead {
    let response: ResponseHead
    let range: Range<Int64>

    init(_ stored: CachedResponse, of request: TransferRequest) {
        // A part with an end is stored as such. One without an end is the rest of the whole.
        let start = request.range.map { $0.upTo == nil ? $0.from : 0 } ?? 0
        if start == 0 {
            range = 0..<stored.count
            response =
                stored.status == 200
                ? Self.whole(stored, length: stored.count, of: request)
                : Self.head(stored.status, stored.headers, of: request)
        } else if start < stored.count {
            range = start..<stored.count
            let part = HeaderField("Content-Range", "bytes \(start)-\(stored.count - 1)/\(stored.count)")
            response = Self.head(206, Self.headers(stored, length: stored.count - start) + [part], of: request)
        } else {
            range = 0..<0
            response = Self.head(416, [HeaderField("Content-Range", "bytes */\(stored.count)")], of: request)
        }
    }

    /// The head of the whole body.
    /// - Parameter length: nil when it is not known.
    static func whole(_ stored: CachedResponse, length: Int64?, of request: TransferRequest) -> ResponseHead {
        head(200, headers(stored, length: length), of: request)
    }

    private static func head(_ status: Int, _ headers: [HeaderField], of request: TransferRequest) -> ResponseHead {
        var head = ResponseHead(status: status, headers: headers, effectiveURL: request.url)
        head.isFromCache = true
        return head
    }

    private static func headers(_ stored: CachedResponse, length: Int64?) -> [HeaderField] {
        let kept = stored.headers.filter { !$0.isNamed("content-length") && !$0.isNamed("content-range") }
        return kept + (length.map { [HeaderField("Content-Length", "\($0)")] } ?? [])
    }
}

extension ResponseHead {
    /// Whether it is the rest of `stored` from this byte on.
    func continues(_ stored: CachedResponse, at count: Int64) -> Bool {
        // A server may send less than was asked for (RFC 9110, 15.3.7).
        guard status == 206, let part = contentRange, part.range.lowerBound == count,
            part.range.upperBound == part.length
        else { return false }
        guard let validator = stored.validator, let new = strongValidator else { return true }
        return validator.utf8.elementsEqual(new.utf8)
    }
}
