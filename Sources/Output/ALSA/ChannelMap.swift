import CALSA
import CLinux
import PCM

/// The channel map of a device that was set up (docs/decisions/channel-maps.md).
enum ChannelMap {
    /// Sets the order of FLAC if the device allows that, and returns the resulting order.
    /// - Returns: nil for the order of FLAC, for one and two channels, and when the device does not report an order.
    static func settled(of handle: borrowing PCMHandle, channelCount: Int) -> ChannelLayout? {
        guard (3...ChannelLayout.largest).contains(channelCount) else { return nil }
        let usual = ChannelLayout(channelCount)
        setOrder(of: handle, to: usual, channelCount)
        guard let map = snd_pcm_get_chmap(handle.raw) else { return nil }
        defer { free(map) }
        // A plug-in may return the map of its target device, with another channel count.
        guard map.pointee.channels == UInt32(channelCount) else { return nil }
        let layout = ChannelLayout(codes: codes(map))
        return layout == usual ? nil : layout
    }

    /// Does nothing when no map can be changed, or none has all positions of `usual`.
    private static func setOrder(of handle: borrowing PCMHandle, to usual: ChannelLayout, _ channelCount: Int) {
        guard let maps = snd_pcm_query_chmaps(handle.raw) else { return }
        defer { snd_pcm_free_chmaps(maps) }
        var next = maps
        while let entry = next.pointee {
            next += 1
            let map = tonearm_alsa_map(entry)
            guard entry.pointee.type.rawValue != SND_CHMAP_TYPE_FIXED.rawValue, let map,
                map.pointee.channels == UInt32(channelCount)
            else { continue }
            // The map uses the device's own codes of the positions: the number of channels, then a code for each.
            let codes = codes(map)
            guard let layout = ChannelLayout(codes: codes) else { continue }
            var ordered = [UInt32(channelCount)]
            usual.forEach { _, position in
                if let channel = layout.channel(at: position) { ordered.append(codes[channel]) }
            }
            guard ordered.count == channelCount + 1 else { continue }
            ordered.withUnsafeBytes { bytes in
                // The result is ignored, because the map is read from the device afterwards.
                if let start = bytes.bindMemory(to: snd_pcm_chmap_t.self).baseAddress {
                    _ = snd_pcm_set_chmap(handle.raw, start)
                }
            }
            return
        }
    }

    /// ALSA's number of each channel's position.
    private static func codes(_ map: UnsafePointer<snd_pcm_chmap_t>) -> [UInt32] {
        (0..<min(map.pointee.channels, UInt32(DeviceCapabilities.mostChannels))).map { tonearm_alsa_position(map, $0) }
    }
}

extension ChannelLayout {
    /// - Parameter codes: ALSA's number of each channel's position (`SND_CHMAP_…`).
    /// - Returns: nil when a position is unknown, and as `init(order:)`.
    init?(codes: [UInt32]) {
        // CEA-861: if there is a "rear left center", "rear left" means the side.
        let hasRearCenters = codes.contains { $0 & UInt32(SND_CHMAP_POSITION_MASK) == SND_CHMAP_RLC.rawValue }
        var order: [ChannelPosition?] = []
        for code in codes {
            guard code & UInt32(SND_CHMAP_DRIVER_SPEC) == 0 else { return nil }
            switch code & UInt32(SND_CHMAP_POSITION_MASK) {
            case SND_CHMAP_UNKNOWN.rawValue, SND_CHMAP_MONO.rawValue: return nil
            case SND_CHMAP_FL.rawValue: order.append(.left)
            case SND_CHMAP_FR.rawValue: order.append(.right)
            case SND_CHMAP_FC.rawValue: order.append(.center)
            case SND_CHMAP_LFE.rawValue: order.append(.lowFrequency)
            case SND_CHMAP_RL.rawValue: order.append(hasRearCenters ? .sideLeft : .backLeft)
            case SND_CHMAP_RR.rawValue: order.append(hasRearCenters ? .sideRight : .backRight)
            case SND_CHMAP_RLC.rawValue: order.append(.backLeft)
            case SND_CHMAP_RRC.rawValue: order.append(.backRight)
            case SND_CHMAP_RC.rawValue: order.append(.backCenter)
            case SND_CHMAP_SL.rawValue: order.append(.sideLeft)
            case SND_CHMAP_SR.rawValue: order.append(.sideRight)
            default: order.append(nil)
            }
        }
        self.init(order: order)
    }
}
