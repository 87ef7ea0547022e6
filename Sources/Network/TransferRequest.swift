/// What to ask a server for.
public struct TransferRequest: Sendable {
    public enum Method: Equatable, Sendable {
        case get
        case head
        case post(body: [UInt8], contentType: String)
    }

    public var method: Method
    /// `http` or `https`, without a user's name in it.
    public var url: String
    /// Further fields of the request. A redirect to another origin gets only those that say what is wanted, never a
    /// credential; see `Redirection`.
    public var headers: [HeaderField]
    /// The part of the body that is wanted. The server may answer with all of it: see `ResponseHead.status`.
    public var range: ByteRange?
    /// The most bytes that are asked for of a range without an end, whose answer is a shorter part then; nil: all. A
    /// server would fill the line with bytes that a reader which goes elsewhere does not want.
    public var longestPart: Int64?
    /// The largest body, in bytes. A larger one ends the transfer with `.tooLarge`. nil: no limit.
    public var maximumBody: Int64?
    /// What names the resource in the cache; nil: it is neither answered from there nor stored.
    public var cacheScope: CacheScope?
    /// Tells resources with the same path apart in the cache (`CacheScope.path`); nil: the path is enough.
    public var cacheSpace: String?
    /// Whether parts of the resource are asked for as well, by their place in it. A body that is coded
    /// (`Content-Encoding`) is decoded, unless it is one of these or of a range: it ends the transfer then.
    public var isReadInParts = false
    /// How long the first byte may take after the request was sent, in milliseconds; nil: as the settings say.
    public var firstByteTimeout: Int?
    /// Whether redirects are followed: at most five, and never from https to http.
    public var isRedirectAllowed = true
    /// Whether it may leave over a link that costs money. Otherwise no connection is opened that would, and the
    /// transfer ends with `.meteredLink` (docs/decisions/metered-by-route.md).
    public var mayUseMeteredLink = true

    public init(
        _ method: Method = .get, url: String, headers: [HeaderField] = [], range: ByteRange? = nil,
        maximumBody: Int64? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.range = range
        self.maximumBody = maximumBody
    }
}

/// A field of a request or of a response.
public struct HeaderField: Equatable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether it is this field. Names have no case.
    public func isNamed(_ name: String) -> Bool { self.name.equalsIgnoringCase(name) }

    /// Whether name and value can be sent: the name is a token, and no line ends in the value (RFC 9110, 5.1 and 5.5).
    var isValid: Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
    }
}

/// Bytes of a resource.
public struct ByteRange: Equatable, Sendable {
    /// The first byte, from 0.
    public var from: Int64
    /// The byte after the last one; nil: up to the end.
    public var upTo: Int64?

    public init(from: Int64, upTo: Int64? = nil) {
        self.from = from
        self.upTo = upTo
    }

    /// The same with an end, if it has none.
    func limited(to count: Int64?) -> ByteRange {
        guard upTo == nil, let count, count > 0, count < .max - max(0, from) else { return self }
        return ByteRange(from: from, upTo: from + count)
    }

    /// The value of the field Range; nil when there is no such range, or no byte in it.
    var fieldValue: String? {
        guard from >= 0 else { return nil }
        guard let upTo else { return "bytes=\(from)-" }
        return upTo > from ? "bytes=\(from)-\(upTo - 1)" : nil
    }
}

extension String {
    /// Compares in ASCII, without the tables of Unicode.
    func equalsIgnoringCase(_ other: String) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0.lowercased == $1.lowercased }
    }
}

extension UInt8 {
    /// The ASCII letter in lower case; other bytes as they are.
    var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
    /// The value of an ASCII digit.
    var digit: Int? { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) ? Int(self) - 48 : nil }
}
