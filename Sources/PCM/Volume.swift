/// The user's volume in percent, and its level in decibels:
///
///     0 %          −∞ dB, true digital zero
///     1 … 100 %    −60 · (100 − percent) / 99 dB, so −60 dB at 1 % and exactly 0 dB at 100 %
///
/// The same curve serves the fixed-point gain and hardware mixers that know decibels.
public struct Volume: Equatable, Comparable, Sendable, BitwiseCopyable {
    /// 0 to 100.
    public let percent: Int

    /// The silent volume.
    public static let muted = Volume(percent: 0)
    /// Unity: samples stay unchanged.
    public static let full = Volume(percent: 100)
    /// The volume while none is known: −30 dB, which is safe for amplifiers and ears.
    public static let first = Volume(decibels: -30)
    /// The level of 1 %, in dB.
    public static let floorDecibels = -60.0

    /// Clamped to 0 … 100.
    public init(percent: Int) {
        self.percent = min(max(percent, 0), 100)
    }

    /// The percentage nearest to a level. 0 dB and above is 100; anything below the floor is 1 unless it is silence; −∞
    /// (and NaN) is 0.
    public init(decibels: Double) {
        guard decibels > -Double.infinity else {
            self = .muted
            return
        }
        let clamped = min(max(decibels, Volume.floorDecibels), 0)
        percent = 100 - Int((clamped / Volume.floorDecibels * 99).rounded())
    }

    /// The level relative to full; −∞ when muted.
    public var decibels: Double {
        percent == 0 ? -.infinity : Volume.floorDecibels * Double(100 - percent) / 99
    }

    /// The linear factor, 0 to 1; exactly 0 at 0 % and exactly 1 at 100 %.
    public var factor: Double { Decibels.factor(decibels) }

    /// This volume, or `maximum` when that is lower.
    public func limited(to maximum: Volume) -> Volume { min(self, maximum) }

    public static func < (left: Volume, right: Volume) -> Bool { left.percent < right.percent }
}
