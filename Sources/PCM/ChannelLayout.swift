/// The position of a channel, numbered in the order of WAV's channel mask.
public enum ChannelPosition: UInt32, Equatable, Sendable, BitwiseCopyable {
    case left = 1
    case right
    case center
    case lowFrequency
    case backLeft
    case backRight
    case backCenter
    case sideLeft
    case sideRight
}

/// The positions of the channels of audio or of a device.
///
/// A number and not an array: the constant arrays of one function get the same name in the Embedded build, which
/// `tools/cross` rejects.
public struct ChannelLayout: Equatable, Sendable, BitwiseCopyable {
    public static let largest = 8

    /// Four bits for each channel, the first one lowest: its position, 0 for none.
    private let positions: UInt32

    /// The order of FLAC (RFC 9639, 9.1.3), which is also that of WAV's mask. Channels after the eighth have no
    /// position.
    public init(_ channelCount: Int) {
        positions =
            switch channelCount {
            case ...1: 0x3
            case 2: 0x21
            case 3: 0x321
            case 4: 0x6521
            case 5: 0x65321
            case 6: 0x654321
            case 7: 0x987_4321
            default: 0x9865_4321
            }
    }

    /// The order of a device. A single pair of surrounds is the pair that audio with as many channels has: at the sides
    /// or at the back.
    /// - Parameter order: a position for each channel; nil for a channel that is silent.
    /// - Returns: nil for more than 8 channels, without left and right, and with two channels at one position.
    public init?(order: [ChannelPosition?]) {
        guard order.count <= Self.largest, order.contains(.left), order.contains(.right) else { return nil }
        let usual = ChannelLayout(order.count)
        let hasSides = order.contains(.sideLeft)
        let hasBacks = order.contains(.backLeft)
        let isOtherPair =
            hasSides != hasBacks && hasSides == usual.contains(.backLeft) && hasBacks == usual.contains(.sideLeft)
        var positions: UInt32 = 0
        var found: UInt32 = 0
        for (channel, position) in order.enumerated() {
            guard var position else { continue }
            if isOtherPair { position = position.inOtherPair }
            guard found & 1 &<< position.rawValue == 0 else { return nil }
            found |= 1 &<< position.rawValue
            positions |= position.rawValue &<< UInt32(4 * channel)
        }
        self.positions = positions
    }

    func contains(_ position: ChannelPosition) -> Bool { channel(at: position) != nil }

    /// The number of the channel at `position`; nil where there is none.
    public func channel(at position: ChannelPosition) -> Int? {
        (0..<Self.largest).first { positions &>> UInt32(4 * $0) & 0xf == position.rawValue }
    }

    /// Calls `body` with the number and the position of each channel that has one.
    public func forEach(_ body: (_ channel: Int, _ position: ChannelPosition) -> Void) {
        for channel in 0..<Self.largest {
            let number = positions &>> UInt32(4 * channel) & 0xf
            if let position = ChannelPosition(rawValue: number) { body(channel, position) }
        }
    }
}

extension ChannelPosition {
    /// The same side of the other pair of surrounds.
    fileprivate var inOtherPair: ChannelPosition {
        switch self {
        case .sideLeft: .backLeft
        case .sideRight: .backRight
        case .backLeft: .sideLeft
        case .backRight: .sideRight
        default: self
        }
    }
}
