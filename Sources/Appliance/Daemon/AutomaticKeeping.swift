import Player
import Queue

/// Finds the products that were played to their end, for automatic downloads (`[offline] keep-played`).
///
/// Thread: the daemon's loop.
struct AutomaticKeeping {
    /// The entry that is heard; nil when it has failed, or a request left it.
    private var heard: QueueEntry?

    /// - Parameter current: the queue's current entry when the message was sent.
    /// - Returns: the product that has just ended.
    mutating func handle(_ message: QueueMessage, current: QueueEntry?) -> QueuedProduct? {
        switch message {
        case .currentAnnounced: heard = current
        case .queueChanged: if heard?.id != current?.id { heard = nil }
        case .failed(let entry, _): if heard?.id == entry { heard = nil }
        case .advanced, .ended:
            defer { heard = nil }
            return heard?.product
        case .stateChanged, .positionJumped, .rested, .mediumMissing, .serviceAway, .nothingToHear, .revoked: break
        }
        return nil
    }
}
