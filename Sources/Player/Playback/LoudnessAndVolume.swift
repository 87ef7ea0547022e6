import Output
import PCM
import Platform

/// A card's own volume. `HardwareMixer` is one.
protocol HardwareVolume: AnyObject {
    func setVolume(percent: Int) throws(DeviceError)
    /// What the card is set to, on the scale of `setVolume`.
    func percent() throws(DeviceError) -> Int
}

extension HardwareMixer: HardwareVolume {
    func percent() throws(DeviceError) -> Int { scale.percent(decibels: try decibels()) }
}

/// How loud products are: loudness normalization as a factor on the samples, the user's volume in the card's mixer
/// where that has one in decibels, else on the samples too.
///
/// Thread: control alone.
final class LoudnessAndVolume {
    private let configuration: PlaybackEngineConfig
    private let openMixer: () throws(DeviceError) -> (any HardwareVolume)?
    private var mixer: (any HardwareVolume)?

    /// - Parameter openMixer: nil from it means that the volume is software.
    init(configuration: PlaybackEngineConfig, openMixer: @escaping () throws(DeviceError) -> (any HardwareVolume)?) {
        self.configuration = configuration
        self.openMixer = openMixer
    }

    /// Sets the mixer anew: at start, and when the device was opened, which may be another card that was plugged in.
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

    /// As long as no volume is known, what the card has is taken over: somebody set it. A card at its loudest is as the
    /// driver left it, and that is not safe in front of an amplifier.
    private func adoptVolume() throws(DeviceError) {
        guard let mixer, !configuration.values.isVolumeKnown else { return }
        let percent = try mixer.percent()
        if percent < 100 { configuration.adopt(Volume(percent: percent)) }
    }

    /// A card that is back begins with a volume of its own, often its loudest, and plays before `deviceChanged` can set
    /// it. So the volume is software until then.
    func deviceLost() { mixer = nil }

    /// Brings the mixer, if there is one, to the configured volume.
    func applyVolume() {
        do throws(DeviceError) {
            try mixer?.setVolume(percent: configuration.values.volume.percent)
        } catch {
            mixer = nil
            Log.warning("volume in hardware: \(error)")
        }
    }

    /// The factor on a product's samples. Rounded once: loudness and volume are multiplied before.
    func gain(for replayGain: ReplayGain) -> Gain {
        let values = configuration.values
        if values.isMuted { return .muted }
        let loudness = Loudness.factor(
            mode: values.loudnessNormalizationMode, preAmp: values.loudnessNormalizationPreAmp, replayGain: replayGain)
        return Gain(factor: mixer == nil ? loudness * values.volume.factor : loudness)
    }
}
