/// Loudness normalization by reduced gain (docs/playback.md, 9.1):
/// `0.8 · min(10^((gain + preAmp) / 20), 1 / peak)`.
public enum Loudness {
    /// The volume with normalization, which leaves room for tracks that must become louder.
    public static let baseVolume = 0.8

    /// The factor for the samples of one product.
    ///
    /// Exactly 1 with normalization off, and when a value that `mode` needs is missing or not possible: a gain that is
    /// not finite, a peak that is not a positive finite number. Otherwise greater than or equal to 0 and not clamped at
    /// 1: the peak term keeps the loudest sample at 0.8 of full scale or below. `Gain` clamps it to its own range.
    ///
    /// - Parameters:
    ///   - preAmp: the pre-amplification in dB, added to the gain.
    ///   - untaggedGain: the gain in dB, the whole gain of a product that has neither a track gain nor an album gain.
    public static func factor(
        mode: LoudnessNormalizationMode, preAmp: Int, replayGain: ReplayGain, untaggedGain: Int = 0
    ) -> Double {
        if mode != .off, replayGain.trackGain == nil, replayGain.albumGain == nil {
            return Decibels.factor(Double(untaggedGain))
        }
        let gain: Double?
        let peak: Double?
        switch mode {
        case .off: return 1
        case .track: (gain, peak) = (replayGain.trackGain, replayGain.trackPeak)
        case .album: (gain, peak) = (replayGain.albumGain, replayGain.albumPeak)
        }
        guard let gain, let peak, gain.isFinite, peak.isFinite, peak > 0 else { return 1 }
        return baseVolume * min(Decibels.factor(gain + Double(preAmp)), 1 / peak)
    }
}
