/// What a button or a step of an encoder asks for. The raw value is its name in a board profile; clients and the
/// command line have the same names.
public enum ButtonAction: String, CaseIterable, Sendable {
    case play, pause, toggle
    case next, previous
    case stop
    case volumeUp = "volume-up"
    case volumeDown = "volume-down"
    case mute
    case shuffle
    case networkRestart = "network-restart"
    case powerOff = "power-off"

    /// Old names that profiles may still have.
    static let oldNames: [(name: String, action: ButtonAction)] = [("play-pause", .toggle)]

    /// Whether a button that is held down repeats it.
    var repeatsWhileHeld: Bool { self == .volumeUp || self == .volumeDown }
}
