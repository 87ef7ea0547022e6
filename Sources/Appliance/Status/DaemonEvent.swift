import Player
import Queue

/// A part of the daemon's status has changed. `Daemon.status` has the new one.
package enum DaemonEvent: Equatable, Sendable {
    /// Playing, paused, stalled or stopped; or the focus, the power or the device.
    case state
    /// Another entry is current, or more of its context is known.
    case track
    /// Entries, their order, or the modes.
    case queue
    /// The position has jumped: it did not change by playing alone.
    case positionJumped
    /// The volume, its maximum, or whether it is muted.
    case volume
    /// A value of the configuration.
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
