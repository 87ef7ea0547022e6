import Network

/// Which version of a resource the bytes of an answer belong to, as far as the server says it.
struct ResourceVersion: Equatable, Sendable {
    /// The field of the answer that no other version has; nil when there is none that is strong.
    private var validator: HeaderField?
    /// Of the whole resource in bytes.
    private(set) var length: Int64?

    /// Nothing is known.
    init() {}

    init(_ head: ResponseHead) {
        length = head.resourceLength
        validator = head.strongValidator.map { value in
            HeaderField(head.value(of: "etag") == nil ? "Last-Modified" : "ETag", value)
        }
    }

    /// - Parameter validator: the strong one of an earlier answer. A tag is quoted, a date is not (RFC 9110, 8.8.3).
    init(validator: String?) {
        self.validator = validator.map { HeaderField($0.utf8.starts(with: "\"".utf8) ? "ETag" : "Last-Modified", $0) }
    }

    /// With what a later answer for the same version says in addition.
    func completed(by later: ResourceVersion) -> ResourceVersion {
        var version = self
        version.validator = validator ?? later.validator
        version.length = length ?? later.length
        return version
    }

    /// What answers of other hosts have in common with it.
    var ofAnyHost: ResourceVersion {
        var version = self
        version.validator = nil
        return version
    }

    /// Whether an answer from another host may belong to it: hosts have validators of their own.
    func hasLength(of head: ResponseHead) -> Bool {
        guard let length, let other = head.resourceLength else { return true }
        return length == other
    }

    /// Whether an answer may belong to it. What the answer does not say is no difference: not every server repeats its
    /// fields with a part.
    func mayInclude(_ head: ResponseHead) -> Bool {
        if let length, let other = head.resourceLength, other != length { return false }
        guard let validator, let other = head.value(of: validator.name) else { return true }
        return other.utf8.elementsEqual(validator.value.utf8)
    }
}

extension ResponseHead {
    /// The length of the whole resource in bytes, also in the answer to a range.
    var resourceLength: Int64? {
        if let total = contentRange?.length { return total }
        return status == 200 ? contentLength : nil
    }
}
