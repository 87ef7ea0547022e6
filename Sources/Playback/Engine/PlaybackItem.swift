/// Identifies one request for a product: created by `load` or `setNext`, and gone when another request replaces it.
package struct ItemID: Hashable, Sendable {
    let number: UInt64
}

/// A product that the playback engine works on.
struct PlaybackItem: Equatable {
    enum Phase: Equatable {
        /// The item's source is opened later, because the current item needs the network.
        case waiting
        /// The item's source is being opened.
        case loading
        case ready(PlaybackContext)
        /// The product cannot be played. The error is sent only when the item becomes the active one.
        case failed(PlayerError)
        /// Another device has taken over the right to play. The item is opened again when it should play.
        case revoked
    }

    let id: ItemID
    let product: MediaProduct
    var phase: Phase
    /// Whether a seek is running: frames that were decoded before it are dropped.
    var isRepositioning = false
    /// An error in the middle of decoding: sent after the decoded frames were heard.
    var failureAtEnd: PlayerError?
    /// Whether all of its content has arrived, or none comes over a network.
    var isFetched = false
    /// The position at which the item starts when it is opened, in seconds; nil for its beginning.
    var start: Double?

    init(id: ItemID, product: MediaProduct, phase: Phase = .loading) {
        self.id = id
        self.product = product
        self.phase = phase
    }

    /// The effect that stops the item's work, if any work has begun.
    var closing: [PlaybackStateMachine.Effect] { phase == .waiting ? [] : [.close(id)] }

    /// Whether the output can play it.
    var isPlayable: Bool { context != nil && !isRepositioning }

    var context: PlaybackContext? {
        get { if case .ready(let context) = phase { context } else { nil } }
        set { if let newValue { phase = .ready(newValue) } }
    }
}
