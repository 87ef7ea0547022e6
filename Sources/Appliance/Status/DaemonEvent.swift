import Player
import Queue

/// A part of the daemon's status has changed. `Daemon.status` has the new status.
package enum DaemonEvent: Equatable, Sendable {
    /// The playback state, the focus, the power or the device has changed.
    case state
    /// Another entry is current, or more of its context is known.
    case track
    /// The queue's entries, their order, or the modes have changed.
    case queue
    /// The position has jumped, so it did not change only because time passed.
    case positionJumped
    /// The volume, its maximum or the mute has changed.
    case volume
    /// A value of the configuration has changed.
    case configuration
    /// The problems.
    case problems
    /// An entry could not be played and was skipped.
    case failed(QueueEntry, PlayerError)
    /// A message about an offline copy or a download.
    case offline(OfflineMessage)
    /// A scan has changed the library, or has failed.
    case library(LibraryStatus)
    /// A stored playlist has changed, is new, or is gone.
    case playlists(name: String)
}
