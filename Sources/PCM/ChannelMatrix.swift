/// How much of each source channel goes into each channel of a device (ITU-R BS.775-3, annex 4). A channel without a
/// counterpart goes to its neighbours: the center and the surrounds with −3 dB each, low frequencies are dropped. The
/// result is scaled so that full scale in all channels stays full scale.
struct ChannelMatrix {
    static let fractionBits = 30
    private static let half = 0.707_106_781_186_547_5

    let sourceCount: Int
    let deviceCount: Int
    /// Factors times 2³⁰, `sourceCount` for each device channel. Those of one device channel add up to 2³⁰ at most.
    let factors: [Int32]
    /// Whether each device channel is an unchanged source channel or silent, and no source channel is lost but one that
    /// `routing` leaves out.
    let isExact: Bool

    /// - Parameter layout: the layout of the device; nil for the order of FLAC.
    init(
        from sourceCount: Int, to deviceCount: Int, _ routing: ChannelRouting = .straight,
        layout: ChannelLayout? = nil
    ) {
        // Both sides are computed before one of them is selected for the single channel.
        let takesSide = deviceCount == 1 && (routing == .left || routing == .right)
        let builtCount = takesSide ? 2 : deviceCount
        var builder = Builder(
            sourceCount: sourceCount, deviceCount: builtCount, device: layout ?? ChannelLayout(builtCount))
        builder.routeAll()
        builder.route(routing)
        self.sourceCount = sourceCount
        self.deviceCount = deviceCount
        factors = Array(builder.fixedPoint()[..<(sourceCount * deviceCount)])
        isExact = builder.isExact && (routing != .mono || deviceCount == 1)
    }

    private struct Builder {
        let sourceCount: Int
        let deviceCount: Int
        let device: ChannelLayout
        var factors: [Double]
        /// Whether every channel was placed at its own position.
        var isExact = true

        init(sourceCount: Int, deviceCount: Int, device: ChannelLayout) {
            self.sourceCount = sourceCount
            self.deviceCount = deviceCount
            self.device = device
            factors = [Double](repeating: 0, count: sourceCount * deviceCount)
        }

        mutating func routeAll() {
            if sourceCount == 1 {
                add(.left, 0, 1)
                add(.right, 0, 1)
                return
            }
            ChannelLayout(sourceCount).forEach { source, position in route(position, source, 1) }
        }

        /// Adds source channel `source`, whose position is `position`, to the nearest channels of the device.
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
            guard let channel = device.channel(at: position) else { return }
            factors[channel * sourceCount + source] += factor
        }

        /// Changes what the front channels of the device play.
        mutating func route(_ routing: ChannelRouting) {
            guard let left = device.channel(at: .left), let right = device.channel(at: .right) else { return }
            for source in 0..<sourceCount {
                let (first, second) = (left * sourceCount + source, right * sourceCount + source)
                switch routing {
                case .straight: break
                case .swapped: factors.swapAt(first, second)
                case .mono:
                    factors[first] = (factors[first] + factors[second]) / 2
                    factors[second] = factors[first]
                case .left: factors[second] = factors[first]
                case .right: factors[first] = factors[second]
                }
            }
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
