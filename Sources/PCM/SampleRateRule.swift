/// At which rate a device plays audio (docs/playback.md, 8).
///
///     let rule = SampleRateRule()
///     rule.deviceRate(for: 96_000, of: [44_100, 48_000])      // 48000
public struct SampleRateRule: Equatable, Sendable {
    /// The quality of conversions; nil when the rate is not converted.
    public var quality: RateQuality?
    /// The rate in Hz to which all audio is converted, for a device with other users; nil for the rate of the audio.
    public var fixed: Int?
    /// The highest rate to use, in Hz. Higher rates of the device are used only if it has no lower one. nil: no limit.
    public var highest: Int?

    public init(quality: RateQuality? = .veryHigh, fixed: Int? = nil, highest: Int? = nil) {
        (self.quality, self.fixed, self.highest) = (quality, fixed, highest)
    }

    /// The rate of the audio where the device has it; else the highest one of its family, else the next one above,
    /// else the highest one. Rates of one family have the same base: 11,025 Hz, or 1,000 Hz.
    /// - Parameters:
    ///   - source: the rate of the audio, in Hz.
    ///   - rates: the rates of the device, in Hz, ascending; empty when they are not known.
    public func deviceRate(for source: Int, of rates: [Int]) -> Int {
        guard quality != nil else { return source }
        if let fixed { return fixed }
        var usable = rates
        if let highest {
            let lower = rates.filter { $0 <= highest }
            if !lower.isEmpty { usable = lower }
            if rates.isEmpty, source > highest { usable = Self.family(of: source).filter { $0 <= highest } }
        }
        guard !usable.isEmpty, !usable.contains(source) else { return source }
        let related = usable.last { Self.isOfCD($0) == Self.isOfCD(source) }
        return related ?? usable.first { $0 > source } ?? usable[usable.count - 1]
    }

    private static func isOfCD(_ rate: Int) -> Bool { rate % 11_025 == 0 }

    /// The usual rates, for a device whose rates are not known.
    private static func family(of rate: Int) -> [Int] {
        isOfCD(rate) ? [44_100, 88_200, 176_400, 352_800] : [48_000, 96_000, 192_000, 384_000]
    }
}
