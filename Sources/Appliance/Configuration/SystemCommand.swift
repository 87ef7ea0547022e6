/// Commands of the appliance that do not belong to the player.
public enum SystemCommand: Equatable, CaseIterable, Sendable {
    case networkRestart, restart, powerOff
    /// Notifies the system of a request for an update.
    case update
}
