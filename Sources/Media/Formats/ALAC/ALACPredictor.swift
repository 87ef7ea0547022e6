/// The adaptive linear predictor of ALAC. It replaces residuals by samples, in wrapping 32-bit arithmetic.
enum ALACPredictor {
    /// The order that stands for a simple difference from the sample before.
    static let difference = 31

    /// - Parameters:
    ///   - samples: residuals, then samples.
    ///   - coefficients: that of the newest sample first; they are changed.
    ///   - order: how many, 0 to 31.
    ///   - shift: bits of a coefficient's fraction.
    ///   - width: bits of a sample.
    ///
    /// Unchecked: the memory is there.
    @_optimize(speed) @inline(never)
    static func run(
        _ samples: UnsafeMutablePointer<Int32>, count: Int, _ coefficients: UnsafeMutablePointer<Int32>, order: Int,
        shift: Int32, width: Int
    ) {
        guard order > 0 else { return }
        let unused = Int32(truncatingIfNeeded: 32 &- width)
        // The first samples are predicted by the one before.
        let first = order == difference ? count : min(count, order &+ 1)
        var index = 1
        while index < first {
            samples[index] = ((samples[index] &+ samples[index &- 1]) &<< unused) &>> unused
            index &+= 1
        }
        guard index < count else { return }
        // One loop for each common order, so that the inner ones are unrolled.
        switch order {
        case 4: adapt(samples, first, count, coefficients, 4, shift, unused)
        case 5: adapt(samples, first, count, coefficients, 5, shift, unused)
        case 6: adapt(samples, first, count, coefficients, 6, shift, unused)
        case 8: adapt(samples, first, count, coefficients, 8, shift, unused)
        default: adapt(samples, first, count, coefficients, order, shift, unused)
        }
    }

    @inline(__always)
    private static func adapt(
        _ samples: UnsafeMutablePointer<Int32>, _ first: Int, _ count: Int,
        _ coefficients: UnsafeMutablePointer<Int32>, _ order: Int, _ shift: Int32, _ unused: Int32
    ) {
        let half: Int32 = shift > 0 ? 1 &<< (shift &- 1) : 0
        var index = first
        while index < count {
            let newest = samples + (index &- 1)
            let base = samples[index &- order &- 1]
            var sum = half
            var number = 0
            while number < order {
                sum = sum &+ coefficients[number] &* (newest[0 &- number] &- base)
                number &+= 1
            }
            let residual = samples[index]
            samples[index] = ((residual &+ base &+ sum &>> shift) &<< unused) &>> unused
            if residual != 0 {
                learn(newest, base, residual, coefficients, order, shift)
            }
            index &+= 1
        }
    }

    /// Adapts the coefficients, beginning with that of the oldest sample, until the residual is used up.
    @inline(__always)
    private static func learn(
        _ newest: UnsafeMutablePointer<Int32>, _ base: Int32, _ residual: Int32,
        _ coefficients: UnsafeMutablePointer<Int32>, _ order: Int, _ shift: Int32
    ) {
        // All bits of a negative residual's sign: quotients of negative numbers are rounded away from zero.
        let sign = residual &>> 31
        let rounding = UInt32(bitPattern: sign) & (1 &<< UInt32(bitPattern: shift) &- 1)
        var rest = (residual ^ sign) &- sign
        var number = order
        while number > 0 {
            number &-= 1
            let distance = base &- newest[0 &- number]
            let direction = distance.signum()
            // Coefficients have 16 bits.
            let moved = coefficients[number] &- ((direction ^ sign) &- sign)
            coefficients[number] = Int32(Int16(truncatingIfNeeded: moved))
            let size = (distance.magnitude &+ rounding) &>> UInt32(bitPattern: shift)
            rest = rest &- Int32(truncatingIfNeeded: order &- number) &* Int32(bitPattern: size)
            if rest <= 0 { return }
        }
    }
}
