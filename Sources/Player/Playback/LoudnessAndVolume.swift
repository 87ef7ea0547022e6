import Output
import PCM
import Platform

/// A card's own volume. `HardwareMixer` is one.
protocol HardwareVolume: AnyObject {
    func setVolume(percent: Int) throws(DeviceError)
}

extension HardwareMixer: HardwareVolume {}

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

    /// Opens the mixer again: at start, and when the device was opened, which may be another card that was plugged in.
    func deviceChanged() {
        do throws(DeviceError) {
            mixer = try openMixer()
        } catch {
            mixer = nil
            Log.info("no volume in hardware: \(error)")
        }
        applyVolume()
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
