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
    /// A seek is under way: what was decoded before is not wanted any more.
    var isRepositioning = false
    /// Decoding has stopped in the middle: raised once what was decoded has been heard.
    var failureAtEnd: PlayerError?

    init(id: ItemID, product: MediaProduct) {
        self.id = id
        self.product = product
    }

    /// Whether the output can play it.
    var isPlayable: Bool { context != nil && !isRepositioning }

    var context: PlaybackContext? {
        get { if case .ready(let context) = phase { context } else { nil } }
        set { if let newValue { phase = .ready(newValue) } }
    }
}
