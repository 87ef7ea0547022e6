import Platform

/// A stored response as the index describes it. Its body is in a sealed file.
public struct CachedResponse: Equatable, Sendable {
    public var key: CacheKey
    /// Identifies the body, and names its file: 16 bytes.
    public var body: [UInt8]
    /// 200, or 206 for a part with an end.
    public var status: Int
    /// The fields of the response, without those that concern a connection.
    public var headers: [HeaderField]
    /// The fields of the request that `Vary` names, with digests of their values (`digest(of:for:)`).
    public var selecting: [HeaderField]
    /// When the request was sent and when the head arrived, in seconds since 1970.
    public var requested: Int64
    public var received: Int64
    /// The number of bytes of the body on the medium. An incomplete body has only full chunks.
    public var count: Int64
    public var isComplete: Bool
    /// The last recorded use, in seconds since 1970.
    public var used: Int64 = 0

    public init(
        key: CacheKey, body: [UInt8], status: Int, headers: [HeaderField], selecting: [HeaderField] = [],
        requested: Int64, received: Int64, count: Int64 = 0, isComplete: Bool = false
    ) {
        self.key = key
        self.body = body
        self.status = status
        self.headers = headers
        self.selecting = selecting
        self.requested = requested
        self.received = received
        self.count = count
        self.isComplete = isComplete
    }

    /// Returns the value of the first field with this name.
    public func value(of name: String) -> String? { headers.first { $0.isNamed(name) }?.value }
    public func values(of name: String) -> [String] { headers.filter { $0.isNamed(name) }.map { $0.value } }

    /// Fields of one connection, or of one message (RFC 9110, 7.6.1; RFC 9111, 3.1), and cookies.
    private static let transient = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-connection", "te",
        "transfer-encoding", "trailer", "upgrade", "set-cookie",
    ]

    static func isStored(_ header: HeaderField) -> Bool { !transient.contains { header.isNamed($0) } }

    /// Returns the response after a 304 (RFC 9111, 4.3.4): the new fields replace those of the same name, except fields
    /// about the body.
    public func refreshed(by head: ResponseHead, requested: Int64, received: Int64) -> CachedResponse {
        var fresh = self
        let new = head.headers.filter { header in
            Self.isStored(header)
                && !["content-length", "content-range", "content-encoding", "content-type"].contains {
                    header.isNamed($0)
                }
        }
        fresh.headers.removeAll { old in new.contains { $0.isNamed(old.name) } }
        fresh.headers += new
        (fresh.requested, fresh.received) = (requested, received)
        return fresh
    }
}

// MARK: As a row

extension CachedResponse {
    /// The details without a column of their own, as JSON.
    public var details: String {
        JSONValue.object([
            .init("status", .integer(Int64(status))),
            .init("headers", Self.json(headers)), .init("selecting", Self.json(selecting)),
            .init("requested", .integer(requested)), .init("received", .integer(received)),
        ]).serialized()
    }

    /// Reads a row.
    /// - Returns: nil when this program does not write such rows.
    public init?(key: [UInt8], body: [UInt8], details: String, count: Int64, isComplete: Bool) {
        guard let key = CacheKey(bytes: key), body.count == 16, count >= 0 else { return nil }
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue.parse(details) } catch { return nil }
        guard let status = json["status"]?.integer, status == 200 || status == 206,
            let headers = Self.fields(json["headers"]), let selecting = Self.fields(json["selecting"]),
            let requested = json["requested"]?.integer, let received = json["received"]?.integer,
            Self.times.contains(requested), Self.times.contains(received)
        else { return nil }
        self.init(
            key: key, body: body, status: Int(status), headers: headers, selecting: selecting, requested: requested,
            received: received, count: count, isComplete: isComplete)
    }

    /// The accepted times, until the year 10000, so that sums of times do not overflow.
    private static let times: ClosedRange<Int64> = 0...253_402_300_800

    private static func json(_ fields: [HeaderField]) -> JSONValue {
        .array(fields.map { .array([.string($0.name), .string($0.value)]) })
    }

    private static func fields(_ json: JSONValue?) -> [HeaderField]? {
        guard let elements = json?.elements else { return nil }
        var fields: [HeaderField] = []
        for element in elements {
            guard element.elements?.count == 2, let name = element[0]?.string, let value = element[1]?.string
            else { return nil }
            fields.append(HeaderField(name, value))
        }
        return fields
    }
}
