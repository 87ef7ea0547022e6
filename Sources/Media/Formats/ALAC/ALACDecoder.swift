import PCM

/// Decodes packets of ALAC. All memory is allocated at the start.
///
/// A packet is a list of elements with one channel or two, each with its own way of coding. Nothing in it is trusted:
/// numbers are compared with those of the configuration, and a packet that needs reads after its end counts as damaged.
///
/// Thread: only the decoder thread.
struct ALACDecoder: ~Copyable {
    private let config: ALACConfig
    /// A copy of the packet, with zeros after it.
    private let packet: UnsafeMutableRawPointer
    /// The samples of two channels.
    private let samples: UnsafeMutablePointer<Int32>
    private let coefficients: UnsafeMutablePointer<Int32>

    private static let mostCoefficients = 32
    /// The most elements without sound between those with sound.
    private static let mostElements = 64

    private enum Element {
        static let single: UInt32 = 0
        static let pair: UInt32 = 1
        static let lowFrequencies: UInt32 = 3
        static let data: UInt32 = 4
        static let fill: UInt32 = 6
    }

    init(_ config: ALACConfig) {
        self.config = config
        packet = .allocate(byteCount: config.mostPacketBytes + ALACBits.padding, alignment: 16)
        samples = .allocate(capacity: 2 * config.frameCount)
        samples.initialize(repeating: 0, count: 2 * config.frameCount)
        coefficients = .allocate(capacity: 2 * Self.mostCoefficients)
        coefficients.initialize(repeating: 0, count: 2 * Self.mostCoefficients)
    }

    deinit {
        packet.deallocate()
        samples.deallocate()
        coefficients.deallocate()
    }

    /// Decodes one packet into left-justified, interleaved samples.
    /// - Parameter target: has room for all frames of a packet.
    /// - Returns: the number of frames; nil when the packet is damaged.
    mutating func decode(_ bytes: UnsafeRawBufferPointer, into target: UnsafeMutablePointer<Int32>) -> Int? {
        let byteCount = min(bytes.count, config.mostPacketBytes)
        guard let source = bytes.baseAddress, byteCount > 0 else { return nil }
        packet.copyMemory(from: source, byteCount: byteCount)
        (packet + byteCount).initializeMemory(as: UInt8.self, repeating: 0, count: ALACBits.padding)
        var bits = ALACBits(UnsafeRawPointer(packet), byteCount: byteCount)
        var frameCount: Int?
        var channel = 0
        for _ in 0..<Self.mostElements {
            let type = bits.read(3)
            switch type {
            case Element.single, Element.lowFrequencies, Element.pair:
                let channels = type == Element.pair ? 2 : 1
                guard channel + channels <= config.format.channelCount,
                    let count = element(&bits, channels: channels, first: channel, into: target),
                    count == frameCount ?? count
                else { return nil }
                frameCount = count
                channel += channels
            case Element.data:
                bits.skip(4)
                let isAligned = bits.read(1) == 1
                var count = Int(bits.read(8))
                if count == 255 { count += Int(bits.read(8)) }
                if isAligned { bits.alignToByte() }
                bits.skip(count * 8)
            case Element.fill:
                var count = Int(bits.read(4))
                if count == 15 { count += Int(bits.read(8)) - 1 }
                bits.skip(count * 8)
            default: return nil
            }
            guard !bits.isBeyond else { return nil }
            if channel == config.format.channelCount { return frameCount }
        }
        return nil
    }

    /// The way in which one channel is coded.
    private struct Filter {
        var isTwice: Bool
        var shift: Int32
        var meanFactor: UInt32
        var order: Int
    }

    /// - Returns: the number of frames.
    private func element(
        _ bits: inout ALACBits, channels: Int, first: Int, into target: UnsafeMutablePointer<Int32>
    ) -> Int? {
        // A number of the element, and unused bits.
        bits.skip(4 + 12)
        let hasCount = bits.read(1) == 1
        let shiftedBits = 8 * Int(bits.read(2))
        let isVerbatim = bits.read(1) == 1
        let count = hasCount ? Int(clamping: bits.read(32)) : config.frameCount
        guard !bits.isBeyond, 1...config.frameCount ~= count else { return nil }
        var output = Output(
            count: count, left: samples, right: channels == 2 ? samples + config.frameCount : nil,
            unused: Int32(32 - config.format.bitDepth))
        if isVerbatim {
            guard channels * count * config.format.bitDepth <= bits.remaining else { return nil }
            readVerbatim(&bits, count: count, channels: channels)
        } else {
            guard read(&bits, &output, channels: channels, shiftedBits: shiftedBits) else { return nil }
        }
        let order = config.channelOrder >> UInt32(4 * first)
        output.write(
            into: target, stride: config.format.channelCount, leftPlace: Int(order & 0xF),
            rightPlace: Int(order >> 4 & 0xF))
        return count
    }

