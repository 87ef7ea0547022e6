/// Where a channel is heard.
enum ChannelPosition: Equatable {
    case left, right, center, lowFrequency, backLeft, backRight, backCenter, sideLeft, sideRight
}

/// The channel order of FLAC (RFC 9639, 9.1.3), which is also that of WAV for the same positions.
enum ChannelLayout {
    static let largest = 8

    /// The positions of `channelCount` channels. Channels behind the eighth have none.
    static func positions(_ channelCount: Int) -> [ChannelPosition] {
        switch channelCount {
        case ...1: [.center]
        case 2: [.left, .right]
        case 3: [.left, .right, .center]
        case 4: [.left, .right, .backLeft, .backRight]
        case 5: [.left, .right, .center, .backLeft, .backRight]
        case 6: [.left, .right, .center, .lowFrequency, .backLeft, .backRight]
        case 7: [.left, .right, .center, .lowFrequency, .backCenter, .sideLeft, .sideRight]
        default: [.left, .right, .center, .lowFrequency, .backLeft, .backRight, .sideLeft, .sideRight]
        }
    }
}

/// How much of each source channel goes into each channel of a device (ITU-R BS.775-3, annex 4): what has no channel of
/// its own goes to its neighbours, the center and the surrounds with −3 dB each, low frequencies nowhere. The whole is
/// scaled so that full scale in all channels is full scale.
struct ChannelMatrix {
    static let fractionBits = 30
    private static let half = 0.707_106_781_186_547_5

    let sourceCount: Int
    let deviceCount: Int
    /// Factors times 2³⁰, `sourceCount` for each device channel. Those of one device channel add up to 2³⁰ at most.
    let factors: [Int32]
    /// Whether each device channel is one source channel as it is, or silent, and none of the source is lost.
    let isExact: Bool

    init(from sourceCount: Int, to deviceCount: Int) {
        var builder = Builder(sourceCount: sourceCount, deviceCount: deviceCount)
        builder.routeAll()
        self.sourceCount = sourceCount
        self.deviceCount = deviceCount
        factors = builder.fixedPoint()
        isExact = builder.isExact
    }

    private struct Builder {
        let sourceCount: Int
        let deviceCount: Int
        let device: [ChannelPosition]
        var factors: [Double]
        /// Whether every channel has found its own position.
        var isExact = true

        init(sourceCount: Int, deviceCount: Int) {
            self.sourceCount = sourceCount
            self.deviceCount = deviceCount
            device = ChannelLayout.positions(deviceCount)
            factors = [Double](repeating: 0, count: sourceCount * deviceCount)
        }

        mutating func routeAll() {
            if sourceCount == 1 {
                add(.left, 0, 1)
                add(.right, 0, 1)
                return
            }
            for (source, position) in ChannelLayout.positions(sourceCount).enumerated() { route(position, source, 1) }
        }

        /// Adds source channel `source`, which belongs at `position`, to the nearest channels that the device has.
        private mutating func route(_ position: ChannelPosition, _ source: Int, _ factor: Double) {
            if device.contains(position) { return add(position, source, factor) }
            isExact = false
            let less = factor * ChannelMatrix.half
            switch position {
            case .lowFrequency:
                break
            case .left, .right:
                // A device with one channel.
                add(.center, source, less)
            case .center:
                add(.left, source, less)
                add(.right, source, less)
            case .backLeft:
                device.contains(.sideLeft) ? add(.sideLeft, source, factor) : route(.left, source, less)
            case .backRight:
                device.contains(.sideRight) ? add(.sideRight, source, factor) : route(.right, source, less)
            case .sideLeft:
                device.contains(.backLeft) ? add(.backLeft, source, factor) : route(.left, source, less)
            case .sideRight:
                device.contains(.backRight) ? add(.backRight, source, factor) : route(.right, source, less)
            case .backCenter:
                route(.backLeft, source, less)
                route(.backRight, source, less)
            }
        }

        private mutating func add(_ position: ChannelPosition, _ source: Int, _ factor: Double) {
            guard let channel = device.firstIndex(of: position) else { return }
            factors[channel * sourceCount + source] += factor
        }

        /// Rounded down, so that no sum exceeds 1.
        func fixedPoint() -> [Int32] {
            var largestSum = 1.0
            for channel in 0..<deviceCount {
                let sum = factors[(channel * sourceCount)..<((channel + 1) * sourceCount)].reduce(0, +)
                largestSum = max(largestSum, sum)
            }
            let one = Double(Int32(1) << Int32(ChannelMatrix.fractionBits))
            return factors.map { Int32(($0 / largestSum * one).rounded(.down)) }
        }
    }
}
