import Platform

/// A resource that can be requested whole or in part, and conditionally (RFC 9110, 13 and 14).
package struct ServedResource: Sendable {
    package var body: ContentBody
    package var contentType: String
    /// The entity tag with its quotes.
    package var entityTag: String
    /// The time of the last change, in seconds since 1970.
    package var lastModified: Int64?
    package var cacheControl: String
    /// The coding of the body, such as `gzip`; nil for none.
    package var contentCoding: String?
    /// Whether clients that take another coding get another body.
    package var dependsOnCoding = false

    package init(
        body: ContentBody, contentType: String, entityTag: String, lastModified: Int64? = nil, cacheControl: String
    ) {
        self.body = body
        self.contentType = contentType
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.cacheControl = cacheControl
    }

    package func answer(to request: HTTPRequest) -> HTTPAnswer {
        var headers = [HTTPField("ETag", entityTag), HTTPField("Cache-Control", cacheControl)]
        if let lastModified { headers.append(HTTPField("Last-Modified", HTTPDate.text(lastModified))) }
        if dependsOnCoding { headers.append(HTTPField("Vary", "Accept-Encoding")) }
        if isNotModified(request) {
            // The length is that of the content (RFC 9110, 8.6), and not 0, which a cache would use.
            var answer = HTTPAnswer(status: 304, headers: headers)
            answer.announcedLength = body.count
            return answer
        }
        headers += [HTTPField("Content-Type", contentType), HTTPField("Accept-Ranges", "bytes")]
        if let contentCoding { headers.append(HTTPField("Content-Encoding", contentCoding)) }
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
            return tags.utf8.elementsEqual("*".utf8)
                || tags.utf8.split(separator: UInt8(ascii: ",")).contains { tag in
                    // The weak comparison (RFC 9110, 8.8.3.2).
                    let tag = tag.drop { $0 == UInt8(ascii: " ") }
                    return (tag.starts(with: "W/".utf8) ? tag.dropFirst(2) : tag)
                        .prefix { $0 != UInt8(ascii: " ") }.elementsEqual(entityTag.utf8)
                }
        }
        guard let lastModified, let since = request.headers["if-modified-since"].flatMap(Self.seconds) else {
            return false
        }
        return lastModified <= since
    }

    /// Whether the client's part belongs to this content.
    private func mayBePart(_ request: HTTPRequest) -> Bool {
        guard let condition = request.headers["if-range"] else { return true }
        if condition.utf8.first == UInt8(ascii: "\"") { return condition.utf8.elementsEqual(entityTag.utf8) }
        return lastModified != nil && Self.seconds(condition) == lastModified
    }

    private static func seconds(_ date: String) -> Int64? {
        HTTPDate.seconds(of: date, now: SystemTime.clockMilliseconds() / 1000)
    }
}
