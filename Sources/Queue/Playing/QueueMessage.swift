import Player

/// An event of the queue, for the parts that store, show or report it.
package enum QueueMessage: Equatable, Sendable {
    /// Entries, order, modes, the current entry, or whether it should play have changed by a request.
    case queueChanged
    /// The queue moved to another entry without a request.
    case advanced
    /// The engine has announced the current entry: its context is known.
    case currentAnnounced
    case stateChanged(PlaybackState)
    /// The position has jumped.
    case positionJumped
    /// Playback was paused, stopped or interrupted.
    case rested
    /// The entry could not be played and was skipped.
    case failed(EntryID, PlayerError)
    /// The current entry's medium is missing, and the entry is retried; nil when the medium is back, or is not needed
    /// any more.
    case mediumMissing(PlayerError?)
    /// The content service is away, and the entry is retried. The error is the latest reason; nil: the service is back,
    /// or is not needed any more.
    case serviceAway(PlayerError?)
    /// No entry is left to play.
    case ended
    /// A whole round of the queue was too short to be heard: the queue has stopped.
    case nothingToHear
    /// Another device plays with the same subscription; playback was paused.
    case revoked(otherDevice: String?)
}
