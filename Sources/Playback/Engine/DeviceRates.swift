import Output
import PCM

/// The rates at which the device plays: those of the open device, or those that it named when it refused one. Also
/// decides whether the device gets DSD over PCM.
///
/// Another program may hold a device at one rate. The device then names only this rate, so other rates are tried until
/// it refuses them.
struct DeviceRates: Equatable, Sendable {
    let rule: SampleRateRule
    /// Whether DSD may be sent as DSD over PCM.
    let sendsDSD: Bool
    /// The rates that the device named last, in Hz; empty before the first time.
    private var named: [Int] = []
    /// The rates that the device has refused.
    private var refused: [Int] = []
    /// The channel counts for which the device accepts DSD over PCM; nil before a device is known.
    private var countsOfDSD: ChannelCounts?
    /// The formats of DSD that the device has refused.
    private var refusedDSD: [PCMFormat] = []

    init(rule: SampleRateRule = SampleRateRule(), sendsDSD: Bool = false) {
        (self.rule, self.sendsDSD) = (rule, sendsDSD)
    }

    /// Notes that the device could not be opened for a stream.
    /// - Returns: whether the product can be decoded in another way that the device may play.
    mutating func refuse(_ format: PCMFormat, because error: DeviceError) -> Bool {
        if case .rateNotSupported(_, let rate, let supported) = error {
            let isConvertible = refuse(rate, supported: supported)
            guard format.isDSD else { return isConvertible }
        }
        switch error {
        case .rateNotSupported, .channelsNotSupported, .sampleFormatNotSupported:
            guard format.isDSD else { return false }
            refusedDSD.append(format)
            return true
        case .absent, .busy, .noPermission, .refused:
            return false
        }
    }

    /// Notes that the device does not support a rate.
    /// - Parameter supported: the usual rates that it supports now, in Hz.
    /// - Returns: whether audio of the refused rate can be converted to a supported one.
    mutating func refuse(_ rate: Int, supported: [Int]) -> Bool {
        named = supported
        if !refused.contains(rate) { refused.append(rate) }
        let other = rule.deviceRate(for: rate, of: supported)
        return other != rate && (supported.contains(other) || supported.isEmpty)
    }

    /// Takes the rates of an opened device.
    mutating func opened(_ device: DeviceConfiguration) {
        named = device.rates
        refused.removeAll { device.rates.contains($0) }
        countsOfDSD = device.carriesDSD ? device.channels : ChannelCounts([])
    }

    /// Forgets a lost device: another device may replace it.
    mutating func lost() { self = DeviceRates(rule: rule, sendsDSD: sendsDSD) }

    /// Whether words of DSD of this format are sent as DSD over PCM. Otherwise the DSD is decoded to PCM.
    func takes(dsd format: PCMFormat) -> Bool {
        let (source, count) = (format.sampleRate, format.channelCount)
        guard sendsDSD, !refusedDSD.contains(format), countsOfDSD?.contains(count) ?? true,
            DeviceCapabilities.usualRates.contains(source), !refused.contains(source)
        else { return false }
        return rate(for: source) == source && (named.count < 2 || named.contains(source))
    }

    /// The rate at which audio is played, in Hz.
    func rate(for source: Int) -> Int {
        // No device lists an unusual rate.
        let isUncertain = named.count < 2 || !DeviceCapabilities.usualRates.contains(source)
        let isTried = isUncertain && !refused.contains(source)
        return rule.deviceRate(for: source, of: isTried ? [] : named)
    }
}
