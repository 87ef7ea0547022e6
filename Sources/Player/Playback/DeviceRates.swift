import Output
import PCM

/// At which rates the device plays: those of the open device, or those that it named when it refused one.
///
/// A value. A device that names one rate alone may be held at it by another program, so other rates are tried, until it
/// refuses them.
struct DeviceRates: Equatable, Sendable {
    let rule: SampleRateRule
    /// What the device named last, in Hz; empty before.
    private var named: [Int] = []
    /// Rates that it has refused.
    private var refused: [Int] = []

    init(rule: SampleRateRule = SampleRateRule()) { self.rule = rule }

    /// The device does not have a rate.
    /// - Parameter supported: the usual rates that it has now, in Hz.
    /// - Returns: whether audio of the refused rate can be converted to one that it has.
    mutating func refuse(_ rate: Int, supported: [Int]) -> Bool {
        named = supported
        if !refused.contains(rate) { refused.append(rate) }
        let other = rule.deviceRate(for: rate, of: supported)
        return other != rate && (supported.contains(other) || supported.isEmpty)
    }

    /// The device was opened.
    mutating func opened(_ device: DeviceConfiguration) {
        named = device.rates
        refused.removeAll { device.rates.contains($0) }
    }

    /// The device is gone: another one may come.
    mutating func lost() { (named, refused) = ([], []) }

    /// The rate at which audio is played, in Hz.
    func rate(for source: Int) -> Int {
        // An unusual rate is in no list.
        let isUncertain = named.count < 2 || !DeviceCapabilities.usualRates.contains(source)
        let isTried = isUncertain && !refused.contains(source)
        return rule.deviceRate(for: source, of: isTried ? [] : named)
    }
}
