import PCM

extension DeviceError: CustomStringConvertible {
    /// The problem and the remedy, for a person.
    public var description: String {
        switch self {
        case .absent(DeviceName.automatic, _):
            return "There is no sound card here."
        case .absent(let device, let present):
            let cards =
                present.isEmpty ? "There is no sound card here." : "Cards here: \(present.joined(separator: ", "))."
            return "\(device): no such device. \(cards) List them with `tonearm devices`."
        case .busy(let device):
            return "\(device): in use by another program. Stop that, or choose another device."
        case .noPermission(let device):
            return "\(device): not permitted. Add the user to group `audio` and log in again."
        case .rateNotSupported(let device, let rate, let supported):
            let rates =
                supported.isEmpty ? "none of the usual rates" : supported.map { "\($0)" }.joined(separator: ", ")
            return "\(device): cannot run at \(rate) Hz. It can do: \(rates)."
        case .channelsNotSupported(let device, let channels, let supported):
            let counts = DeviceCapabilities.text(ofChannels: supported)
            let wanted = channels == 1 ? "1 channel" : "\(channels) channels"
            return "\(device): cannot play \(wanted). It can do: \(counts)."
        case .sampleFormatNotSupported(let device, let requested):
            let what =
                requested.map { "\($0.name)" } ?? "any of S32_LE, S24_LE, S24_3LE, S16_LE, IEC958_SUBFRAME_LE"
            return "\(device): does not take \(what)."
        case .refused(let device, let code, let reason):
            return "\(device): \(reason) (\(code))."
        }
    }
}

extension DeviceCapabilities {
    /// Channel counts for a person: "2", "1 to 8", "2, 6 to 8".
    public static func text(ofChannels counts: [Int]) -> String {
        var parts: [ClosedRange<Int>] = []
        for count in counts {
            if let last = parts.last, last.upperBound + 1 == count {
                parts[parts.count - 1] = last.lowerBound...count
            } else {
                parts.append(count...count)
            }
        }
        let texts = parts.map { part in
            switch part.upperBound - part.lowerBound {
            case 0: "\(part.lowerBound)"
            case 1: "\(part.lowerBound), \(part.upperBound)"
            default: "\(part.lowerBound) to \(part.upperBound)"
            }
        }
        return texts.isEmpty ? "none" : texts.joined(separator: ", ")
    }
}
