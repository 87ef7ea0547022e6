import Player
import Queue

/// Finds the products that were played to their end, for automatic downloads (`[offline] keep-played`).
///
/// Thread: the daemon's loop.
struct PlayedProducts {
    /// The entry that is heard; nil when the entry has failed, or a request has moved to another one.
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

/// Downloads played products, after all downloads that the user requested.
///
/// Thread: the daemon's.
final class AutomaticDownloads {
    private let engine: OfflineEngine?
    private let settings: DaemonSettings
    private var played = PlayedProducts()

    /// - Parameter engine: nil without offline copies.
    init(_ engine: OfflineEngine?, _ settings: DaemonSettings) { (self.engine, self.settings) = (engine, settings) }

    /// - Parameter current: the queue's current entry when the message was sent.
    func handle(_ message: QueueMessage, current: QueueEntry?) {
        guard let ended = played.handle(message, current: current), settings.configuration.downloadsPlayed else {
            return
        }
        engine?.offline(ended.mediaProduct(referenceId: ended.productId), isAutomatic: true) { _ in }
    }
}
