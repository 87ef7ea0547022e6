/// Which of the two front channels a device plays. It serves unusual speakers: two boards as a pair, a single speaker,
/// a wall with crossed cables.
public enum ChannelRouting: String, Equatable, Sendable, BitwiseCopyable {
    /// Each channel on its own side.
    case straight
    /// Left and right are exchanged.
    case swapped
    /// The mean of left and right on both.
    case mono
    /// The left channel on both.
    case left
    /// The right channel on both.
    case right

    /// - Parameter name: a raw value.
    public init?(named name: String) {
        let all: [ChannelRouting] = [.straight, .swapped, .mono, .left, .right]
        guard let routing = all.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) }) else { return nil }
        self = routing
    }

    /// The phrase for a person: "left and right swapped"; nil for `straight`.
    var phrase: String? {
        switch self {
        case .straight: nil
        case .swapped: "left and right swapped"
        case .mono: "left and right mixed"
        case .left: "the left channel alone"
        case .right: "the right channel alone"
        }
    }
}
