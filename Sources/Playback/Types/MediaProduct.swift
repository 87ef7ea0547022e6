/// A track or video that can be played (docs/playback.md, 1.1).
public struct MediaProduct: Equatable, Sendable {
    public var productType: ProductType
    /// The product's id at its source; for local files the path, for files on web servers the address.
    public var productId: String
    /// Unique for each instance, so that messages distinguish two requests for the same product.
    public var referenceId: String
    /// The origin of the request, which is passed through to the play log.
    public var sourceType: String?
    public var sourceId: String?
    /// Further attributes, which are passed through to the play log.
    public var extras: [String: String]

    public init(
        productType: ProductType, productId: String, referenceId: String, sourceType: String? = nil,
        sourceId: String? = nil, extras: [String: String] = [:]
    ) {
        self.productType = productType
        self.productId = productId
        self.referenceId = referenceId
        self.sourceType = sourceType
        self.sourceId = sourceId
        self.extras = extras
    }
}

/// The type of a media product.
public enum ProductType: Equatable, Sendable {
    case track
    /// Its audio is played; there are no pixels.
    case video
}
