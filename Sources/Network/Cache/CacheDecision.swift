import Platform

/// The decision about a request that the cache may answer. The caller reads the index.
public enum CacheDecision: Equatable, Sendable {
    /// No matching response is stored. The answer may be stored.
    case fetch
    case serve
    /// Send a request with these fields, which the server answers by whether the stored response is still valid.
    /// - Parameter mayStandIn: whether the stored response may be used when there is no answer, or one of 5XX.
    case revalidate([HeaderField], mayStandIn: Bool)
    /// Request the rest of the body, from this byte on, if the resource still has this validator (`If-Range`).
    case resume(from: Int64, ifSame: String)
    /// Pass the request on, and store nothing.
    case pass

    /// - Parameters:
    ///   - stored: the response under the request's key; nil when there is none.
    ///   - now: the time.
    public init(_ request: TransferRequest, stored: CachedResponse?, at now: CertificateTime) {
        let wantsPart = request.range.map { $0.upTo == nil && $0.from > 0 } ?? false
        let control = CacheControl(request.values(of: "cache-control"))
        if control.isNeverStored {
            self = .pass
            return
        }
        guard let stored, stored.selects(request) else {
            self = wantsPart ? .pass : .fetch
            return
        }
        let freshness = Freshness(stored)
        switch (stored.isComplete, wantsPart) {
        case (true, _):
            // The client needs a new answer because the old one was useless: a 304 would bring it back.
            if control.isAlwaysRevalidated {
                self = wantsPart ? .pass : .fetch
            } else if freshness.isFresh(at: now) {
                self = .serve
            } else if let condition = stored.condition {
                self = .revalidate([condition], mayStandIn: freshness.maySubstituteError(at: now))
            } else {
                self = wantsPart ? .pass : .fetch
            }
        case (false, true): self = .pass
        case (false, false):
            guard stored.count > 0, let validator = stored.validator, request.range == nil else {
                self = .fetch
                return
            }
            self = .resume(from: stored.count, ifSame: validator)
        }
    }

    /// The meaning of the answer to a revalidation.
    public enum Revalidation: Equatable, Sendable {
        /// The stored response is still valid.
        case holds
        /// The answer replaces the stored response.
        case isReplaced
        /// The stored response replaces the error.
        case standsIn
        /// The answer is an error that proves nothing about the stored response.
        case passes
        /// The answer is a 304 for another version: send the request again without the condition.
        case isOfAnother
    }

    /// - Parameter answer: nil when there is none.
    public static func revalidation(
        _ answer: ResponseHead?, of stored: CachedResponse, mayStandIn: Bool
    ) -> Revalidation {
        switch answer?.status {
        case 304: answer.map { stored.isSelected(by: $0) } ?? false ? .holds : .isOfAnother
        case 500, 502, 503, 504, nil: mayStandIn ? .standsIn : .passes
        case let status? where status >= 500: .passes
        default: .isReplaced
        }
    }
}

extension CachedResponse {
    /// Returns whether the fields that `Vary` names are as in the stored request (RFC 9111, 4.1).
    func selects(_ request: TransferRequest) -> Bool {
        selecting.allSatisfy { field in
            let values = request.values(of: field.name)
            guard values.count <= 1, let digest = Self.digest(of: values.first, for: body) else { return false }
            return digest.utf8.elementsEqual(field.value.utf8)
        }
    }

    /// The field that makes a server check whether the response is still valid (RFC 9110, 13.1.2 and 13.1.3).
    fileprivate var condition: HeaderField? {
        if let tag = value(of: "etag") { return HeaderField("If-None-Match", tag) }
        return value(of: "last-modified").map { HeaderField("If-Modified-Since", $0) }
    }

    /// Returns whether a 304 is for this response (RFC 9111, 4.3.4). Compares the entity tags, or the dates of the last
    /// change when one of the two has no tag. A 304 with neither is for the response in question.
    fileprivate func isSelected(by head: ResponseHead) -> Bool {
        let tag = head.value(of: "etag")
        if let tag, let own = value(of: "etag") {
            // A strong tag selects only itself.
            guard tag.utf8.starts(with: "W/".utf8) else { return tag.utf8.elementsEqual(own.utf8) }
            return Self.opaque(tag).elementsEqual(Self.opaque(own))
        }
        if let date = head.value(of: "last-modified"), let own = value(of: "last-modified") {
            return date.utf8.elementsEqual(own.utf8)
        }
        return tag == nil
    }

    /// Returns the tag for the weak comparison (RFC 9110, 8.8.3.2).
    private static func opaque(_ tag: String) -> Substring.UTF8View {
        tag.utf8.dropFirst(tag.utf8.starts(with: "W/".utf8) ? 2 : 0)
    }

    /// The validator for If-Range (RFC 9110, 13.1.5).
    public var validator: String? { ResponseHead(status: status, headers: headers, effectiveURL: "").strongValidator }
}

extension TransferRequest {
    /// Returns the values of all fields with this name.
    func values(of name: String) -> [String] { headers.filter { $0.isNamed(name) }.map { $0.value } }
}

extension ResponseHead {
    /// The validator for If-Range (RFC 9110, 13.1.5): an entity tag that is not weak. Without any tag it is the date of
    /// the last change, when the answer was sent later than that second (8.8.2.2).
    public var strongValidator: String? {
        if let tag = value(of: "etag") { return tag.utf8.starts(with: "W/".utf8) ? nil : tag }
        guard let text = value(of: "last-modified"),
            let sent = value(of: "date").flatMap({ HTTPDate.seconds(of: $0, now: 0) }),
            let changed = HTTPDate.seconds(of: text, now: sent), changed < sent
        else { return nil }
        return text
    }
}
