/// The actions of keys.
enum PlayControl: Equatable {
    case pauseOrResume
    /// The seconds to jump, backward when negative.
    case jump(Double)
    /// The change in percent, quieter when negative.
    case volume(Int)
    case next
    case previous
    case quit

    private static let seconds = 10.0
    private static let percent = 5

    init?(_ key: Key) {
        switch key {
        case .character(UInt8(ascii: " ")): self = .pauseOrResume
        case .character(UInt8(ascii: "n")): self = .next
        case .character(UInt8(ascii: "p")), .character(UInt8(ascii: "b")): self = .previous
        case .character(UInt8(ascii: "q")): self = .quit
        case .arrow(.up, _), .arrow(.right, shift: true): self = .volume(Self.percent)
        case .arrow(.down, _), .arrow(.left, shift: true): self = .volume(-Self.percent)
        case .arrow(.right, shift: false): self = .jump(Self.seconds)
        case .arrow(.left, shift: false): self = .jump(-Self.seconds)
        case .character: return nil
        }
    }
}
