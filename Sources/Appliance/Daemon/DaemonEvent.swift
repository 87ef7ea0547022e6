import Player

/// Something about the daemon has changed; `Daemon.status` has what it is now.
public enum DaemonEvent: Equatable, Sendable {
    /// What it does: playing, paused, stalled, stopped; or the focus, the power or the device.
    case state
    /// Another entry is current, or its context is known (better).
    case track
    /// Entries, their order, or the modes.
    case queue
    /// The position is another than time has made it.
    case positionJumped
    /// The volume, its maximum, or whether it is muted.
    case volume
    /// A value of the configuration.
    case configuration
    /// The problems.
    case problems
    /// An entry could not be played and was passed over.
    case failed(QueueEntry, PlayerError)
}
