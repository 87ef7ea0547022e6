/// Random delays, which keep machines from answering at the same moment (SplitMix64).
struct Jitter: Sendable {
    private var state: UInt64

    /// - Parameter seed: differs from machine to machine.
    init(seed: UInt64) { state = seed }

    /// A number of nanoseconds between two numbers of milliseconds.
    mutating func milliseconds(_ range: ClosedRange<Int64>) -> Int64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        let width = UInt64(range.upperBound - range.lowerBound) * 1_000_000
        return range.lowerBound * 1_000_000 + Int64(truncatingIfNeeded: mixed % (width + 1))
    }
}
