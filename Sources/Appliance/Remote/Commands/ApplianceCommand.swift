/// What a button, a client of the socket or the command line can ask for in one word.
public enum ApplianceCommand: CaseIterable, Equatable, Sendable {
    case play, pause, toggle, next, previous, stop
    case volumeUp, volumeDown, mute
    case shuffle
    case networkRestart, powerOff

    /// As it is written in board profiles and requests.
    public var name: String {
        switch self {
        case .play: "play"
        case .pause: "pause"
        case .toggle: "play-pause"
        case .next: "next"
        case .previous: "previous"
        case .stop: "stop"
        case .volumeUp: "volume-up"
        case .volumeDown: "volume-down"
        case .mute: "mute"
        case .shuffle: "shuffle"
        case .networkRestart: "network-restart"
        case .powerOff: "power-off"
        }
    }

    /// nil for what is no command.
    public init?(name: String) {
        guard let command = Self.allCases.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
        self = command
    }
}
