import Network

/// The version of a resource that the bytes of an answer belong to, as far as the server identifies it.
package struct ResourceVersion: Equatable, Sendable {
    /// The field of the answer that is unique to the version; nil without a strong validator.
    private var validator: HeaderField?
    /// The length of the whole resource in bytes.
    private(set) var length: Int64?

    /// An unknown version.
    package init() {}

    init(_ head: ResponseHead) {
        length = head.resourceLength
        validator = head.strongValidator.map { value in
            HeaderField(head.value(of: "etag") == nil ? "Last-Modified" : "ETag", value)
        }
    }

    /// - Parameter validator: the strong validator of an earlier answer. An entity tag is quoted, a date is not (RFC
    ///   9110, 8.8.3).
    package init(validator: String?) {
        self.validator = validator.map { HeaderField($0.utf8.starts(with: "\"".utf8) ? "ETag" : "Last-Modified", $0) }
    }

    /// Returns the version with the additional properties of a later answer for the same version.
    func completed(by later: ResourceVersion) -> ResourceVersion {
        var version = self
        version.validator = validator ?? later.validator
        version.length = length ?? later.length
        return version
    }

    /// The validator for a conditional request; nil without one.
    var condition: String? { validator?.value }

    /// The properties that answers of other hosts share.
    var ofAnyHost: ResourceVersion {
        var version = self
        version.validator = nil
        return version
    }

    /// Returns whether an answer from another host may belong to this version: each host has its own validators.
    func hasLength(of head: ResponseHead) -> Bool {
        guard let length, let other = head.resourceLength else { return true }
        return length == other
    }

    /// Returns whether an answer may belong to this version. A missing field is not a difference, because not every
    /// server repeats its fields with a part.
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
