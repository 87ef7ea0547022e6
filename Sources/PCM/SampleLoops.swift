/// The innermost loops of the sample path, one set for each layout of a sample in memory.
///
/// Wrapping operators on raw pointers become vector code, which `tools/check-vectorisation` verifies. The shipped
/// program is optimised for size, which would leave the loops scalar; therefore they have `@_optimize(speed)`.
enum SampleLoops<Target: DeviceSample> {
    /// Samples without a gain whose dropped bits are zero. Others are rounded to nearest (ties towards +∞) and
    /// saturated.
    @inline(never)
    @_optimize(speed)
    static func narrow(_ source: UnsafePointer<Int32>, count: Int, to target: UnsafeMutableRawPointer) {
        let half = (Int32(1) &<< Target.droppedBits) &>> 1
        for index in 0..<count {
            // Only rounding up can leave the range.
            let sample = (min(source[index], Int32.max &- half) &+ half) &>> Target.droppedBits
            Target.store(sample, at: index, in: target)
        }
    }

    /// `(sample · gain + noise + half) >> shift` in 64 bits, saturated, for formats of 24 bits and fewer.
    /// - Parameter noise: `count` values of `DitherNoise`.
    @inline(never)
    @_optimize(speed)
    static func scale(
        _ source: UnsafePointer<Int32>, count: Int, by gain: Gain, dither noise: UnsafePointer<UInt32>,
        to target: UnsafeMutableRawPointer
    ) {
        let shift = Gain.fractionBits &+ Int64(Target.droppedBits)
        let noiseShift = shift &- DitherNoise.fractionBits
        let half = Int64(1) &<< (shift &- 1)
        let product = GainProduct(gain, plus: half &- (Int64(DitherNoise.mean) &<< noiseShift))
        for index in 0..<count {
            let sum = product.of(source[index]) &+ (Int64(noise[index]) &<< noiseShift)
            // The whole result is in the upper half, and a vector has twice as many 32-bit lanes.
            let upper = Int32(truncatingIfNeeded: sum &>> 32)
            let sample = upper &>> Int32(truncatingIfNeeded: shift &- 32)
            Target.store(min(max(sample, ~Target.highest), Target.highest), at: index, in: target)
        }
    }
}

/// `(sample · gain + half) >> 28` in 64 bits, saturated, for 32 bits. A separate function: the compiler makes a copy of
/// a static one without the metatype, which would not be optimised for speed.
@inline(never)
@_optimize(speed)
func scaleToS32(
    _ source: UnsafePointer<Int32>, count: Int, by gain: Gain, to target: UnsafeMutablePointer<Int32>
) {
    let product = GainProduct(gain, plus: 1 &<< (Gain.fractionBits &- 1))
    for index in 0..<count {
        target[index] = saturate(product.of(source[index]))
    }
}

/// The product without its fraction, in the range of 32 bits.
@inline(__always)
private func saturate(_ product: Int64) -> Int32 {
    #if arch(x86_64)
        // SSE2 neither compares nor arithmetically shifts 64-bit lanes. The same in halves: the product fits when all
        // bits above the result equal its sign. It is three times as fast.
        let upper = Int32(truncatingIfNeeded: product &>> 32)
        let sign = upper &>> 31
        let fits = upper &>> Int32(truncatingIfNeeded: Gain.fractionBits &- 1) == sign
        return fits ? Int32(truncatingIfNeeded: product &>> Gain.fractionBits) : sign ^ Int32.max
    #else
        return Int32(clamping: product &>> Gain.fractionBits)
    #endif
}

/// `sample · gain + constant` in 64 bits; cannot overflow, as the product takes 62 of them.
private struct GainProduct {
    private let factor: UInt64
    private let offset: Int64

    @inline(__always)
    init(_ gain: Gain, plus constant: Int64) {
        factor = UInt64(gain.rawValue.magnitude)
        offset = constant &- Int64(gain.rawValue) &<< 31
    }

    /// The sample is made unsigned by adding 2³¹, and `offset` subtracts 2³¹ · gain again: SSE2 has only the unsigned
    /// multiplication, for NEON it makes no difference.
    @inline(__always)
    func of(_ sample: Int32) -> Int64 {
        Int64(bitPattern: UInt64(UInt32(bitPattern: sample) ^ 0x8000_0000) &* factor) &+ offset
    }
}
