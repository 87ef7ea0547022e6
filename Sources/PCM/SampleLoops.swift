/// The innermost loops of the sample path. Wrapping operators on raw pointers: in this form they vectorise, which
/// `tools/check-vectorisation` verifies. The shipped build is optimised for size, hence `@_optimize(speed)`.
///
/// Everywhere a sample is `(x · gain + noise + half) >> shift` in 64 bits, saturated: one rounding, ties towards +∞.
enum SampleLoops<Target: DeviceSample> {
    /// Narrows without a gain: what fits the target's bits comes out exactly.
    @_optimize(speed)
    static func narrow(_ source: UnsafePointer<Int32>, count: Int, to target: UnsafeMutableRawPointer) {
        let half = (Int64(1) &<< Target.droppedBits) &>> 1
        for index in 0..<count {
            Target.store((Int64(source[index]) &+ half) &>> Target.droppedBits, at: index, in: target)
        }
    }

    @_optimize(speed)
    static func scale(_ source: UnsafePointer<Int32>, count: Int, by gain: Gain, to target: UnsafeMutableRawPointer) {
        let factor = Int64(gain.rawValue)
        let shift = Gain.fractionBits &+ Target.droppedBits
        let half = Int64(1) &<< (shift &- 1)
        for index in 0..<count {
            Target.store((Int64(source[index]) &* factor &+ half) &>> shift, at: index, in: target)
        }
    }

    /// Like `scale`, with one value of `DitherNoise` a sample.
    @_optimize(speed)
    static func scale(
        _ source: UnsafePointer<Int32>, count: Int, by gain: Gain, dither noise: UnsafePointer<Int32>,
        to target: UnsafeMutableRawPointer
    ) {
        let factor = Int64(gain.rawValue)
        let shift = Gain.fractionBits &+ Target.droppedBits
        let half = Int64(1) &<< (shift &- 1)
        let noiseUnit = Int64(1) &<< (shift &- DitherNoise.fractionBits)
        for index in 0..<count {
            let product = Int64(source[index]) &* factor &+ Int64(noise[index]) &* noiseUnit
            Target.store((product &+ half) &>> shift, at: index, in: target)
        }
    }
}
