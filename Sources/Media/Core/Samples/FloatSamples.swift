import CVectors

/// Samples in floating point, as decoders of lossy audio give them and as files have them: full scale is from -1 to 1.
enum FloatSamples {
    /// The sample in 24 bits, rounded to the nearest and left-justified. Beyond full scale it is clipped; anything that
    /// is not a number is silence.
    @inline(__always)
    static func leftJustified(_ sample: Float) -> Int32 {
        let scaled = Double(sample) * 8_388_608
        let number = scaled == scaled ? scaled : 0
        let clipped = number < -8_388_608 ? -8_388_608 : number > 8_388_607 ? 8_388_607 : number
        // The sum has no bits left for a fraction, so the processor rounds it; its lowest bits are the number.
        return Int32(truncatingIfNeeded: (clipped + 6_755_399_441_055_744).bitPattern) << 8
    }

    /// Converts samples that lie next to each other, as `leftJustified` does.
    /// - Parameter step: the distance between two samples in `target`.
    @inline(never)
    static func leftJustify(
        _ source: UnsafePointer<Float>, count: Int, to target: UnsafeMutablePointer<Int32>, every step: Int = 1
    ) {
        #if DEBUG
            // Without optimisation vectors take a hundred times as long as single samples.
            var index = 0
        #else
            var index = justifyVectors(source, count: count, to: target, every: step)
        #endif
        while index < count {
            target[index &* step] = leftJustified(source[index])
            index &+= 1
        }
    }

    /// Converts the first samples, four at a time. The loop is vector code, which `tools/check-vectorisation` verifies.
    /// - Returns: the number of converted samples.
    @inline(__always)
    static func justifyVectors(
        _ source: UnsafePointer<Float>, count: Int, to target: UnsafeMutablePointer<Int32>, every step: Int
    ) -> Int {
        var index = 0
        while index <= count &- 4 {
            let samples = UnsafeRawPointer(source + index).loadUnaligned(as: SIMD4<Float>.self)
            let justified = tonearm_in_24_bits(samples) &<< 8
            let place = target + index &* step
            if step == 1 {
                UnsafeMutableRawPointer(place).storeBytes(of: justified, as: SIMD4<Int32>.self)
            } else {
                place[0] = justified[0]
                place[step] = justified[1]
                place[2 &* step] = justified[2]
                place[3 &* step] = justified[3]
            }
            index &+= 4
        }
        return index
    }

    /// The sample in 32 bits, rounded to the nearest; a tie goes to the even number. A sample beyond full scale is
    /// clipped. An infinite sample, or one that is not a number, becomes silence.
    @inline(__always)
    static func in32Bits(_ sample: Double) -> Int32 {
        let scaled = sample - sample == 0 ? sample * 2_147_483_648 : 0
        let clipped = scaled < -2_147_483_648 ? -2_147_483_648 : scaled > 2_147_483_647 ? 2_147_483_647 : scaled
        // The lowest bits are the number, as in `leftJustified`.
        return Int32(truncatingIfNeeded: (clipped + 6_755_399_441_055_744).bitPattern)
    }
}
