import Output
import PCM
import TestSupport

@testable import Playback

/// A card's mixer that records the volumes that it is set to.
final class Mixer: HardwareVolume, Sendable {
    let percents = Recorder<Int>()
    private let fails: Bool

    private let initial: Volume
    /// The factor for the samples. The card halves them itself.
    private let softwareFactor: Double

    init(fails: Bool = false, initial: Int = 100, softwareFactor: Double = 1) {
        self.fails = fails
        self.initial = Volume(percent: initial)
        self.softwareFactor = softwareFactor
    }

    func volume() throws(DeviceError) -> Volume { percents.elements.last.map { Volume(percent: $0) } ?? initial }

    func reading(afterSetting percent: Int) throws(DeviceError) -> Volume { Volume(percent: percent) }

    func setVolume(percent: Int) throws(DeviceError) -> AppliedVolume {
        if fails { throw .absent(device: "mixer", present: []) }
        percents.record(percent)
        return percent == 0
            ? AppliedVolume(softwareFactor: 0, factor: 0)
            : AppliedVolume(softwareFactor: softwareFactor, factor: softwareFactor * 0.5)
    }
}
