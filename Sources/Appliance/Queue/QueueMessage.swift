import Player

/// What happened to the queue, for everybody who keeps, shows or reports it.
public enum QueueMessage: Equatable, Sendable {
    /// Entries, order, modes, the current entry or whether it is meant to play, because somebody asked for it.
    case queueChanged
    /// The queue went on to another entry by itself.
    case advanced
    /// The engine has begun with the current entry: its context is known.
    case currentAnnounced
    case stateChanged(PlaybackState)
    /// The position has jumped.
    case positionJumped
    /// It was playing, and was paused, stopped or interrupted.
    case rested
    /// The entry could not be played and was passed over.
    case failed(EntryID, PlayerError)
    /// The current entry's medium is missing, and the entry is retried; nil: the medium is back, or no longer needed.
    case mediumMissing(PlayerError?)
    /// Nothing is left to play.
    case ended
    /// A whole round of the queue was too short to be heard: it stopped.
    case nothingToHear
    /// Another device plays with the same subscription; it was paused.
    case revoked(otherDevice: String?)
}
