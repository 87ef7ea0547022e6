import Network

/// The head of an answer from the cache, and the range of the body that belongs to it.
struct StoredHead {
    let response: ResponseHead
    let range: Range<Int64>

    init(_ stored: CachedResponse, of request: TransferRequest) {
        // A range with an end is stored as a body of its own. A range without an end is the rest of the whole body.
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

    /// Returns the head of the whole body.
    /// - Parameter length: the length of the body, in bytes; nil while unknown.
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
    /// Returns whether this answer is the rest of `stored` from byte `count` on.
    func continues(_ stored: CachedResponse, at count: Int64) -> Bool {
        // A server may send less than the requested range (RFC 9110, 15.3.7).
        guard status == 206, let part = contentRange, part.range.lowerBound == count,
            part.range.upperBound == part.length
        else { return false }
        guard let validator = stored.validator, let new = strongValidator else { return true }
        return validator.utf8.elementsEqual(new.utf8)
    }
}
