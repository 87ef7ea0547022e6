/// The beginning of a session: one product that is played or downloaded.
package struct SessionStart: Equatable, Sendable {
    package enum Kind: Int, Equatable, Sendable {
        case playback = 0
        case download = 1
    }

    package enum Reason: Int, Equatable, Sendable {
        /// The product was asked for by itself.
        case explicit = 0
        /// It follows another one.
        case implicit = 1
    }

    package enum Link: Int, Equatable, Sendable {
        case none = 0
        case ethernet = 1
        case wifi = 2
        case cellular = 3
        case other = 4
    }

    /// Identifies the session in all its events, and the requests to the service.
    package var id: String
    package var time: EventTime
    package var kind: Kind
    package var reason: Reason
    /// Whether the product is a video; otherwise it is a track.
    package var isVideo: Bool
    /// The requested product at the service.
    package var productId: String
    /// The origin of the request, if the client named it.
    package var source: EventSource?
    /// Further attributes of the request, in any order.
    package var extras: [String: String]
    package var isOfflineMode: Bool
    package var link: Link
    /// The account that is logged in.
    package var account: AccountMark

    package init(
        id: String, time: EventTime, kind: Kind, reason: Reason = .explicit, isVideo: Bool = false, productId: String,
        source: EventSource? = nil, extras: [String: String] = [:], isOfflineMode: Bool = false, link: Link = .other,
        account: AccountMark = .none
    ) {
        self.id = id
        self.time = time
        self.kind = kind
        self.reason = reason
        self.isVideo = isVideo
        self.productId = productId
        self.source = source
        self.extras = extras
        self.isOfflineMode = isOfflineMode
        self.link = link
        self.account = account
    }
}

/// The place in a client from which a product was requested.
package struct EventSource: Equatable, Sendable {
    package var type: String?
    package var id: String?

    package init(type: String?, id: String?) {
        self.type = type
        self.id = id
    }
}
