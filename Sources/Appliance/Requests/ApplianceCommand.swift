/// A command that needs no arguments. Its name is the same for buttons, clients and the command
/// line (docs/decisions/one-vocabulary.md).
public enum ApplianceCommand: CaseIterable, Equatable, Sendable {
    case play, pause, toggle, next, previous, stop
    case volumeUp, volumeDown, mute
    case shuffle
    case networkRestart, restart, powerOff

    /// The name in board profiles, in requests and on the command line.
    public var name: String {
        switch self {
        case .play: "play"
        case .pause: "pause"
        case .toggle: "toggle"
        case .next: "next"
        case .previous: "previous"
        case .stop: "stop"
        case .volumeUp: "volume-up"
        case .volumeDown: "volume-down"
        case .mute: "mute"
        case .shuffle: "shuffle"
        case .networkRestart: "network-restart"
        case .restart: "restart"
        case .powerOff: "power-off"
        }
    }

    /// Returns nil when no command has this name.
    public init?(name: String) {
        guard let command = Self.allCases.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
        self = command
    }
}
