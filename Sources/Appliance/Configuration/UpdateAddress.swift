/// The address of an update bundle on a web server. Only its characters are checked: the bundle's signature decides
/// whether it is installed.
package struct UpdateAddress: Equatable, Sendable {
    /// The most bytes.
    static let lengthLimit = 1000
    /// The form, for messages. Messages use the text after "must be".
    package static let form =
        "an address that begins with https:// or http://, of at most \(lengthLimit) printable characters"

    package let text: String

    /// Returns whether `text` begins like an address.
    package static func isMeant(by text: String) -> Bool {
        text.utf8.starts(with: "http://".utf8) || text.utf8.starts(with: "https://".utf8)
    }

    /// Returns nil for a text that is not in this form.
    package init?(_ text: String) {
        // A host follows the two slashes.
        let host = text.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
        guard Self.isMeant(by: text), text.utf8.count <= Self.lengthLimit,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let first = host.first, first != UInt8(ascii: "/")
        else { return nil }
        self.text = text
    }
}
