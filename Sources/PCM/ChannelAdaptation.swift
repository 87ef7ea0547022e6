/// How audio is adapted to a device with another number of channels, or with another order of channels
/// (docs/decisions/channel-adaptation.md).
public struct ChannelAdaptation: Equatable, Sendable, BitwiseCopyable {
    public enum Kind: String, Equatable, Sendable, BitwiseCopyable {
        /// Mono on the left and the right channel, bit for bit. Other channels are silent.
        case copied
        /// Each channel of the device plays one channel of the audio, bit for bit, or is silent.
        case placed
        /// Mixed by the coefficients of ITU-R BS.775, scaled so that nothing can clip.
        case mixed
    }

    public let kind: Kind
    /// Channels of the audio, 1 to 8.
    public let sourceChannelCount: Int
    /// Channels of the device.
    public let deviceChannelCount: Int
    /// `.straight` for mono, which has no sides.
    public let routing: ChannelRouting
    /// Where the channels of the device are, when that is not the order of FLAC.
    public let layout: ChannelLayout?

    /// - Parameter layout: the layout of the device; nil for the order of FLAC.
    /// - Returns: nil when every channel is played as it is, and when the audio has no channels or more than 8.
    public init?(
        from source: Int, to device: Int, routing: ChannelRouting = .straight, layout: ChannelLayout? = nil
    ) {
        let routing = source == 1 ? .straight : routing
        let layout = layout == ChannelLayout(device) ? nil : layout
        guard source != device || routing != .straight || layout != nil,
            (1...ChannelLayout.largest).contains(source), device >= 1
        else { return nil }
        self.routing = routing
        self.layout = layout
        sourceChannelCount = source
        deviceChannelCount = device
        if source == 1 {
            kind = .copied
        } else {
            kind = ChannelMatrix(from: source, to: device, routing, layout: layout).isExact ? .placed : .mixed
        }
    }

    /// The channel count with which a device plays `source` channels: the same count, or the next one above, which
    /// loses nothing, or the next one below.
    /// - Returns: nil for a device without channels.
    public static func deviceChannelCount(for source: Int, of device: ChannelCounts) -> Int? {
        device.contains(source) ? source : device.next(above: source) ?? device.next(below: source)
    }
}

extension ChannelAdaptation: CustomStringConvertible {
    /// For a person: "mono on both channels", "6 channels mixed down to 2", "left and right swapped", "6 channels in
    /// the device's order".
    public var description: String {
        guard let phrase = routing.phrase else { return counts }
        return sourceChannelCount == deviceChannelCount && layout == nil ? phrase : "\(counts), \(phrase)"
    }

    /// The text for a person when only the order of the channels differs.
    public static func inDeviceOrder(_ count: Int) -> String { "\(count) channels in the device's order" }

    private var counts: String {
        switch kind {
        case .copied where deviceChannelCount == 2: "mono on both channels"
        case .copied: "mono on the front channels of \(deviceChannelCount)"
        case _ where sourceChannelCount == deviceChannelCount: Self.inDeviceOrder(sourceChannelCount)
        case .placed: "\(sourceChannelCount) channels on \(deviceChannelCount)"
        case .mixed where sourceChannelCount < deviceChannelCount:
            "\(sourceChannelCount) channels on \(deviceChannelCount)"
        case .mixed: "\(sourceChannelCount) channels mixed down to \(deviceChannelCount)"
        }
    }
}
