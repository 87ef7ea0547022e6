import Player

/// Why an entry failed, as far as the queue depends on it.
enum EntryFailure: Equatable {
    /// The entry itself failed, and the next one may play.
    case ofEntry
    /// The medium is missing (a missing or broken file is no such case), or this machine cannot open it now.
    case ofMedium
    /// The content service is away (`PlayerError.Reach`).
    case ofService
    /// The content of the entry did not arrive, and the service gave no reason.
    case ofContent

    /// - Parameter media: the media of the queue.
    init(_ error: PlayerError, _ media: MusicMedia = MusicMedia()) {
        if MissingMedium.isReason(for: error, media) {
            self = .ofMedium
            return
        }
        switch error.reach {
        case .product: self = .ofEntry
        case .content: self = .ofContent
        case .service: self = .ofService
        case .machine: self = .ofMedium
        }
    }
}
