import Output
import PCM
import Platform

/// The device that plays, as far as decoders and gains depend on it: its configuration, its rates and its volume.
///
/// Thread: only control.
final class ConductedDevice {
    private let volume: LoudnessAndVolume
    private let published: PublishedPlayback
    /// The device's name as it was chosen, which may be `auto`.
    private var name: String
    /// The device that was opened last. A product that is opened while no device is open is decoded for this one.
    private(set) var last: DeviceConfiguration?
    private(set) var rates: DeviceRates
    let reopening = ReopeningListener()

    init(_ volume: LoudnessAndVolume, _ settings: RendererSettings, _ published: PublishedPlayback) {
        self.volume = volume
        self.published = published
        name = settings.device
        rates = DeviceRates(rule: settings.sampleRates, sendsDSD: settings.sendsDSD)
    }

    /// Sets the card's volume to the configured one, before anything is heard.
    func start() { volume.deviceChanged() }

    /// Applies a changed volume.
    func applyVolume() { volume.applyVolume() }

    func opened(_ configuration: DeviceConfiguration) {
        published.show(configuration)
        last = configuration
        rates.opened(configuration)
        volume.deviceChanged()
        if name.utf8.elementsEqual(DeviceName.automatic.utf8) {
            volume.configuration.remember(automatic: configuration.device)
        }
    }

    func lost(_ error: DeviceError) {
        Log.warning("\(error) It is retried every second.")
        published.show(nil, problem: error.description)
        rates.lost()
        volume.deviceLost()
    }

    /// Notes that another device was chosen, which is not open yet.
    /// - Returns: false when this device is already in use.
    func use(_ name: String) -> Bool {
        guard !name.utf8.elementsEqual(self.name.utf8) else { return false }
        self.name = name
        published.show(nil)
        rates.lost()
        volume.deviceLost()
        return true
    }

    /// Notes that the device could not be opened for a stream.
    /// - Returns: whether the product can be decoded in another way that the device may play.
    func refuses(_ format: PCMFormat, because error: DeviceError) -> Bool { rates.refuse(format, because: error) }

    func gain(for loudness: ProductLoudness) -> Gain { volume.gain(for: loudness) }

    func scaling(for loudness: ProductLoudness) -> SampleScaling { volume.scaling(for: loudness) }

    /// How the open device plays audio of this format; nil without adaptation, and when the device would have to be
    /// reopened.
    func adaptation(of format: PCMFormat) -> ChannelAdaptation? { published.value.device?.adaptation(of: format) }
}
