import Platform

/// All sources as one: finds the source of a product by its id.
///
/// Thread: any.
public final class SourceRouter: PlaybackSource {
    /// The source of a product.
    enum Route: Equatable {
        /// Its id is a path.
        case local
        /// Its id is a `ServiceAddress`.
        case service
    }

    private let local: any PlaybackSource
    private let service: (any PlaybackSource)?

    /// - Parameter service: nil when no content service is configured.
    public init(local: any PlaybackSource = LocalFiles(), service: (any PlaybackSource)? = nil) {
        self.local = local
        self.service = service
    }

    public func open(
        _ product: MediaProduct, cancellation: Cancellation, medium: MediumAccess
    ) throws(PlayerError) -> OpenedProduct {
        switch Self.route(of: product) {
        case .local: return try local.open(product, cancellation: cancellation, medium: medium)
        case .service:
            guard let service else {
                throw PlayerError(
                    .notAllowed, code: "a1",
                    message: "\(product.productId): no content service is configured. Set [service] url.",
                    mediaProduct: product)
            }
            return try service.open(product, cancellation: cancellation, medium: medium)
        }
    }

    /// Only the decision.
    static func route(of product: MediaProduct) -> Route {
        ServiceAddress.isMeant(by: product.productId) ? .service : .local
    }
}
