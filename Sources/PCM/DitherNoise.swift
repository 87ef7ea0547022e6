/// Triangular (TPDF) noise for dither: per sample the sum of two independent uniform values, ±1 LSB, mean 0, variance
/// 1/6 LSB². Every channel has its own generators.
///
/// The generator is Marsaglia's xorshift64 with the shifts 13, 7 and 17 ("Xorshift RNGs", Journal of Statistical
/// Software 8/14, 2003), period 2⁶⁴ − 1. A channel has four of them and takes 32 bits for each sample in turn, so its
/// noise repeats after 8 · (2⁶⁴ − 1) samples; at 192 kHz that is 24 million years. SplitMix64 makes the seeds, which
/// are positions in one orbit. In stereo, the chance that any two generators meet within a year of playing is below
/// 10⁻⁵. Every processor shifts neighbouring 64-bit words, and takes their exclusive or, at once.
struct DitherNoise: ~Copyable {
    /// Resolution of a value: 1 LSB is 2¹⁶.
    static let fractionBits: Int64 = 16
    /// The value to subtract from a noise value. The caller does it, because unsigned values widen without cost.
    static let mean: UInt32 = 0xffff

    private static let generatorsPerChannel = 4
    /// Frames that are generated at once.
    private static let blockFrames = 256

    private let channelCount: Int
    /// Generators of all channels, interleaved like samples.
    private let state: UnsafeMutablePointer<UInt64>
    private let block: UnsafeMutablePointer<UInt32>
    /// The next frame of the block.
    private var position = DitherNoise.blockFrames

    init(channelCount: Int, seed: UInt64) {
        self.channelCount = channelCount
        let generatorCount = channelCount * Self.generatorsPerChannel
        state = .allocate(capacity: generatorCount)
        block = .allocate(capacity: channelCount * Self.blockFrames)
        block.initialize(repeating: 0, count: channelCount * Self.blockFrames)
        var seeds = SplitMix64(state: seed)
        for index in 0..<generatorCount {
            // Zero is the one state that xorshift never leaves.
            (state + index).initialize(to: max(seeds.next(), 1))
        }
    }

    deinit {
        state.deallocate()
        block.deallocate()
    }

    /// The noise of the next frames, interleaved, in LSB · 2¹⁶ and `mean` too high: at most `frames`, at least one of
    /// them. Valid until the next call.
    @inline(__always)
    mutating func take(_ frames: Int) -> (samples: UnsafePointer<UInt32>, frames: Int) {
        if position == Self.blockFrames {
            refill()
            position = 0
        }
        let count = min(frames, Self.blockFrames - position)
        defer { position += count }
        return (UnsafePointer(block + position * channelCount), count)
    }

    /// Four generators at a time stay in registers while they make their part of the whole block.
    @inline(never)
    @_optimize(speed)
    private func refill() {
        let width = channelCount * Self.generatorsPerChannel
        let end = block + channelCount * Self.blockFrames
        var first = 0
        while first < width {
            let generators = UnsafeMutableRawPointer(state + first)
            var x = generators.loadUnaligned(as: SIMD4<UInt64>.self)
            var row = block + first
            while row < end {
                x ^= x &<< 13
                x ^= x &>> 7
                x ^= x &<< 17
                Self.store(Self.triangular(SIMD4(truncatingIfNeeded: x)), at: row)
                Self.store(Self.triangular(SIMD4(truncatingIfNeeded: x &>> 32)), at: row + width)
                row += 2 * width
            }
            generators.storeBytes(of: x, as: SIMD4<UInt64>.self)
            first += Self.generatorsPerChannel
        }
    }

    @inline(__always)
    private static func store(_ values: SIMD4<UInt32>, at target: UnsafeMutablePointer<UInt32>) {
        UnsafeMutableRawPointer(target).storeBytes(of: values, as: SIMD4<UInt32>.self)
    }

    /// Each the sum of two uniform values of 16 bits.
    @inline(__always)
    private static func triangular(_ bits: SIMD4<UInt32>) -> SIMD4<UInt32> {
        (bits & 0xffff) &+ (bits &>> 16)
    }
}

/// Steele, Lea and Flood's generator: turns any seed, however poor, into well-mixed ones.
private struct SplitMix64 {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z &>> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z &>> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z &>> 31)
    }
}
