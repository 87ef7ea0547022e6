import CALSA
import CLinux
import PCM
import Platform

/// Opens playback devices of alsa-lib exactly as requested: rate, channel count and sample format are the device's own,
/// and nothing is resampled or converted. With `DeviceRequest.allowsAdaptation`, a device without the channel count is
/// opened with the count that `ChannelAdaptation` chooses.
///
/// Device names are alsa-lib's: `hw:CARD=DAC,DEV=0` is a sound card, `null` discards everything, and
/// `file:FILE=/path/x.wav,FORMAT=wav` writes a file (`FORMAT=raw`: only the samples). A path with a comma or an equals
/// sign needs quotes, `file:FILE='/a, b.wav',FORMAT=wav`; in a path, `%r`, `%c`, `%b` and `%f` stand for rate, channel
/// count, bits and sample format. After a change of the format, a second file receives the music (`FileSequence`).
///
/// Thread: the audio thread, except for `lastOpened` and `prefer`.
/// `@unchecked Sendable` is safe because only the audio thread uses `choice`.
public final class ALSADeviceProvider: DeviceProvider, @unchecked Sendable {
    private let configuration: ALSAConfiguration
    private let memoryMapping: Bool
    private let clock: any MonotonicClock
    private let opened = OpenedName()
    /// The audio thread's.
    private var choice = AutomaticChoice()

    public convenience init(configuration: ALSAConfiguration = .available) {
        self.init(configuration: configuration, memoryMapping: true)
    }

    /// - Parameter memoryMapping: false writes frames by a call, even when memory could be mapped.
    /// - Parameter clock: limits the time that a device may take to play its remaining frames.
    init(
        configuration: ALSAConfiguration, memoryMapping: Bool, clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        self.configuration = configuration
        self.clock = clock
        self.memoryMapping = memoryMapping
    }

    public func open(_ request: DeviceRequest) throws(DeviceError) -> any PlaybackDevice {
        var request = request
        let isAutomatic = DeviceName.isAutomatic(request.device)
        request.device = try DeviceName.resolved(
            request.device, configuration: configuration, last: opened.preferred, now: clock.now(), choice: &choice)
        request.device = opened.next(for: request.device, request.format)
        let device = try open(request, on: try openHandle(request.device))
        let isNews = opened.change(to: request.device)
        if isAutomatic, isNews { Log.notice("\(DeviceName.automatic): plays on \(request.device)") }
        return device
    }

    public func hasBetter(than device: String, for name: String) -> Bool {
        guard DeviceName.isAutomatic(name) else { return false }
        let candidates = OutputSurvey(configuration: configuration).candidates()
        return AutomaticChoice.hasBetter(than: device, among: candidates) {
            SoundCardDevice.Availability(of: $0, configuration: configuration)
        }
    }

    /// Prefers a device among several of its kind, until one was opened. Used for the device on which `auto` played
    /// before the program started. Any thread.
    public func prefer(_ device: String?) { opened.prefer(device) }

    /// The device that was opened last, as `auto` chose it; nil before the first one. Any thread.
    public var lastOpened: String? { opened.name }

    /// - Parameter handle: the device that `request` names.
    func open(_ request: DeviceRequest, on handle: consuming PCMHandle) throws(DeviceError) -> ALSADevice {
        let capabilities = try capabilities(of: handle, for: request)
        let channels = ChannelCounts(capabilities.channels)
        var request = request
        if request.allowsAdaptation {
            let count = request.format.channelCount
            request.format.channelCount = ChannelAdaptation.deviceChannelCount(for: count, of: channels) ?? count
        }
        let sampleFormat = try self.capabilities(of: handle, for: request).sampleFormat(for: request)
        let device: ALSADevice
        let unwritableFile: SystemError?
        do throws(ALSAFailure) {
            var configuration = try install(request, sampleFormat, handle)
            configuration.channels = channels
            configuration.rates = capabilities.rates
            configuration.route = DeviceRoute(snd_pcm_type(handle.raw))
            configuration.layout = ChannelMap.settled(of: handle, channelCount: configuration.channelCount)
            unwritableFile = FilePlugin.unwritableFile(of: handle)
            device = try ALSADevice(handle, configuration: configuration, clock: clock)
        } catch {
            throw DeviceError(using: request.device, failure: error)
        }
        if let unwritableFile {
            let reason = unwritableFile.description
            throw .refused(device: request.device, code: -unwritableFile.code, reason: reason)
        }
        let rate = request.format.sampleRate
        guard device.configuration.sampleRate == rate else {
            let actual = device.configuration.sampleRate
            throw .rateNotSupported(device: request.device, rate: rate, supported: [actual])
        }
        guard !request.format.isDSD || device.configuration.carriesDSD else {
            throw .sampleFormatNotSupported(device: request.device, requested: request.sampleFormat)
        }
        return device
    }

