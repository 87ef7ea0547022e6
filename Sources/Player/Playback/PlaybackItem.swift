/// Names one request for a product: made by `load` or `setNext`, gone when another takes its place.
struct ItemID: Hashable, Sendable {
    let number: UInt64
}

/// A product that the playback engine works on.
struct PlaybackItem: Equatable {
    enum Phase: Equatable {
        /// Its source is being opened.
        case loading
        case ready(PlaybackContext)
        /// It cannot be played. Kept silent until the item is the active one.
        case failed(PlayerError)
    }

    let id: ItemID
    let product: MediaProduct
    var phase = Phase.loading
    /// Decoding has stopped in the middle: raised once what was decoded has been heard.
    var failureAtEnd: PlayerError?

    init(id: ItemID, product: MediaProduct) {
        self.id = id
        self.product = product
    }

    var context: PlaybackContext? {
        if case .ready(let context) = phase { context } else { nil }
    }
}
