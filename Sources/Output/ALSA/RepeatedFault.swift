import CALSA
import CLinux

extension DeviceError {
    /// An open device that cannot continue, or that fails again and again although it reports each time that it is
    /// ready.
    init(_ fault: DeviceFault, of device: String) {
        switch fault {
        case .vanished:
            self = .absent(device: device, present: DeviceName.present(configuration: .available))
        case .underrun:
            self = .refused(device: device, code: -EPIPE, reason: "stops as soon as it is started")
        case .suspended:
            self = .refused(device: device, code: -ESTRPIPE, reason: "does not wake up")
        case .failed(let code), .spoiled(let code):
            self = .refused(device: device, code: code, reason: ALSAFailure(code: code).reason)
        }
    }
}
