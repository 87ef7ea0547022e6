import Media
import Offline
import Platform
import Playback

/// Combines all sources: finds the source of a product by its id.
///
/// Thread: any.
public final class SourceRouter: PlaybackSource {
    /// The source of a product.
    enum Route: Equatable {
        /// Its id is a path.
        case local
        /// Its id is a `ServiceAddress`.
        case service
        /// Its id is a `WebFileAddress`.
        case web
    }

    private let local: any PlaybackSource
    private let service: (any PlaybackSource)?
    private let web: (any PlaybackSource)?
    private let copies: OfflineSource?
    private let offlineMode: OfflineMode
    private let isLinked: @Sendable () -> Bool

    /// - Parameters:
    ///   - service: nil when no content service is configured.
    ///   - web: files on web servers; nil for a player that does not play them.
    ///   - copies: the offline copies of the service; nil without an offline engine.
    ///   - offlineMode: the mode in which no source uses the network.
    ///   - isLinked: whether there is a link now. Without one, damage of an offline copy is an error, and the service
    ///     is not tried. Called on decoder threads.
    public init(
        local: any PlaybackSource = LocalFiles(), service: (any PlaybackSource)? = nil,
        web: (any PlaybackSource)? = nil, copies: OfflineSource? = nil, offlineMode: OfflineMode = OfflineMode(),
        isLinked: @escaping @Sendable () -> Bool = { true }
    ) {
        self.web = web
        self.local = local
        self.service = service
        self.copies = copies
        self.offlineMode = offlineMode
        self.isLinked = isLinked
    }

    public func open(
        _ product: MediaProduct, session: PlaybackSession, cancellation: Cancellation, medium: MediumAccess
    ) throws(PlayerError) -> OpenedProduct {
        switch Self.route(of: product) {
        case .local: return try local.open(product, session: session, cancellation: cancellation, medium: medium)
        case .web:
            if offlineMode.isOn { throw PlayerError(.source(.offlineMode), product) }
            guard let web else {
                throw PlayerError(
                    .notAllowed, code: "a1", message: "\(product.productId): this player plays no web addresses.",
                    mediaProduct: product)
            }
            return try web.open(product, session: session, cancellation: cancellation, medium: medium)
        case .service:
            let service = offlineMode.isOn ? nil : service
            var otherwise: OfflineSource.Replacement?
            if let service, isLinked() {
                otherwise = { [self] () throws(PlayerError) in
                    // Offline mode may have been switched on since the offline copy was opened.
                    if offlineMode.isOn { throw refusal(of: product) }
                    guard isLinked() else { return nil }
                    return try service.open(product, session: session, cancellation: cancellation, medium: medium)
                        .decoder
                }
            }
            if let copies,
                let opened = try copies.open(
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
            message:
                "\(product.productId): it has no offline copy, and the player is in offline mode ([offline] only).",
            mediaProduct: product)
    }

    public func streams(_ product: MediaProduct) -> Bool {
        switch Self.route(of: product) {
        case .local: local.streams(product)
        case .service: service?.streams(product) ?? false
        case .web: web?.streams(product) ?? false
        }
    }

    /// Decides the route.
    static func route(of product: MediaProduct) -> Route {
        if ServiceAddress.isMeant(by: product.productId) { return .service }
        return WebFileAddress.isMeant(by: product.productId) ? .web : .local
    }
}
