/// A domain name.
///
/// Names are equal without regard to the case of ASCII letters (RFC 6762, 16).
struct DNSName: Equatable, Sendable {
    /// The labels, each after a byte with its length, as in a message; without the empty label at the end.
    let labels: [UInt8]

    /// The most bytes of a label (RFC 1035, 2.3.4).
    static let labelLimit = 63
    /// The most bytes of `labels`: 255 with the empty label at the end.
    static let limit = 254

    /// - Parameter labels: as in the property.
    /// - Returns: nil when they are too long, or a length is wrong.
    init?(labels: [UInt8]) {
        guard labels.count <= Self.limit else { return nil }
        var offset = 0
        while offset < labels.count {
            guard (1...Self.labelLimit).contains(Int(labels[offset])) else { return nil }
            offset += 1 + Int(labels[offset])
        }
        guard offset == labels.count else { return nil }
        self.labels = labels
    }

    /// - Parameter text: labels with dots between them, like `_http._tcp.local`.
    /// - Returns: nil when a label is empty or too long, or the name is.
    init?(_ text: String) {
        var labels: [UInt8] = []
        for label in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard (1...Self.labelLimit).contains(label.count) else { return nil }
            labels.append(UInt8(label.count))
            labels += label
        }
        self.init(labels: labels)
    }

    /// This name below `label`, which may contain any bytes, also dots.
    /// - Returns: nil when the label is empty or too long, or the name is.
    func prefixed(by label: [UInt8]) -> DNSName? {
        guard (1...Self.labelLimit).contains(label.count) else { return nil }
        return DNSName(labels: [UInt8(label.count)] + label + labels)
    }

    /// Lengths are below the codes of letters, so that all bytes compare in the same way.
    static func == (left: DNSName, right: DNSName) -> Bool {
        guard left.labels.count == right.labels.count else { return false }
        for index in left.labels.indices where lowered(left.labels[index]) != lowered(right.labels[index]) {
            return false
        }
        return true
    }

    static func lowered(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
