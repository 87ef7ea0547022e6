import Platform

/// All sources behind one: finds the source that a product comes from. Local files are the only one so far; the content
/// service and offline storage get a route each.
///
/// Thread: any.
public final class SourceRouter: PlaybackSource {
    /// Where a product comes from.
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

    /// The decision alone.
    static func route(of product: MediaProduct) -> Route { .local }
}
