/// Status and header of a response.
public struct ResponseHead: Equatable, Sendable {
    /// 200 to 599.
    public let status: Int
    /// In the order of the response.
    public let headers: [HeaderField]
    /// Where the response came from, after redirects.
    public let effectiveURL: String
    /// Whether it came over a connection with a verified certificate.
    public let isVerifiedTLS: Bool
    /// The field Date in seconds since 1970; nil without a valid one.
    public let date: Int64?
    /// Whether the body is coded on the line (`Content-Encoding`), and decoded for the sink. The head has neither that
    /// field nor a length then, and the places of its bytes are others than those of the server.
    public private(set) var isDecoded = false
    /// Whether it is that of a stored response, so that the medium and not the line says how fast its body comes.
    public var isFromCache = false

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

    /// The value of the first field with this name, which has no case.
    public func value(of name: String) -> String? { headers.first { $0.isNamed(name) }?.value }

    /// The values of all fields with this name.
    public func values(of name: String) -> [String] { headers.filter { $0.isNamed(name) }.map { $0.value } }

    /// The head of the same answer after its body was decoded.
    var decoded: ResponseHead {
        let dropped = [
            "content-encoding", "content-length", "content-md5", "digest", "content-digest", "accept-ranges",
        ]
        var fields = headers.filter { field in !dropped.contains { field.isNamed($0) } }
        // The end of the body is known, and its length is not.
        if value(of: "transfer-encoding") == nil { fields.append(HeaderField("Transfer-Encoding", "chunked")) }
        var head = ResponseHead(
            status: status, headers: fields, effectiveURL: effectiveURL, isVerifiedTLS: isVerifiedTLS, date: date)
        head.isDecoded = true
        return head
    }

    /// The length of the body as announced, in bytes; nil when the body is chunked or ends with the connection. For a
    /// response to HEAD it is that of the body to GET.
    public var contentLength: Int64? {
        guard value(of: "transfer-encoding") == nil, let text = value(of: "content-length"),
            !text.isEmpty, text.utf8.allSatisfy({ $0.digit != nil })
        else { return nil }
        return Int64(text).map { Self.clamped($0) }
    }

    /// The largest length and position that is believed, in bytes: 256 TiB. Sums and products of such numbers do not
    /// overflow, and no content is that long.
    static let largestPosition: Int64 = 1 << 48

    /// The only place where numbers of a head are bounded.
    static func clamped(_ number: Int64) -> Int64 { min(number, largestPosition) }

    /// The time when it was sent, in seconds since 1970. A cache on the way keeps `Date`, and its `Age` says
    /// how old that is (RFC 9111, 5.1).
    var dateWithAge: Int64? {
        let age = min(max(value(of: "age").flatMap { Int64($0) } ?? 0, 0), 2_147_483_648)
        return date.map { $0 + age }
    }
}
