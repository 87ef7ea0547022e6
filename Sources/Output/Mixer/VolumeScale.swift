import CLinux

/// What a volume in percent means on a card's own scale.
///
/// 100 % is 0 dB, or the loudest the card has below that: the hardware never amplifies. From there down the amplitude
/// falls with the third power of the percentage, which is heard as an even fall (50 % is 18 dB down), until the card's
/// range ends.
public struct VolumeScale: Equatable, Sendable {
    /// In hundredths of a decibel.
    public let range: ClosedRange<Int>

    /// - Parameter range: what the card can do, in hundredths of a decibel.
    public init(range: ClosedRange<Int>) {
        self.range = min(range.lowerBound, 0)...max(min(range.upperBound, 0), min(range.lowerBound, 0))
    }

    /// - Parameter percent: 0 to 100; anything else is taken as the nearer of the two.
    /// - Returns: hundredths of a decibel, inside the range. 0 % is its lowest; mute beside it where the card can.
    public func decibels(percent: Int) -> Int {
        guard percent > 0 else { return range.lowerBound }
        guard percent < 100 else { return range.upperBound }
        let attenuation = (6000 * log10(Double(percent) / 100)).rounded()
        return max(range.lowerBound, range.upperBound + Int(attenuation))
    }

    /// The percentage that is nearest to a volume in hundredths of a decibel.
    public func percent(decibels: Int) -> Int {
        if decibels <= range.lowerBound { return 0 }
        if decibels >= range.upperBound { return 100 }
        return Int((100 * pow(10, Double(decibels - range.upperBound) / 6000)).rounded())
    }
}
