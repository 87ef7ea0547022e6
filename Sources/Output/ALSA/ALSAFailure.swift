import CALSA
import CLinux

/// A call of alsa-lib that answered with a negated errno.
struct ALSAFailure: Error, Equatable {
    let code: Int32

    /// alsa-lib's text for `code`: "Device or resource busy".
    var reason: String { String(cString: snd_strerror(code)) }

    /// - Throws: when `code` is negative.
    static func check(_ code: Int32) throws(ALSAFailure) {
        if code < 0 { throw ALSAFailure(code: code) }
    }
}

extension DeviceError {
    /// Why `snd_pcm_open` or `snd_ctl_open` failed.
    ///
    /// alsa-lib looks up a card by its id through the control nodes of all cards, and skips those that may not be
    /// opened. A missing permission can therefore look like a missing card.
    init(opening device: String, failure: ALSAFailure, configuration: ALSAConfiguration) {
        self.init(
            opening: device, failure: failure, present: { DeviceName.present(configuration: configuration) },
            areForbidden: { ControlNodes.areForbidden })
    }

    /// - Parameters:
    ///   - present: the cards that may be opened.
    ///   - areForbidden: whether there are cards that may not.
    init(opening device: String, failure: ALSAFailure, present: () -> [String], areForbidden: () -> Bool) {
        switch -failure.code {
        case EBUSY, EAGAIN:
            self = .busy(device: device)
        case EACCES, EPERM:
            self = .noPermission(device: device)
        case ENOENT, ENODEV, ENXIO:
            let present = present()
            self =
                present.isEmpty && areForbidden()
                ? .noPermission(device: device) : .absent(device: device, present: present)
        case EINVAL:
            let reason = "ALSA does not understand this name or its arguments"
            self = .refused(device: device, code: failure.code, reason: reason)
        default:
            self = .refused(device: device, code: failure.code, reason: failure.reason)
        }
    }

    /// Why an open device did not accept a request.
    init(using device: String, failure: ALSAFailure) {
        self = .refused(device: device, code: failure.code, reason: failure.reason)
    }
}

/// The kernel's control nodes, one for each card.
enum ControlNodes {
    /// Whether there are cards that this process may not open: the user is not in the group, or a device policy forbids
    /// it, which only an attempt to open them shows.
    static var areForbidden: Bool {
        (0..<32).contains { card in
            let descriptor = tonearm_open("/dev/snd/controlC\(card)", O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)
            if descriptor >= 0 { close(descriptor) }
            return descriptor < 0 && (tonearm_errno() == EACCES || tonearm_errno() == EPERM)
        }
    }
}
