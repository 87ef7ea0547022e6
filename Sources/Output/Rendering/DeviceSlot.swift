import PCM

/// The slot of the device: an open one, or none.
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

    /// Whether the open device can play `format`.
    func takes(_ format: PCMFormat) -> Bool { sink?.takes(format) ?? false }

    /// Opens the device for `format`, after closing an open one.
    mutating func open(for format: PCMFormat) throws(DeviceError) -> SampleSink {
        let settle = sink == nil ? settings.settleAtStart : settings.settleAtRateChange
        close()
        let device = try provider.open(settings.request(for: format))
        let opened = SampleSink(device, settings: settings, isDSD: format.isDSD, settleMilliseconds: settle)
        sink = opened
        return opened
    }

    /// Recovers the device, prepared and without frames, or closes it when it is gone.
    mutating func recover(from fault: DeviceFault) {
        if let sink, !sink.recover(from: fault) { close() }
    }

    mutating func close() {
        sink?.device.close()
        sink = nil
    }
}
