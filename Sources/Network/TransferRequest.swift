import Platform

/// A request to a server.
public struct TransferRequest: Sendable {
    public enum Method: Equatable, Sendable {
        case get
        case head
        case post(body: [UInt8], contentType: String)
    }

    public var method: Method
    /// `http` or `https`, without a user name.
    public var url: String
    /// Further fields of the request. A redirect to another origin gets only those that describe the resource, never a
    /// credential; see `Redirection`.
    public var headers: [HeaderField]
    /// The wanted part of the body. The server may answer with the whole body: see `ResponseHead.status`.
    public var range: ByteRange?
    /// The maximum number of bytes to request of a range without an end, so that the answer may be a shorter part; nil
    /// for all. A reader that jumps elsewhere would otherwise waste the link's throughput.
    public var longestPart: Int64?
    /// The largest body, in bytes. A larger one ends the transfer with `.tooLarge`. nil for no limit.
    public var maximumBody: Int64?
    /// The scope that identifies the resource in the cache; nil: it is neither answered from there nor stored.
    public var cacheScope: CacheScope?
    /// Distinguishes resources with the same path in the cache (`CacheScope.path`); nil when the path suffices.
    public var cacheSpace: String?
    /// Whether parts of the resource are requested too, by their offsets. A coded body (`Content-Encoding`) is decoded,
    /// except for such a resource and for a range: there it ends the transfer.
    public var isReadInParts = false
    /// Whether the resource is a part of media, which never begins with text: a text message with status 200 in its
    /// place is not a part.
    package var isMedia = false
    /// The maximum time from the request to the first byte, in milliseconds; nil: as configured.
    public var firstByteTimeout: Int?
    /// The maximum time without progress in each phase, in milliseconds: until the connection is open, until the first
    /// byte, and between two bytes. nil: as configured for each of them. It only shortens those times.
    public var longestSilence: Int?
    /// Whether redirects are followed: at most five, and never from https to http.
    public var isRedirectAllowed = true
    /// Whether the transfer may use a link that costs money. Otherwise no such connection is opened, and the transfer
    /// ends with `.meteredLink` (docs/decisions/metered-by-route.md).
    public var mayUseMeteredLink = true

    /// The hosts in lower case that may have an address in this network or on this machine; nil: all. Other hosts with
    /// such an address end the transfer with `.localAddress`, also after a redirect.
    public var localHosts: [String]?

    package var isPost: Bool { if case .post = method { true } else { false } }

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

    /// Returns whether the field has this name, ignoring case.
    public func isNamed(_ name: String) -> Bool { self.name.equalsIgnoringCase(name) }

    /// Whether name and value can be sent: the name is a token, and the value has no line end (RFC 9110, 5.1 and 5.5).
    var isValid: Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
    }
}

/// A range of bytes of a resource.
public struct ByteRange: Equatable, Sendable {
    /// The first byte, from 0.
    public var from: Int64
    /// The byte after the last one; nil for the end of the resource.
    public var upTo: Int64?

    public init(from: Int64, upTo: Int64? = nil) {
        self.from = from
        self.upTo = upTo
    }

    /// Returns a range of at most `count` bytes, if this one has no end.
    func limited(to count: Int64?) -> ByteRange {
        guard upTo == nil, let count, count > 0, count < .max - max(0, from) else { return self }
        return ByteRange(from: from, upTo: from + count)
    }

    /// The value of the field Range; nil for an invalid or empty range.
    var fieldValue: String? {
        guard from >= 0 else { return nil }
        guard let upTo else { return "bytes=\(from)-" }
        return upTo > from ? "bytes=\(from)-\(upTo - 1)" : nil
    }
}

extension String {
    /// Compares ASCII letters without case, without the Unicode tables.
    func equalsIgnoringCase(_ other: String) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0.lowercased == $1.lowercased }
    }
}
