import Media
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
    private let kept: OfflineSource?
    private let offlineMode: OfflineMode

    /// - Parameters:
    ///   - service: nil when no content service is configured.
    ///   - kept: what is kept of the service; nil when nothing is.
    ///   - offlineMode: in which nothing uses the network.
    public init(
        local: any PlaybackSource = LocalFiles(), service: (any PlaybackSource)? = nil, kept: OfflineSource? = nil,
        offlineMode: OfflineMode = OfflineMode()
    ) {
        self.local = local
        self.service = service
        self.kept = kept
        self.offlineMode = offlineMode
    }

    public func open(
        _ product: MediaProduct, session: PlaybackSession, cancellation: Cancellation, medium: MediumAccess
    ) throws(PlayerError) -> OpenedProduct {
        switch Self.route(of: product) {
        case .local: return try local.open(product, session: session, cancellation: cancellation, medium: medium)
        case .service:
            let service = offlineMode.isOn ? nil : service
            var otherwise: (() throws(PlayerError) -> any AudioDecoder)?
            if let service {
                otherwise = { [self] () throws(PlayerError) in
                    // It may have been switched on since.
                    if offlineMode.isOn { throw refusal(of: product) }
                    return try service.open(product, session: session, cancellation: cancellation, medium: medium)
                        .decoder
                }
            }
            if let kept,
                let opened = try kept.open(
                    product, cancellation: cancellation, medium: medium, otherwise: otherwise)
            {
                return opened
            }
            guard let service else { throw refusal(of: product) }
            return try service.open(product, session: session, cancellation: cancellation, medium: medium)
        }
    }

    private func refusal(of product: MediaProduct) -> PlayerError {
        guard service != nil else {
            return PlayerError(
                .notAllowed, code: "a1",
                message: "\(product.productId): no content service is configured. Set [service] url.",
                mediaProduct: product)
        }
        return PlayerError(
            .notAllowed, code: "a3",
            message: "\(product.productId): it is not kept, and the player is in offline mode ([offline] only).",
            mediaProduct: product)
    }

    public func streams(_ product: MediaProduct) -> Bool {
        switch Self.route(of: product) {
        case .local: local.streams(product)
        case .service: service?.streams(product) ?? false
        }
    }

    /// Only the decision.
    static func route(of product: MediaProduct) -> Route {
        ServiceAddress.isMeant(by: product.productId) ? .service : .local
    }
}