    private func readVerbatim(_ bits: inout ALACBits, count: Int, channels: Int) {
        let depth = config.format.bitDepth
        for index in 0..<count {
            for channel in 0..<channels { samples[channel * config.frameCount + index] = bits.readSigned(depth) }
        }
    }

    /// Reads a compressed element.
    /// - Returns: whether it is complete.
    private func read(_ bits: inout ALACBits, _ output: inout Output, channels: Int, shiftedBits: Int) -> Bool {
        // The matrix makes one bit more.
        let width = config.format.bitDepth - shiftedBits + channels - 1
        guard shiftedBits <= 16, 1...32 ~= width, config.mostBits > 0 else { return false }
        output.mixBits = Int32(min(31, bits.read(8)))
        output.mixWeight = bits.readSigned(8)
        var filters = (readFilter(&bits, 0), Filter(isTwice: false, shift: 0, meanFactor: 0, order: 0))
        if channels == 2 { filters.1 = readFilter(&bits, 1) }
        guard !bits.isBeyond else { return false }
        if shiftedBits > 0 {
            output.shiftedBits = shiftedBits
            output.lowBits = bits
            bits.skip(shiftedBits * channels * output.count)
            guard !bits.isBeyond else { return false }
        }
        for channel in 0..<channels {
            let filter = channel == 0 ? filters.0 : filters.1
            let target = samples + channel * config.frameCount
            let residuals = ALACResiduals(
                firstMean: config.firstMean, meanFactor: config.meanFactor * filter.meanFactor / 4,
                mostBits: config.mostBits, width: width)
            guard residuals.read(&bits, count: output.count, into: target) else { return false }
            let coefficients = coefficients + channel * Self.mostCoefficients
            if filter.isTwice {
                ALACPredictor.run(
                    target, count: output.count, coefficients, order: ALACPredictor.difference, shift: 0, width: width)
            }
            ALACPredictor.run(
                target, count: output.count, coefficients, order: filter.order, shift: filter.shift, width: width)
        }
        return true
    }

    private func readFilter(_ bits: inout ALACBits, _ channel: Int) -> Filter {
        let isTwice = bits.read(4) != 0
        let shift = Int32(bits.read(4))
        let meanFactor = bits.read(3)
        let order = Int(bits.read(5))
        for number in 0..<order { coefficients[channel * Self.mostCoefficients + number] = bits.readSigned(16) }
        return Filter(isTwice: isTwice, shift: shift, meanFactor: meanFactor, order: order)
    }

    /// The samples of an element on their way into frames.
    private struct Output {
        let count: Int
        let left: UnsafeMutablePointer<Int32>
        /// The second channel; nil for one channel.
        let right: UnsafeMutablePointer<Int32>?
        /// The number of unused bits below a sample.
        let unused: Int32
        /// The weight of the difference in the left channel; 0 without a matrix.
        var mixWeight: Int32 = 0
        var mixBits: Int32 = 0
        /// The number of low bits that were stored separately, and their position.
        var shiftedBits = 0
        var lowBits: ALACBits?

        init(
            count: Int, left: UnsafeMutablePointer<Int32>, right: UnsafeMutablePointer<Int32>?, unused: Int32
        ) {
            (self.count, self.left, self.right, self.unused) = (count, left, right, unused)
        }

        /// Unchecked: `target` has `count` frames of `stride` samples.
        func write(into target: UnsafeMutablePointer<Int32>, stride: Int, leftPlace: Int, rightPlace: Int) {
            if let right, mixWeight != 0 { unmix(right) }
            if let lowBits { addLowBits(lowBits) }
            Self.spread(left, count, target + leftPlace, stride, unused)
            if let right { Self.spread(right, count, target + rightPlace, stride, unused) }
        }

        /// Computes left and right from a weighted sum and the difference.
        @_optimize(speed) @inline(never)
        private func unmix(_ right: UnsafeMutablePointer<Int32>) {
            var index = 0
            while index < count {
                let difference = right[index]
                let sample = left[index] &+ difference &- (mixWeight &* difference) &>> mixBits
                left[index] = sample
                right[index] = sample &- difference
                index &+= 1
            }
        }

        @_optimize(speed) @inline(never)
        private func addLowBits(_ bits: ALACBits) {
            var bits = bits
            let shift = Int32(truncatingIfNeeded: shiftedBits)
            var index = 0
            while index < count {
                left[index] = left[index] &<< shift | Int32(bitPattern: bits.read(shiftedBits))
                if let right { right[index] = right[index] &<< shift | Int32(bitPattern: bits.read(shiftedBits)) }
                index &+= 1
            }
        }

        @_optimize(speed) @inline(never)
        private static func spread(
            _ source: UnsafeMutablePointer<Int32>, _ count: Int, _ target: UnsafeMutablePointer<Int32>, _ stride: Int,
            _ unused: Int32
        ) {
            var index = 0
            var place = 0
            while index < count {
                target[place] = source[index] &<< unused
                index &+= 1
                place &+= stride
            }
        }
    }
}
