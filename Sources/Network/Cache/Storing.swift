import Crypto
import Platform

/// Decides whether a response is stored, and in which form (RFC 9111, 3).
extension CachedResponse {
    /// - Parameters:
    ///   - body: a new identity, of 16 bytes.
    /// - requested, received: when the request was sent and when the head arrived, in seconds since 1970.
    /// - Returns: nil when the response may not be stored, or is useless later.
    public init?(
        storing head: ResponseHead, of request: TransferRequest, body: [UInt8], requested: Int64, received: Int64
    ) {
        guard let key = CacheKey(of: request), head.answersWhole(request),
            !CacheControl(request.values(of: "cache-control")).isNeverStored,
            let selecting = Self.selecting(head, request, body),
            // An answer after a redirect is not stored, because the redirect's fields may permit fewer uses than those
            // of the response.
            let asked = WebAddress(request.url), asked.text.utf8.elementsEqual(head.effectiveURL.utf8)
        else { return nil }
        self.init(
            key: key, body: body, status: head.status, headers: Self.stored(head),
            selecting: selecting, requested: requested, received: received)
        let freshness = Freshness(self)
        guard !freshness.control.isNeverStored, freshness.lifetime > 0 || head.hasValidator else { return nil }
    }

    /// Makes the server's tag weak for a decoded body, because it belongs to the coded bytes (RFC 9110, 8.8.1). So no
    /// rest is requested with it.
    private static func stored(_ head: ResponseHead) -> [HeaderField] {
        let fields = head.headers.filter { isStored($0) }
        guard head.isDecoded else { return fields }
        return fields.map { field in
            let isStrong = field.isNamed("etag") && !field.value.utf8.starts(with: "W/".utf8)
            return isStrong ? HeaderField(field.name, "W/\(field.value)") : field
        }
    }

    /// Returns the request's fields that `Vary` names, with digests of their values; nil when no later request matches
    /// (`*`).
    private static func selecting(
        _ head: ResponseHead, _ request: TransferRequest, _ body: [UInt8]
    ) -> [HeaderField]? {
        var fields: [HeaderField] = []
        for value in head.values(of: "vary") {
            for part in value.utf8.split(separator: UInt8(ascii: ",")) {
                let name = part.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
                if name.elementsEqual("*".utf8) { return nil }
                let text = String(decoding: name, as: UTF8.self)
                let values = request.values(of: text)
                // Several fields with one name are too rare to be supported.
                if values.count > 1 { return nil }
                guard let digest = digest(of: values.first, for: body) else { return nil }
                fields.append(HeaderField(text, digest))
            }
        }
        return fields
    }

    /// Returns a digest of a request's field, which may be a credential: the index is not encrypted. The digest
    /// includes the random identity of the body, so that equal values of two responses differ.
    /// - Parameter value: nil for a request without the field.
    /// - Returns: empty without a value; nil without memory.
    static func digest(of value: String?, for body: [UInt8]) -> String? {
        guard let value, !value.utf8.isEmpty else { return "" }
        do throws(CryptoError) {
            return hexadecimal(try SHA256.hash(Array("vary ".utf8) + body + Array(value.utf8)))
        } catch {
            return nil
        }
    }
}

extension ResponseHead {
    /// Returns whether the body is the whole resource of the request's key.
    fileprivate func answersWhole(_ request: TransferRequest) -> Bool {
        switch (status, request.range) {
        case (200, nil): true
        case (206, let range?): range.upTo.map { contentRange?.range == range.from..<$0 } ?? false
        default: false
        }
    }

    fileprivate var hasValidator: Bool { value(of: "etag") != nil || value(of: "last-modified") != nil }

    /// The range and total length in `bytes 100-199/1000` (RFC 9110, 14.4); nil for an empty range or another unit.
    public var contentRange: (range: Range<Int64>, length: Int64?)? {
        guard status == 206, let text = value(of: "content-range"), text.utf8.starts(with: "bytes ".utf8) else {
            return nil
        }
        let parts = text.utf8.dropFirst(6).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let ends = parts[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last, last < Self.largestPosition
        else { return nil }
        return (first..<(last + 1), Self.number(parts[1]))
    }

    private static func number(_ text: Substring.UTF8View) -> Int64? {
        guard !text.isEmpty, text.allSatisfy({ $0.digit != nil }) else { return nil }
        return Int64(Substring(text)).map { clamped($0) }
    }
}
