import Player

/// Why an entry failed, as far as the queue decides by it.
enum EntryFailure: Equatable {
    /// The entry itself: the next one may play.
    case ofEntry
    /// The medium is missing, in contrast to a file that is missing or broken; or this machine cannot open it now.
    case ofMedium
    /// The content service is away (`PlayerError.Reach`).
    case ofService
    /// The content of the entry did not come, and the service has not said why.
    case ofContent

    /// - Parameter media: those of the queue.
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
