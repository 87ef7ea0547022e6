import Output
import PCM
import Platform

/// A card's own volume. `HardwareMixer` is one.
protocol HardwareVolume: AnyObject {
    /// What the card is set to.
    func volume() throws(DeviceError) -> Volume
    /// - Returns: what is left for the samples.
    func setVolume(percent: Int) throws(DeviceError) -> AppliedVolume
}

extension HardwareMixer: HardwareVolume {}

/// How loud products are: loudness normalization as a factor on the samples, the user's volume in the card's mixer
/// where it has one, else on the samples too. Both follow the same curve, and changing from one to the other never
/// makes the music louder (docs/decisions/one-volume-curve.md).
///
/// Thread: control alone.
final class LoudnessAndVolume {
    private let configuration: PlaybackEngineConfig
    private let openMixer: () throws(DeviceError) -> (any HardwareVolume)?
    private var mixer: (any HardwareVolume)?
    /// What the mixer made of which volume, the last time.
    private var applied: (volume: Volume, result: AppliedVolume)?

    /// - Parameter openMixer: nil from it means that the volume is software.
    init(configuration: PlaybackEngineConfig, openMixer: @escaping () throws(DeviceError) -> (any HardwareVolume)?) {
        self.configuration = configuration
        self.openMixer = openMixer
    }

    /// Sets the mixer again: at start, and when the device was opened, which may be another card that was plugged in.
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

    /// As long as no volume is known, the card's is taken over: somebody set it. A card at its loudest or silent is as
    /// the driver left it: the one is not safe in front of an amplifier, the other looks like a defect.
    private func adoptVolume() throws(DeviceError) {
        guard let mixer, !configuration.values.isVolumeKnown else { return }
        let volume = try mixer.volume()
        if volume > .muted, volume < .full { configuration.adopt(volume) }
    }

    /// A card that is back begins with a volume of its own, often its loudest, and plays before `deviceChanged` can set
    /// it. So the volume is software until then.
    func deviceLost() { mixer = nil }

    /// Brings the mixer, if there is one, to the configured volume.
    func applyVolume() {
        guard let mixer else { return }
        let volume = configuration.values.volume
        do throws(DeviceError) {
            applied = (volume, try mixer.setVolume(percent: volume.percent))
        } catch {
            self.mixer = nil
            Log.warning("volume in hardware: \(error)")
        }
    }

    /// The factor on a product's samples. Rounded once: loudness and volume are multiplied before.
    func gain(for replayGain: ReplayGain) -> Gain {
        let values = configuration.values
        if values.isMuted { return .muted }
        let loudness = Loudness.factor(
            mode: values.loudnessNormalizationMode, preAmp: values.loudnessNormalizationPreAmp, replayGain: replayGain)
        return Gain(factor: loudness * softwareFactor(for: values.volume))
    }

    private func softwareFactor(for volume: Volume) -> Double {
        guard let applied else { return volume.factor }
        if mixer != nil { return applied.result.softwareFactor }
        // Without the mixer the samples are as loud as they were with it, which its steps may have rounded down.
        return applied.volume == volume ? applied.result.factor : volume.factor
    }
}
