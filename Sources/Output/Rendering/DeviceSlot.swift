import PCM
import Platform

/// The open device, if there is one, and its end after a fade-out.
///
/// Thread: the audio thread.
struct DeviceSlot {
    private let provider: any DeviceProvider
    private var settings: RendererSettings
    /// The device that replaces the one of `settings` at the next opening. It is not freed before that, because a
    /// device is open.
    private var chosen: Unmanaged<DeviceNameBox>?
    private(set) var sink: SampleSink?
    /// Whether control is asked before the device is reopened.
    private var asksBeforeReopening = false
    /// The current fade-out, which is still heard. No frames are written during it.
    private var fadeOut: FadeOut?
    /// Whether the device is closed after the fade-out.
    private(set) var closesAfterFade = false

    init(provider: any DeviceProvider, settings: RendererSettings) {
        self.provider = provider
        self.settings = settings
    }

    /// Whether the open device can play `format`, and no other one was chosen.
    func takes(_ format: PCMFormat) -> Bool { chosen == nil && sink?.takes(format) ?? false }

    /// Opens this device from now on. An open device is closed at the next opening.
    mutating func use(_ device: Unmanaged<DeviceNameBox>) { chosen = device }

    /// From now on, control is asked before the device is reopened.
    mutating func askBeforeReopening() { asksBeforeReopening = true }

    /// Whether control has to be asked before `open`.
    var hasToAsk: Bool { asksBeforeReopening && sink != nil }

    /// Opens the device for `format`, after closing an open one.
    mutating func open(for format: PCMFormat) throws(DeviceError) -> SampleSink {
        let settle = sink == nil ? settings.settleAtStart : settings.settleAtRateChange
        close()
        if let chosen {
            settings.device = chosen.takeUnretainedValue().name
            self.chosen = nil
        }
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

    /// Closes the device when a better one is available. Call it while nothing plays.
    mutating func closeForBetter() {
        guard let device = sink?.device.configuration.device else { return }
        if provider.hasBetter(than: device, for: settings.device) { close() }
    }

    // MARK: Fading out

    /// Notes a fade-out that was written to the device.
    mutating func begin(_ fadeOut: FadeOut) { self.fadeOut = fadeOut }

    /// Stops the device after a fade-out was heard.
    /// - Returns: the milliseconds to wait before that; nil when no fade runs.
    mutating func finishFadeOut(_ clock: any MonotonicClock) -> Int32? {
        guard let fadeOut else { return nil }
        if let sink {
            do throws(DeviceFault) {
                let delay = try sink.device.delayFrames()
                let remaining = fadeOut.remainingFrames(delayFrames: delay, now: clock.now())
                if remaining > 0 { return Int32(sink.milliseconds(Int64(remaining))) + 1 }
                try sink.drop()
            } catch {
                // The device is silent now, which is the goal of this function.
                recover(from: error)
            }
        }
        self.fadeOut = nil
        if closesAfterFade {
            closesAfterFade = false
            close()
        }
        return nil
    }

    /// Closes the device, after a fade-out that runs.
    mutating func release() {
        if fadeOut == nil { close() } else { closesAfterFade = true }
    }
}
