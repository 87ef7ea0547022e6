/// The names under which this machine is announced, and their successors after conflicts (RFC 6762, 9).
struct ServiceNames: Sendable {
    /// The name that people see: "Kitchen", then "Kitchen (2)".
    private let instanceText: String
    /// The label of the host: "kitchen", then "kitchen-2".
    private let hostText: String
    private var instanceNumber = 1
    private var hostNumber = 1

    /// - Parameters:
    ///   - instance: any text, which is cut to the length of a label.
    ///   - host: the name of the machine; its first label counts, and characters that it may not have become hyphens.
    init(instance: String, host: String) {
        hostText = Self.hostLabel(host)
        instanceText = instance.utf8.isEmpty ? hostText : instance
    }

    /// The instance's label, at most 63 bytes.
    var instance: String {
        instanceNumber == 1
            ? Self.cut(instanceText, to: DNSName.labelLimit) : Self.appending(" (\(instanceNumber))", to: instanceText)
    }

    /// The host's label, at most 63 bytes.
    var host: String { hostNumber == 1 ? hostText : Self.appending("-\(hostNumber)", to: hostText) }

    var hostName: DNSName { Self.local.prefixed(by: Array(host.utf8)) ?? Self.local }

    /// Grows with every change.
    var changeCount: Int { instanceNumber + hostNumber }

    mutating func renameInstance() { instanceNumber += 1 }
    mutating func renameHost() { hostNumber += 1 }

    static let local = DNSName(unchecked: "local")

    private static func appending(_ suffix: String, to text: String) -> String {
        cut(text, to: DNSName.labelLimit - suffix.utf8.count) + suffix
    }

    /// Shortens a text without dividing a character of it.
    private static func cut(_ text: String, to limit: Int) -> String {
        var bytes = Array(text.utf8)
        guard bytes.count > limit else { return text }
        var end = max(limit, 0)
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        bytes.removeSubrange(end...)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Letters, digits and hyphens (RFC 1123, 2.1), in lower case.
    private static func hostLabel(_ host: String) -> String {
        let hyphen = UInt8(ascii: "-")
        var label: [UInt8] = []
        for byte in host.utf8 {
            if byte == UInt8(ascii: ".") || label.count == DNSName.labelLimit { break }
            let letter = DNSName.lowered(byte)
            let isAllowed =
                letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z")
                || letter >= UInt8(ascii: "0") && letter <= UInt8(ascii: "9")
            // None at the beginning.
            if isAllowed || !label.isEmpty { label.append(isAllowed ? letter : hyphen) }
        }
        while label.last == hyphen { label.removeLast() }
        return label.isEmpty ? "tonearm" : String(decoding: label, as: UTF8.self)
    }
}

extension DNSName {
    /// A name of the program, which is valid.
    @inline(never)
    init(unchecked text: String) {
        guard let name = DNSName(text) else { preconditionFailure("not a name: \(text)") }
        self = name
    }
}
