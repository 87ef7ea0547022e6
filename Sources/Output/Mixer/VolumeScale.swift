import CLinux
import PCM

/// How a volume maps to a card's mixer. `Volume` has the one curve from percent to decibels; this type rounds and
/// limits, and computes the remaining factor for the samples (docs/decisions/one-volume-curve.md). Arithmetic only.
public struct VolumeScale: Equatable, Sendable {
    /// The unit of a number on the scale.
    public enum Unit: Equatable, Sendable {
        /// Hundredths of a decibel.
        case decibels
        /// Steps of a control without a decibel scale. They count as even steps of amplitude: on a card with steeper
        /// steps the music is quieter than it should be, never louder.
        case steps
    }

    /// The distance of a setting below the volume that counts as too coarse, in hundredths of a decibel. Then the next
    /// louder setting is used, and the samples are scaled down by the difference.
    private static let coarseness = 600

    public let unit: Unit
    /// The settings that are used, in `unit`. Not above 0 dB, if the card has settings below it.
    public let range: ClosedRange<Int>

    /// - Parameter range: the range of the card, in hundredths of a decibel.
    public init(decibels range: ClosedRange<Int>) {
        unit = .decibels
        let lowest = min(range.lowerBound, 0)
        self.range = lowest...max(min(range.upperBound, 0), lowest)
    }

    /// - Parameter range: the card's steps.
    public init(steps range: ClosedRange<Int>) {
        unit = .steps
        self.range = range
    }

    /// The setting to request from the card. In decibels it is not louder than `volume`, as far as the range allows. In
    /// steps it is the first one that is not softer.
    public func setting(for volume: Volume) -> Int {
        guard volume > .muted else { return range.lowerBound }
        switch unit {
        case .decibels:
            return min(max(Self.hundredths(of: volume), range.lowerBound), range.upperBound)
        case .steps:
            let step = (volume.factor * stepCount).rounded(.up)
            // Computes in doubles, because the difference of two settings may be too large for an integer.
            return Int(exactly: Double(range.lowerBound) + min(step, stepCount)) ?? range.upperBound
        }
    }

    /// Whether `setting`, which the card offers for `volume`, is so far below it that the next louder one is better.
    func isTooSoft(_ setting: Int, for volume: Volume) -> Bool {
        guard unit == .decibels, volume > .muted else { return false }
        return setting < self.setting(for: volume) - Self.coarseness
    }

    /// The factor for the samples while the card is at `setting`, so that the result is not louder than `volume`. 1
    /// when the card needs no help, 0 for silence.
    func softwareFactor(for volume: Volume, at setting: Int) -> Double {
        guard volume > .muted else { return 0 }
        switch unit {
        case .decibels:
            // Ignores a smaller difference, because the card rounds to hundredths.
            guard setting > Self.hundredths(of: volume) else { return 1 }
            return volume.factor / factor(at: setting)
        case .steps:
            let card = factor(at: setting)
            return card > volume.factor ? volume.factor / card : 1
        }
    }

    /// The card's linear factor at `setting`.
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

    /// The volume in hundredths of a decibel, rounded down. Not defined for silence.
    private static func hundredths(of volume: Volume) -> Int { Int((volume.decibels * 100).rounded(.down)) }
}

/// How a volume is divided between a card and the samples.
public struct AppliedVolume: Equatable, Sendable {
    /// The factor for the samples, 0 to 1.
    public let softwareFactor: Double
    /// The linear factor of card and samples together. It is not above the factor of the volume.
    public let factor: Double

    public init(softwareFactor: Double, factor: Double) {
        self.softwareFactor = softwareFactor
        self.factor = factor
    }
}
