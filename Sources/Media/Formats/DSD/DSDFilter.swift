import CLinux

/// The low-pass filter that converts DSD to PCM: 479 taps of linear phase, one frame for each 32 bits
/// (docs/decisions/dsd.md).
///
/// Thread: only the decoder thread.
struct DSDFilter: ~Copyable {
    /// Bytes of a channel from one frame to the next.
    static let step = 4
    /// Bytes of a channel that one frame needs: as many before its middle as after it.
    static let byteCount = 60
    static let bitDepth = 24

    /// For each byte the sums of its eight taps with the bits of all 256 values.
    private let tables: UnsafeMutablePointer<Int32>

    /// The exponent of the largest sum, when all bits are equal.
    private static let unit = 29
    /// The shift to 24 bits, in which full scale is half of the unit.
    private static let shift: Int32 = 5
    private static let windowShape = 12.8

    init() {
        tables = .allocate(capacity: 256 * Self.byteCount)
        let taps = Self.taps()
        let scale = Double(1 << Self.unit)
        for place in 0..<Self.byteCount {
            for byte in 0..<256 {
                var sum = 0.0
                for bit in 0..<8 {
                    let tap = taps[8 * place + bit]
                    sum += byte & 0x80 >> bit != 0 ? tap : -tap
                }
                tables[256 * place + byte] = Int32((sum * scale).rounded())
            }
        }
    }

    deinit { tables.deallocate() }

    /// The taps for the bits from `byteCount / 2` bytes before a frame's middle on. Their sum is 1. The first one is 0,
    /// so that the others are symmetric to the middle.
    static func taps() -> [Double] {
        let half = 4 * byteCount
        let period = Double(8 * step)
        var taps = [Double](repeating: 0, count: 2 * half)
        var sum = 0.0
        for index in 1..<taps.count {
            let time = Double(index - half)
            let angle = Double.pi * time / period
            let place = time / Double(half)
            let window = bessel(windowShape * (1 - place * place).squareRoot())
            taps[index] = (time == 0 ? 1 : sin(angle) / angle) * window
            sum += taps[index]
        }
        for index in taps.indices { taps[index] /= sum }
        return taps
    }

    /// The modified Bessel function of the first kind, of order 0.
    private static func bessel(_ value: Double) -> Double {
        var sum = 1.0
        var term = 1.0
        for number in 1..<64 {
            let factor = value / 2 / Double(number)
            term *= factor * factor
            sum += term
        }
        return sum
    }

    /// Makes frames of one channel.
    ///
    /// Unchecked: there are `step * (count - 1) + byteCount` bytes, and `target` has room for the frames.
    /// - Parameters:
    ///   - bytes: the first one of the first frame.
    ///   - stride: from one frame to the next in `target`.
    @_optimize(speed) @inline(never)
    func decimate(
        _ bytes: UnsafePointer<UInt8>, count: Int, into target: UnsafeMutablePointer<Int32>, stride: Int
    ) {
        var frame = 0
        while frame < count {
            let window = bytes + frame &* Self.step
            // Rounds to the nearest.
            var sum: Int32 = 1 &<< (Self.shift &- 1)
            var place = 0
            while place < Self.byteCount {
                sum = sum &+ tables[place &<< 8 &+ Int(window[place])]
                place &+= 1
            }
            let value = sum &>> Self.shift
            target[frame &* stride] = (value < -8_388_608 ? -8_388_608 : value > 8_388_607 ? 8_388_607 : value) &<< 8
            frame &+= 1
        }
    }
}
