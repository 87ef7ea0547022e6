/// A linear gain of the sample path: unsigned Q4.28 in an `Int32`, from true silence to just under 8 (+18.06 dB). One
/// step is 2⁻²⁸, so a gain of −60 dB is off by at most 1.6·10⁻⁵ dB.
public struct Gain: Equatable, Sendable, BitwiseCopyable {
    /// The factor times 2²⁸, 0 to `Int32.max`.
    public let rawValue: Int32

    /// Bits after the binary point.
    static let fractionBits: Int64 = 28

    /// The gain that leaves samples unchanged.
    public static let unity = Gain(rawValue: 1 << 28)
    /// The gain that gives digital zero.
    public static let muted = Gain(rawValue: 0)
    /// The loudest gain, one step under 8.
    public static let maximum = Gain(rawValue: .max)

    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The nearest gain to `factor`, clamped to `muted ... maximum`. NaN mutes, because silence is the only wrong level
    /// that does no harm.
    public init(factor: Double) {
        let scaled = (factor * Double(Gain.unity.rawValue)).rounded()
        if scaled >= Double(Int32.max) {
            self = .maximum
        } else if scaled > 0 {
            rawValue = Int32(scaled)
        } else {
            self = .muted
        }
    }

    /// The linear factor, exact.
    public var factor: Double { Double(rawValue) / Double(Gain.unity.rawValue) }
}
