/// A resource that can be requested whole or in part, and conditionally (RFC 9110, 13 and 14).
struct ServedResource: Sendable {
    var body: ContentBody
    var contentType: String
    /// The entity tag with its quotes.
    var entityTag: String
    /// The time of the last change, in seconds since 1970.
    var lastModified: Int64?
    var cacheControl: String

    func answer(to request: HTTPRequest) -> HTTPAnswer {
        var headers = [HTTPField("ETag", entityTag), HTTPField("Cache-Control", cacheControl)]
        if let lastModified { headers.append(HTTPField("Last-Modified", HTTPDate.text(lastModified))) }
        if isNotModified(request) {
            // The length is that of the content (RFC 9110, 8.6), and not 0, which a cache would use.
            return HTTPAnswer(status: 304, headers: headers + [HTTPField("Content-Length", "\(body.count)")])
        }
        headers += [HTTPField("Content-Type", contentType), HTTPField("Accept-Ranges", "bytes")]
        guard let text = request.headers["range"], mayBePart(request) else {
            return HTTPAnswer(status: 200, headers: headers, body: body)
        }
        switch RequestedRange(text, of: body.count) {
        case .whole: return HTTPAnswer(status: 200, headers: headers, body: body)
        case .part(let range):
            headers.append(
                HTTPField("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"))
            return HTTPAnswer(status: 206, headers: headers, body: body.slice(range))
        case .outside:
            return HTTPAnswer(status: 416, headers: [HTTPField("Content-Range", "bytes */\(body.count)")])
        }
    }

    private func isNotModified(_ request: HTTPRequest) -> Bool {
        if let tags = request.headers["if-none-match"] {
            return tags == "*"
                || tags.split(separator: ",").contains { tag in
                    // The weak comparison (RFC 9110, 8.8.3.2).
                    let tag = tag.drop { $0 == " " }
                    return (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag).prefix { $0 != " " } == entityTag
                }
        }
        guard let lastModified, let since = request.headers["if-modified-since"].flatMap(HTTPDate.seconds) else {
            return false
        }
        return lastModified <= since
    }

    /// Whether the client's part belongs to this content.
    private func mayBePart(_ request: HTTPRequest) -> Bool {
        guard let condition = request.headers["if-range"] else { return true }
        if condition.hasPrefix("\"") { return condition == entityTag }
        return lastModified != nil && HTTPDate.seconds(condition) == lastModified
    }
}

/// The requested range of a Range header (RFC 9110, 14.2).
enum RequestedRange: Equatable {
    /// The whole resource. A header with several ranges, or an invalid one, is ignored.
    case whole
    case part(Range<Int64>)
    case outside

    /// - Parameter length: the size of the resource, in bytes.
    init(_ header: String, of length: Int64) {
        self = .whole
        guard header.hasPrefix("bytes=") else { return }
        let ends = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]) else { return }
        switch (first, last) {
        case (let first?, let last?):
            guard first <= last else { return }
            self = first < length ? .part(first..<(min(last, length - 1) + 1)) : .outside
        case (let first?, nil): self = first < length ? .part(first..<length) : .outside
        case (nil, let count?): self = count > 0 && length > 0 ? .part(max(0, length - count)..<length) : .outside
        case (nil, nil): return
        }
    }

    /// Returns nil when it is not a number, `.some(nil)` when it is empty.
    private static func number(_ text: Substring) -> Int64?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int64(text)
        else { return nil }
        return .some(number)
    }
}
