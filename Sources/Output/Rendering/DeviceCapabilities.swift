import PCM

/// The capabilities of a device itself, without resampling, mixing or conversion.
public struct DeviceCapabilities: Equatable, Sendable {
    /// The usual rates that the device has, in Hz, ascending.
    public var rates: [Int]
    /// Every channel count that the device has, ascending, up to `mostChannels`.
    public var channels: [Int]
    /// The formats that Tonearm supports, in the order of preference.
    public var sampleFormats: [SampleFormat]

    /// The usual rates of audio, in Hz.
    public static let usualRates = [
        8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000, 176_400,
        192_000, 352_800, 384_000, 705_600, 768_000,
    ]

    /// Larger channel counts are not tested: some plug-ins accept 10,000.
    public static let mostChannels = 32

    public init(rates: [Int], channels: [Int], sampleFormats: [SampleFormat]) {
        self.rates = rates
        self.channels = channels
        self.sampleFormats = sampleFormats
    }

    /// Whether anything at all can be played.
    var canPlay: Bool { !sampleFormats.isEmpty && !rates.isEmpty && !channels.isEmpty }

    /// Whether the device takes only subframes, like the HDMI outputs of a Raspberry Pi.
    var hasOnlySubframes: Bool { sampleFormats.first == .iec958Subframe }
}
