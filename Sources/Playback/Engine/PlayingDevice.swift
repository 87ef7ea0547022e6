import Output
import PCM
import Platform

/// The device that plays a product, as far as it is known: The decoder thread selects representations, converts rates
/// and sends DSD according to it.
///
/// Thread: any. Control writes it, and the decoder thread reads it.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
package final class PlayingDevice: @unchecked Sendable {
    private let lock = Lock()
    private var configuration: DeviceConfiguration?
    private var rates = DeviceRates()

    package init() {}

    // MARK: From control

    /// Sets the configuration with which the device was last opened; nil while it is unknown.
    func set(_ configuration: DeviceConfiguration?) { lock.withLock { self.configuration = configuration } }

    /// Sets the rates at which the device plays, as far as they are known.
    func set(_ rates: DeviceRates) { lock.withLock { self.rates = rates } }

    // MARK: From the decoder thread

    /// Returns the rate at which the device plays audio whose rate is `rate`, in Hz.
    func rate(for rate: Int) -> Int { lock.withLock { rates.rate(for: rate) } }

    /// Returns whether words of DSD of this format are sent to the device.
    func takes(dsd format: PCMFormat) -> Bool { lock.withLock { rates.takes(dsd: format) } }

    /// The quality of rate conversion.
    var rateQuality: RateQuality { lock.withLock { rates.rule.quality } ?? .veryHigh }

    /// Returns whether the device may play audio of this rate, in Hz. True while no device is known.
    package func mayPlay(rate: Int) -> Bool { lock.withLock { configuration?.mayPlay(rate: rate) ?? true } }
}
