/// An event at a board's lines. `name` is the name of a button or encoder in the profile, `subject` its section:
/// `button play`, `light status`, `amplifier`.
public enum BoardEvent: Equatable, Sendable {
    /// A contact changed; bounces are included unless the kernel filters them. The time is in nanoseconds of
    /// CLOCK_MONOTONIC.
    case edge(name: String, isActive: Bool, time: Int64)
    case gesture(name: String, ButtonGesture)
    case turned(name: String, RotaryDecoder.Direction)
    /// An action to carry out. `time` is the time of the edge or timeout that caused it.
    case action(ButtonAction, name: String, time: Int64)
    /// Its lines can be used from now on.
    case ready(subject: String)
    /// Its lines cannot be used. They are retried, and each reason is reported once.
    case unavailable(subject: String, LineError)
}

extension BoardEvent: CustomStringConvertible {
    /// One line for the user.
    public var description: String {
        switch self {
        case .edge(let name, let isActive, let time):
            "\(name): \(isActive ? "active" : "inactive") at \(Self.seconds(time))"
        case .gesture(let name, let gesture): "\(name): \(gesture.text)"
        case .turned(let name, let direction): "\(name): \(direction.text)"
        case .action(let action, let name, _): "\(name): asks for \(action.rawValue)"
        case .ready(let subject): "\(subject): ready"
        case .unavailable(let subject, let error): "\(subject): \(error.description)"
        }
    }

    /// Returns `12.000345 s`.
    private static func seconds(_ time: Int64) -> String {
        let nanoseconds = max(time, 0)
        let digits = Array("\(nanoseconds / 1000 % 1_000_000)".utf8)
        let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: 6 - digits.count)
        return "\(nanoseconds / 1_000_000_000).\(String(decoding: zeros + digits, as: UTF8.self)) s"
    }
}

extension ButtonGesture {
    /// The text for the user.
    public var text: String {
        switch self {
        case .press: "press"
        case .longPress: "long press"
        case .doublePress: "double press"
        case .repetition: "still held"
        case .stuck: "stuck: held for too long; ignored until it is released"
        case .chattering: "chattering: more presses than a person makes; ignored until it is quiet for 2 s"
        case .freed: "works again: it is released and quiet"
        }
    }
}

extension RotaryDecoder.Direction {
    fileprivate var text: String {
        switch self {
        case .clockwise: "clockwise"
        case .counterClockwise: "counter-clockwise"
        }
    }
}
