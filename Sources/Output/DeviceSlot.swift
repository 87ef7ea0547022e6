import CALSA
import CLinux
import PCM

/// The place of the device: with one that is open, or empty.
///
/// Thread: the audio thread.
struct DeviceSlot {
    private let provider: any DeviceProvider
    private let settings: RendererSettings
    private(set) var sink: SampleSink?

    init(provider: any DeviceProvider, settings: RendererSettings) {
        self.provider = provider
        self.settings = settings
    }

    /// Whether the device that is open can play `format`.
    func takes(_ format: PCMFormat) -> Bool { sink?.takes(format) ?? false }

    /// Opens the device for `format`, after closing the one that is open.
    mutating func open(for format: PCMFormat) throws(DeviceError) -> SampleSink {
        close()
        let opened = SampleSink(try provider.open(settings.request(for: format)), ditherSeed: settings.ditherSeed)
        sink = opened
        return opened
    }

    /// Brings the device back, prepared and without frames, or closes it when it is gone.
    mutating func recover(from fault: DeviceFault) {
        if let device = sink?.device, !device.recover(from: fault) { close() }
    }

    mutating func close() {
        sink?.device.close()
        sink = nil
    }
}

extension DeviceError {
    /// An open device that fails again and again although it says each time that it is ready.
    init(repeated fault: DeviceFault, of device: String) {
        switch fault {
        case .vanished:
            self = .absent(device: device, present: DeviceName.present(configuration: .available))
        case .underrun:
            self = .refused(device: device, code: -EPIPE, reason: "stops as soon as it is started")
        case .suspended:
            self = .refused(device: device, code: -ESTRPIPE, reason: "does not wake up")
        case .failed(let code):
            self = .refused(device: device, code: code, reason: ALSAFailure(code: code).reason)
        }
    }
}
