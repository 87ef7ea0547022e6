import Output
import PCM

/// The rates at which the device plays: those of the open device, or those that it named when it refused one.
///
/// A value. A device that names one rate alone may be held at it by another program, so other rates are tried, until it
/// refuses them.
struct DeviceRates: Equatable, Sendable {
    let rule: SampleRateRule
    /// The rates that the device named last, in Hz; empty before.
    private var named: [Int] = []
    /// The rates that it has refused.
    private var refused: [Int] = []

    init(rule: SampleRateRule = SampleRateRule()) { self.rule = rule }

    /// Notes that the device does not have a rate.
    /// - Parameter supported: the usual rates that it has now, in Hz.
    /// - Returns: whether audio of the refused rate can be converted to one that it has.
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
    }

    /// Forgets the rates of a lost device: another one may come.
    mutating func lost() { (named, refused) = ([], []) }

    /// The rate at which audio is played, in Hz.
    func rate(for source: Int) -> Int {
        // No device lists an unusual rate.
        let isUncertain = named.count < 2 || !DeviceCapabilities.usualRates.contains(source)
        let isTried = isUncertain && !refused.contains(source)
        return rule.deviceRate(for: source, of: isTried ? [] : named)
    }
}
