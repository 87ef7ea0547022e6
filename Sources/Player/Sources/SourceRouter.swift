import Platform

/// All sources as one: finds the source of a product. Local files are the only one so far; the content service and
/// offline storage will get a route each.
///
/// Thread: any.
public final class SourceRouter: PlaybackSource {
    /// The source of a product.
    enum Route: Equatable {
        /// Its id is a path.
        case local
    }

    private let local: any PlaybackSource

    public init(local: any PlaybackSource = LocalFiles()) { self.local = local }

    public func open(
        _ product: MediaProduct, cancellation: Cancellation, medium: MediumAccess
    ) throws(PlayerError) -> OpenedProduct {
        switch Self.route(of: product) {
        case .local: return try local.open(product, cancellation: cancellation, medium: medium)
        }
    }

    /// Only the decision.
    static func route(of product: MediaProduct) -> Route { .local }
}
