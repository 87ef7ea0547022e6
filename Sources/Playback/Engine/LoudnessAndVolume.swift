import Output
import PCM
import Platform

/// A card's own volume. `HardwareMixer` is one.
package protocol HardwareVolume: AnyObject {
    /// The card's current setting.
    func volume() throws(DeviceError) -> Volume
    /// Returns the value of `volume` after `setVolume(percent:)`. Changes nothing.
    func reading(afterSetting percent: Int) throws(DeviceError) -> Volume
    /// - Returns: the remaining factor for the samples.
    func setVolume(percent: Int) throws(DeviceError) -> AppliedVolume
}

extension HardwareMixer: HardwareVolume {}

/// The gain of products: loudness normalization is a factor on the samples. The user's volume is set in the card's
/// mixer if it has one, else it is a factor on the samples too. Both follow the same curve, and a change between them
/// never makes the music louder (docs/decisions/one-volume-curve.md).
///
/// Thread: only control.
package final class LoudnessAndVolume {
    let configuration: PlaybackEngineConfig
    private let openMixer: () throws(DeviceError) -> (any HardwareVolume)?
    private var mixer: (any HardwareVolume)?
    /// The last volume, and how the mixer applied it.
    private var applied: (volume: Volume, result: AppliedVolume)?

    /// - Parameter openMixer: returns nil when the volume has to be set in software.
    package init(
        configuration: PlaybackEngineConfig, openMixer: @escaping () throws(DeviceError) -> (any HardwareVolume)?
    ) {
        self.configuration = configuration
        self.openMixer = openMixer
    }

    /// Sets the mixer again: at the start, and when a device was opened, which may be a card that was just plugged in.
    func deviceChanged() {
        do throws(DeviceError) {
            mixer = try openMixer()
            try adoptVolume()
        } catch {
            mixer = nil
            Log.info("no volume in hardware: \(error)")
        }
        applyVolume()
    }

    /// Uses the card's volume while no volume is known, if the user has set the card's volume
    /// (docs/decisions/first-volume.md). A card at its loudest or silent has the driver's default, which is not used:
    /// the loudest is not safe with an amplifier, and silence looks like a defect.
    private func adoptVolume() throws(DeviceError) {
        let values = configuration.values
        guard let mixer, !values.isVolumeKnown else { return }
        let volume = try mixer.volume()
        // A card's loudest may be below 0 dB.
        guard volume > .muted, volume < (try mixer.reading(afterSetting: Volume.full.percent)) else { return }
        // The player itself set both volumes, in this process or an earlier one. They differ if the first volume or the
        // maximum was changed in between.
        guard volume != (try mixer.reading(afterSetting: values.volume.percent)) else { return }
        if let own = values.unaskedVolume, volume == (try mixer.reading(afterSetting: own.percent)) { return }
        configuration.adopt(volume)
    }

    /// Scales the samples until `deviceChanged` sets the mixer again. A card that was plugged in again has its own
    /// volume, often its loudest. It may play before the mixer is set.
    func deviceLost() { mixer = nil }

    /// Sets the mixer, if there is one, to the configured volume.
    func applyVolume() {
        guard let mixer else { return }
        let values = configuration.values
        let volume = values.volume
        do throws(DeviceError) {
            applied = (volume, try mixer.setVolume(percent: volume.percent))
            if !values.isVolumeKnown { configuration.remember(unasked: volume) }
        } catch {
            self.mixer = nil
            Log.warning("volume in hardware: \(error)")
        }
    }

    /// Returns the factor on a product's samples. Loudness and volume are multiplied first, so that the product is
    /// rounded once.
    func gain(for loudness: ProductLoudness) -> Gain {
        let values = configuration.values
        if values.isMuted { return .muted }
        return Gain(factor: loudnessFactor(for: loudness) * softwareFactor(for: values.volume))
    }

    /// Returns the parts of the gain.
    func scaling(for loudness: ProductLoudness) -> SampleScaling {
        let values = configuration.values
        return SampleScaling(
            isNormalized: loudnessFactor(for: loudness) != 1, isVolumeScaled: softwareFactor(for: values.volume) != 1,
            isMuted: values.isMuted, isSilent: gain(for: loudness) == .muted)
    }

    private func loudnessFactor(for loudness: ProductLoudness) -> Double {
        let values = configuration.values
        return Loudness.factor(
            mode: values.loudnessNormalizationMode, preAmp: values.loudnessNormalizationPreAmp,
            replayGain: loudness.replayGain, untaggedGain: loudness.isLocal ? values.untaggedGain : 0)
    }

    private func softwareFactor(for volume: Volume) -> Double {
        guard let applied else { return volume.factor }
        if mixer != nil { return applied.result.softwareFactor }
        // Without the mixer, scales the samples to the loudness that they had with it. The steps of the mixer may have
        // rounded the volume down.
        return applied.volume == volume ? applied.result.factor : volume.factor
    }
}
