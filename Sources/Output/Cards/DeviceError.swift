import CALSA
import CLinux
import PCM

/// The reason why a device could not be opened, with the data that a person needs to act on it.
public enum DeviceError: Error, Equatable, Sendable {
    /// No such card or PCM. `present` lists the names of the cards of this machine (`hw:CARD=…`).
    case absent(device: String, present: [String])
    /// Another program uses the device.
    case busy(device: String)
    /// The user may not open the device (usually: is not in group `audio`).
    case noPermission(device: String)
    /// The device cannot run at this rate; `supported` lists the usual rates that it has, in Hz.
    case rateNotSupported(device: String, rate: Int, supported: [Int])
    /// The device does not have this channel count; `supported` lists its counts, ascending.
    case channelsNotSupported(device: String, channels: Int, supported: [Int])
    /// None of the formats of `SampleFormat`, or not the requested one.
    case sampleFormatNotSupported(device: String, requested: SampleFormat?)
    /// Any other failure; `code` is alsa-lib's negated errno, `reason` its text.
    case refused(device: String, code: Int32, reason: String)
}

extension DeviceError {
    /// Whether the same request fails again the next time. Such an error belongs to the product. Any other error means
    /// a device that is missing for a while: opening it is retried.
    public var isPermanent: Bool {
        switch self {
        case .absent, .busy, .noPermission: false
        case .rateNotSupported, .channelsNotSupported, .sampleFormatNotSupported: true
        case .refused(_, let code, _):
            switch -code {
            case EINVAL, ENOTSUP, ENOSYS, EISDIR, ENAMETOOLONG, ENOMEM: true
            default: false
            }
        }
    }
}
