import Output
import PCM

/// At which rates the device plays: those of the open device, or those that it named when it refused one.
struct DeviceRates: Equatable, Sendable {
    var rule = SampleRateRule()
    /// What the device named last; empty before.
    private(set) var named: [Int] = []
    /// Rates that it has refused, although nothing else says that it lacks them.
    private(set) var refused: [Int] = []

    init(rule: SampleRateRule = SampleRateRule()) { self.rule = rule }

    /// The device does not have a rate.
    /// - Parameter supported: the usual rates that it has.
    /// - Returns: whether audio of the refused rate can be converted to one that it has.
    mutating func refuse(_ rate: Int, supported: [Int]) -> Bool {
        named = supported
        if !refused.contains(rate) { refused.append(rate) }
        let other = rule.deviceRate(for: rate, of: supported)
        return other != rate && (supported.contains(other) || supported.isEmpty)
    }

    /// - Parameters:
    ///   - source: of the audio, in Hz.
    ///   - device: as it was opened last; nil before.
    func rate(for source: Int, on device: DeviceConfiguration?) -> Int {
        // An unusual rate is not in any list: the device itself says whether it has it.
        let isUnusual = !DeviceCapabilities.usualRates.contains(source) && !refused.contains(source)
        if isUnusual, rule.fixed == nil { return source }
        let rates = device.map { $0.rates } ?? named
        return rule.deviceRate(for: source, of: rates.isEmpty ? named : rates)
    }
}