    private func openHandle(_ device: String) throws(DeviceError) -> PCMHandle {
        let handle: PCMHandle
        do throws(ALSAFailure) {
            handle = try PCMHandle(opening: device, configuration: configuration)
        } catch {
            throw DeviceError(opening: device, failure: error, configuration: configuration)
        }
        // These two plug-ins convert any format, so every answer about the device's capabilities would be wrong.
        let type = snd_pcm_type(handle.raw)
        guard type != SND_PCM_TYPE_PLUG, type != SND_PCM_TYPE_RATE else {
            let reason = "it resamples and converts unasked; name the card itself (hw:CARD=…)"
            throw .refused(device: device, code: -ENOTSUP, reason: reason)
        }
        return handle
    }

    private func capabilities(
        of handle: borrowing PCMHandle, for request: DeviceRequest
    ) throws(DeviceError) -> DeviceCapabilities {
        do throws(ALSAFailure) {
            return try HardwareParameters.all(of: handle).capabilities(at: request.format)
        } catch {
            throw DeviceError(using: request.device, failure: error)
        }
    }

    private func install(
        _ request: DeviceRequest, _ sampleFormat: SampleFormat, _ handle: borrowing PCMHandle
    ) throws(ALSAFailure) -> DeviceConfiguration {
        let hardware = try HardwareParameters.all(of: handle)
        let memoryMapped = try hardware.setInterleaved(memoryMapping: memoryMapping)
        try hardware.set(rate: request.format.sampleRate)
        try hardware.set(channels: request.format.channelCount)
        try hardware.set(sampleFormat: sampleFormat)
        try hardware.setBuffer(BufferSize(for: request))
        if sampleFormat == .iec958Subframe {
            // The control is set now, because drivers read it when the device is set up.
            let status = ChannelStatus(sampleRate: request.format.sampleRate)
            ChannelStatusControl.set(status, for: handle, configuration: configuration)
        }
        try hardware.install()
        let (bufferFrames, periodFrames) = try hardware.installedSizes()
        let significantBits = hardware.installedSignificantBits() ?? sampleFormat.bitDepth
        return DeviceConfiguration(
            device: request.device, sampleRate: try hardware.installedRate(),
            channelCount: request.format.channelCount, sampleFormat: sampleFormat,
            significantBits: min(significantBits, sampleFormat.bitDepth), bufferFrames: bufferFrames,
            periodFrames: periodFrames, memoryMapped: memoryMapped)
    }
}

/// A name that the audio thread writes and other threads read.
/// `@unchecked Sendable` is safe because `lock` guards the name.
final class OpenedName: @unchecked Sendable {
    // `lock` guards the rest. The audio thread takes it while it opens a device, which blocks anyway.
    private let lock = Lock()
    private var value: String?
    private var earlier: String?
    private var files = FileSequence()

    /// The name to open now.
    func next(for device: String, _ format: PCMFormat) -> String {
        lock.withLock { files.name(for: device, format) }
    }

    var name: String? { lock.withLock { value } }

    /// The device that `auto` prefers among several of a kind.
    var preferred: String? { lock.withLock { value ?? earlier } }

    func prefer(_ device: String?) { lock.withLock { earlier = device } }

    /// - Returns: whether the name has changed.
    func change(to name: String) -> Bool {
        lock.withLock {
            defer { value = name }
            return value.map { !$0.utf8.elementsEqual(name.utf8) } ?? true
        }
    }
}
