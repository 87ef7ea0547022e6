import Platform

/// The identity of a HAT, from its EEPROM. The firmware of a Raspberry Pi reads it, and writes it into the device
/// tree.
public struct HATIdentity: Equatable, Sendable {
    /// Where the kernel shows the device tree.
    public static let usualTree = "/proc/device-tree"

    public var identifier: String?
    public var product: String?

    public init(identifier: String?, product: String?) {
        self.identifier = identifier
        self.product = product
    }

    /// Reads the node `hat` of a device tree.
    /// - Returns: nil without a HAT that has an EEPROM.
    public init?(tree: String) {
        identifier = Self.text("\(tree)/hat/uuid")
        product = Self.text("\(tree)/hat/product")
        if identifier == nil, product == nil { return nil }
    }

    /// A property is text that ends with a zero byte.
    private static func text(_ path: String) -> String? {
        guard let bytes = try? File.contents(of: path, limit: 4096) else { return nil }
        let text = SectionReader.trimmed(Substring(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)).utf8)
        return text.utf8.isEmpty ? nil : text
    }
}
