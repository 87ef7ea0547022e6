import CLinux
import PCM

/// How a card's mixer carries out a volume. `Volume` has the one curve from percent to decibels; this rounds and
/// clamps, and says what is left for the samples (docs/decisions/one-volume-curve.md). Arithmetic only.
public struct VolumeScale: Equatable, Sendable {
    /// What a number on the scale means.
    public enum Unit: Equatable, Sendable {
        /// Hundredths of a decibel.
        case decibels
        /// Steps of a control without a decibel scale. They are taken for even steps of amplitude: on a card whose
        /// steps are anything steeper the music is quieter than meant, never louder.
        case steps
    }

    /// A setting this far below the volume in hundredths of a decibel is too coarse: the next louder one is taken, and
    /// the samples carry the rest.
    private static let coarseness = 600

    public let unit: Unit
    /// The settings that are used, in `unit`. Never above 0 dB, as far as the card goes below it.
    public let range: ClosedRange<Int>

    /// - Parameter range: what the card can do, in hundredths of a decibel.
    public init(decibels range: ClosedRange<Int>) {
        unit = .decibels
        let lowest = min(range.lowerBound, 0)
        self.range = lowest...max(min(range.upperBound, 0), lowest)
    }

    /// - Parameter range: the card's own steps.
    public init(steps range: ClosedRange<Int>) {
        unit = .steps
        self.range = range
    }

    /// What to ask the card for: not louder than `volume` in decibels, as far as the range allows, and the first step
    /// that is not softer than it in steps.
    public func setting(for volume: Volume) -> Int {
        guard volume > .muted else { return range.lowerBound }
        switch unit {
        case .decibels:
            return min(max(Self.hundredths(of: volume), range.lowerBound), range.upperBound)
        case .steps:
            let step = (volume.factor * stepCount).rounded(.up)
            // As a double: the difference of two settings may be too large for an integer.
            return Int(exactly: Double(range.lowerBound) + min(step, stepCount)) ?? range.upperBound
        }
    }

    /// Whether `setting`, which the card offers for `volume`, is so far below it that the next louder one serves
    /// better.
    func isTooSoft(_ setting: Int, for volume: Volume) -> Bool {
        guard unit == .decibels, volume > .muted else { return false }
        return setting < self.setting(for: volume) - Self.coarseness
    }

    /// What the samples have to be multiplied with while the card is at `setting`, so that it is not louder than
    /// `volume` says: 1 where the card does it alone, 0 for silence.
    func softwareFactor(for volume: Volume, at setting: Int) -> Double {
        guard volume > .muted else { return 0 }
        switch unit {
        case .decibels:
            // Within the hundredth to which the card's numbers are rounded, nothing is left to do.
            guard setting > Self.hundredths(of: volume) else { return 1 }
            return volume.factor / factor(at: setting)
        case .steps:
            let card = factor(at: setting)
            return card > volume.factor ? volume.factor / card : 1
        }
    }

    /// What the card does to the samples at `setting`, as a linear factor.
    func factor(at setting: Int) -> Double {
        switch unit {
        case .decibels: pow(10, Double(setting) / 2000)
        case .steps: stepCount > 0 ? Double(setting - range.lowerBound) / stepCount : 1
        }
    }

    /// The loudest volume that is not louder than `setting`.
    public func volume(at setting: Int) -> Volume {
        let hundredths = unit == .decibels ? Double(setting) : 2000 * log10(factor(at: setting))
        guard hundredths > -100_000 else { return .muted }
        let limit = Int(hundredths.rounded(.down))
        let nearest = Volume(decibels: hundredths / 100)
        return Self.hundredths(of: nearest) <= limit ? nearest : Volume(percent: nearest.percent - 1)
    }

    private var stepCount: Double { Double(range.upperBound) - Double(range.lowerBound) }

    /// Rounded down; not for silence.
    private static func hundredths(of volume: Volume) -> Int { Int((volume.decibels * 100).rounded(.down)) }
}

/// How a volume was divided between a card and the samples.
public struct AppliedVolume: Equatable, Sendable {
    /// What the samples have to be multiplied with, 0 to 1.
    public let softwareFactor: Double
    /// What comes out of card and samples together, as a linear factor. At most what the volume says.
    public let factor: Double

    public init(softwareFactor: Double, factor: Double) {
        self.softwareFactor = softwareFactor
        self.factor = factor
    }
}
