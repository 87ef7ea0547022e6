import CLinux

/// Levels on the logarithmic scale.
enum Decibels {
    /// The linear factor of a level: 1 for 0 dB, 0 for −∞. Within one unit in the last place of a `Double`.
    static func factor(_ decibels: Double) -> Double { pow(10, decibels / 20) }
}

extension Gain {
    /// The nearest gain to a level: 0 dB is exactly `unity`, −∞ mutes; clamped like `init(factor:)`.
    public init(decibels: Double) {
        self.init(factor: Decibels.factor(decibels))
    }
}
