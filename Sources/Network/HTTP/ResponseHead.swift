import Platform

/// The status and fields of a response.
public struct ResponseHead: Equatable, Sendable {
    /// 200 to 599.
    public let status: Int
    /// The fields in the order of the response.
    public let headers: [HeaderField]
    /// The address of the response, after redirects.
    public let effectiveURL: String
    /// Whether the response arrived over a connection with a verified certificate.
    public let isVerifiedTLS: Bool
    /// The field Date in seconds since 1970; nil without a valid one.
    public let date: Int64?
    /// Whether the body had a `Content-Encoding` and is decoded for the sink. The head then has neither that field nor
    /// a length, and byte offsets differ from the server's.
    public private(set) var isDecoded = false
    /// Whether this is the head of a stored response, so that the medium and not the link determines the speed of its
    /// body.
    public var isFromCache = false
    /// The time from the request to the first byte, in nanoseconds; nil for a stored response.
    package var firstByteDelay: Int64?

    public init(
        status: Int, headers: [HeaderField] = [], effectiveURL: String, isVerifiedTLS: Bool = false, date: Int64? = nil
    ) {
        self.status = status
        self.headers = headers
        self.effectiveURL = effectiveURL
        self.isVerifiedTLS = isVerifiedTLS
        self.date = date
    }

    /// - Parameter now: the present time in seconds since 1970, for dates with two digits of the year.
    init(_ lines: HeadReader, effectiveURL: String, isVerifiedTLS: Bool, now: Int64) {
        status = lines.status
        headers = lines.headers
        self.effectiveURL = effectiveURL
        self.isVerifiedTLS = isVerifiedTLS
        date = lines.headers.first { $0.isNamed("date") }.flatMap { HTTPDate.seconds(of: $0.value, now: now) }
    }

    /// Returns the value of the first field with this name, ignoring case.
    public func value(of name: String) -> String? { headers.first { $0.isNamed(name) }?.value }

    /// Returns the values of all fields with this name.
    public func values(of name: String) -> [String] { headers.filter { $0.isNamed(name) }.map { $0.value } }

    /// The head of the same answer after its body was decoded.
    var decoded: ResponseHead {
        let dropped = [
            "content-encoding", "content-length", "content-md5", "digest", "content-digest", "accept-ranges",
        ]
        var fields = headers.filter { field in !dropped.contains { field.isNamed($0) } }
        // The body has a known end, but an unknown length.
        if value(of: "transfer-encoding") == nil { fields.append(HeaderField("Transfer-Encoding", "chunked")) }
        var head = ResponseHead(
            status: status, headers: fields, effectiveURL: effectiveURL, isVerifiedTLS: isVerifiedTLS, date: date)
        (head.isDecoded, head.firstByteDelay) = (true, firstByteDelay)
        return head
    }

    /// The announced length of the body in bytes; nil when the body is chunked or ends with the connection. In a
    /// response to HEAD it is the length of the body for GET.
    public var contentLength: Int64? {
        guard value(of: "transfer-encoding") == nil, let text = value(of: "content-length"),
            !text.isEmpty, text.utf8.allSatisfy({ $0.digit != nil })
        else { return nil }
        return Int64(text).map { Self.clamped($0) }
    }

    /// The delay of `Retry-After` in seconds. A date is relative to the server's own `Date`, because the clock here may
    /// be wrong.
    public var retryAfter: Int64? {
        guard let text = value(of: "retry-after") else { return nil }
        if let seconds = Int64(text) { return seconds }
        guard let now = value(of: "date").flatMap({ HTTPDate.seconds(of: $0, now: 0) }),
            let time = HTTPDate.seconds(of: text, now: now)
        else { return nil }
        return max(0, time - now)
    }

    /// The largest accepted length and offset in bytes: 256 TiB. No content is that long, and sums and products of such
    /// numbers do not overflow.
    static let largestPosition: Int64 = 1 << 48

    /// Limits a number of a head. No other code does so.
    static func clamped(_ number: Int64) -> Int64 { min(number, largestPosition) }

    /// The time when the response was sent, in seconds since 1970. A cache on the way leaves `Date` unchanged, and adds
    /// its `Age` (RFC 9111, 5.1).
    var dateWithAge: Int64? {
        let age = min(max(value(of: "age").flatMap { Int64($0) } ?? 0, 0), 2_147_483_648)
        return date.map { $0 + age }
    }
}
