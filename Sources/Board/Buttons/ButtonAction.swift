/// The action of a button or of a step of an encoder. The raw value is its name in a board profile; clients and the
/// command line use the same names.
public enum ButtonAction: String, CaseIterable, Sendable {
    case play, pause, toggle
    case next, previous
    case stop
    case volumeUp = "volume-up"
    case volumeDown = "volume-down"
    case mute
    case shuffle
    case networkRestart = "network-restart"
    /// Restarts the machine.
    case restart
    case powerOff = "power-off"

    /// Old names that profiles may still use.
    static let oldNames: [(name: String, action: ButtonAction)] = [("play-pause", .toggle)]

    /// Whether the action repeats while the button is held.
    var repeatsWhileHeld: Bool { self == .volumeUp || self == .volumeDown }
}
