/// The address of a product of the content service as text: `tonearm:track/ID` or `tonearm:video/ID`. It is the
/// product's id in the player (docs/playback.md, 15.1).
public struct ServiceAddress: Equatable, Sendable {
    private static let scheme = "tonearm:"
    private static let types: [(String, ProductType)] = [("track/", .track), ("video/", .video)]

    /// The most bytes of an id. A request with a longer one is refused.
    public static let idLimit = 256
    /// The most bytes of an address.
    public static let lengthLimit = scheme.utf8.count + "track/".utf8.count + idLimit

    public var productType: ProductType
    /// The product's id at the service.
    public var id: String

    public init(_ productType: ProductType, _ id: String) {
        self.productType = productType
        self.id = id
    }

    /// Returns nil when `text` is not an address.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        for (name, type) in Self.types {
            let start = Array((Self.scheme + name).utf8)
            guard bytes.starts(with: start), bytes.count > start.count else { continue }
            self.init(type, String(decoding: bytes[start.count...], as: UTF8.self))
            return
        }
        return nil
    }

    public var text: String {
        switch productType {
        case .track: "\(Self.scheme)track/\(id)"
        case .video: "\(Self.scheme)video/\(id)"
        }
    }

    /// Whether the id is longer than any id of a service.
    public var hasTooLongID: Bool { id.utf8.count > Self.idLimit }

    /// Returns whether `text` is meant to be an address, even an incomplete one.
    public static func isMeant(by text: String) -> Bool { text.utf8.starts(with: scheme.utf8) }
}
