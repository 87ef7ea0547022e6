/// What a button or a step of an encoder asks for. The raw value is its name in a board profile.
public enum ButtonAction: String, CaseIterable, Sendable {
    case playPause = "play-pause"
    case next
    case previous
    case volumeUp = "volume-up"
    case volumeDown = "volume-down"
    case stop
    case mute
    case shuffle
    case networkRestart = "network-restart"
    case powerOff = "power-off"

    /// Whether a button that is held down asks for it again and again.
    var repeatsWhileHeld: Bool { self == .volumeUp || self == .volumeDown }
}
