import PCM

/// An open playback device: the interface between the renderer and ALSA. Tests implement it with a device that runs at
/// a controlled pace.
///
/// Thread: only the audio thread, from `DeviceProvider.open` to the last release. Between `open` and `close`, no method
/// allocates, locks or logs.
public protocol PlaybackDevice: AnyObject {
    /// The configuration that the device runs with.
    var configuration: DeviceConfiguration { get }

    /// Whether the device makes sound. A file or `null` gets every frame unchanged, without fades.
    var isAudible: Bool { get }

    /// Frames that can be written now.
    func writableFrames() throws(DeviceFault) -> Int

    /// Writes up to `frames` of the frames that `writableFrames` returned. `fill` writes directly into mapped memory if
    /// there is any. It may be called more than once, with consecutive pieces.
    /// - Returns: the number of frames that were committed.
    func write(_ frames: Int, _ fill: (_ destination: UnsafeMutableRawPointer, _ frames: Int) -> Void)
        throws(DeviceFault) -> Int

    /// Starts the clock after the first frames were written. Does nothing when the clock runs.
    func start() throws(DeviceFault)

    /// Written frames that were not heard yet. 0 when the device has no frames left.
    func delayFrames() throws(DeviceFault) -> Int

    /// Blocks until half of the buffer (at least a period) can be written, `wakeUp` becomes readable or the time is
    /// over.
    /// - Returns: whether `wakeUp` is readable.
    func wait(wakeUp: Int32, milliseconds: Int32) throws(DeviceFault) -> Bool

    /// Silences the device at once and discards unheard frames. The device can be written to again afterwards. If all
    /// frames were heard, the device may ignore the call.
    func drop() throws(DeviceFault)

    /// Lets the clock continue with silence after the last frame, because no frames follow for now. This ends when the
    /// device is drained, dropped or written to. If the clock stopped exactly after the last frame, frames that the
    /// driver still transfers could be cut off. Does nothing when the device cannot do it.
    func runOnBehindLastFrame() throws(DeviceFault)

    /// Frames at the end that can still be taken back because the hardware does not have them yet. 0 when the device
    /// cannot take any back.
    func rewindableFrames() throws(DeviceFault) -> Int

    /// Takes back the last `frames` frames: the next written frames replace them.
    /// - Returns: the number of frames that were taken back.
    func rewind(_ frames: Int) throws(DeviceFault) -> Int

    /// Blocks until all written frames were heard (at most one buffer). The device can be written to again afterwards.
    func drain() throws(DeviceFault)

    /// Brings the device back after a fault. Only this function does so. All unheard frames are lost.
    /// - Returns: false when the device is gone and has to be reopened.
    func recover(from fault: DeviceFault) -> Bool

    /// Closes the device. No other call may follow. Idempotent.
    func close()
}

extension PlaybackDevice {
    public func runOnBehindLastFrame() throws(DeviceFault) {}
}

/// Opens devices. It runs on the audio thread, because opening may take long.
public protocol DeviceProvider: AnyObject, Sendable {
    func open(_ request: DeviceRequest) throws(DeviceError) -> any PlaybackDevice
    /// Whether `open` for `name` would take a better device than the open one, `device`.
    func hasBetter(than device: String, for name: String) -> Bool
}

extension DeviceProvider {
    public func hasBetter(than device: String, for name: String) -> Bool { false }
}

/// The device to open and how.
public struct DeviceRequest: Equatable, Sendable {
    /// `hw:CARD=id,DEV=0`, `hw:0,0` or any PCM name of alsa-lib's configuration.
    public var device: String
    public var format: PCMFormat
    /// Use only this sample format; nil uses the widest one of the device.
    public var sampleFormat: SampleFormat?
    /// Whether another channel count may be used when the device does not have this one (`ChannelAdaptation`).
    public var allowsAdaptation = false
    /// Length of the device's buffer in milliseconds.
    public var bufferMilliseconds: Int = 200
    /// Periods per buffer, at least 2.
    public var periodCount: Int = 4

    public init(device: String, format: PCMFormat, sampleFormat: SampleFormat? = nil) {
        self.device = device
        self.format = format
        self.sampleFormat = sampleFormat
    }
}

/// The configuration of an open device.
public struct DeviceConfiguration: Equatable, Sendable {
    public var device: String
    /// The rate in Hz.
    public var sampleRate: Int
    public var channelCount: Int
    /// Whether the device gets DSD over PCM instead of PCM.
    public var isDSD = false
    public var sampleFormat: SampleFormat
    /// Bits of a sample that reach the converter, as the driver reports; at most the format's.
    public var significantBits: Int
    public var bufferFrames: Int
    public var periodFrames: Int
    public var memoryMapped: Bool
    /// The channel counts of the device at this rate.
    public var channels: ChannelCounts
    /// The usual rates of the device in Hz, ascending; empty when they are not known.
    public var rates: [Int]
    /// The positions of the channels; nil for the order of FLAC.
    public var layout: ChannelLayout?
    /// The side that each front channel plays.
    public var routing = ChannelRouting.straight
    /// How the channels of the audio become those of the device; nil when they are the same.
    public var adaptation: ChannelAdaptation?
    /// The path of samples after the device.
    public var route = DeviceRoute.direct

    /// - Parameter channels: nil when `channelCount` is the only count.
    public init(
        device: String, sampleRate: Int, channelCount: Int, sampleFormat: SampleFormat, significantBits: Int,
        bufferFrames: Int, periodFrames: Int, memoryMapped: Bool, channels: ChannelCounts? = nil, rates: [Int] = []
    ) {
        self.device = device
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.sampleFormat = sampleFormat
        self.significantBits = significantBits
        self.bufferFrames = bufferFrames
        self.periodFrames = periodFrames
        self.memoryMapped = memoryMapped
        self.channels = channels ?? ChannelCounts([channelCount])
        self.rates = rates
    }

    /// The bits that remain of a sample; audio with more bits is dithered. A converter of less than 24 bits rounds by
    /// itself.
    public var keptBits: Int {
        sampleFormat == .s32 && significantBits <= 24 ? 24 : sampleFormat.bitDepth
    }

    /// Whether the device could be opened at this rate, in Hz, as far as is known.
    public func mayPlay(rate: Int) -> Bool {
        rates.isEmpty || rates.contains(rate) || !DeviceCapabilities.usualRates.contains(rate)
    }

    /// Whether the converter gets all bits of DSD over PCM.
    public var carriesDSD: Bool { sampleFormat.carriesDSD && significantBits >= 24 }

    /// Whether audio of `format` can be played with the current configuration.
    public func takes(_ format: PCMFormat, allowsAdaptation: Bool = true) -> Bool {
        guard format.sampleRate == sampleRate, format.isDSD == isDSD else { return false }
        if format.channelCount == channelCount { return true }
        return allowsAdaptation && !isDSD
            && ChannelAdaptation.deviceChannelCount(for: format.channelCount, of: channels) == channelCount
    }

    /// How the channels of audio of `format` become those of the device; nil when they are the same, or when the device
    /// cannot play it.
    public func adaptation(of format: PCMFormat) -> ChannelAdaptation? {
        takes(format) ? adaptation(ofChannels: format.channelCount) : nil
    }

    func adaptation(ofChannels count: Int) -> ChannelAdaptation? {
        ChannelAdaptation(from: count, to: channelCount, routing: routing, layout: layout)
    }
}

/// A fault of an open device. Carries no text: it is thrown on the audio thread.
public enum DeviceFault: Error, Equatable, Sendable, BitwiseCopyable {
    /// The buffer ran empty (EPIPE).
    case underrun
    /// The system was suspended (ESTRPIPE).
    case suspended
    /// The device is gone (ENODEV, EBADFD, ENOTTY…).
    case vanished
    /// The file or pipe of the device cannot take more, and some frames were lost. This cannot be repaired. `code` is a
    /// negated errno.
    case spoiled(code: Int32)
    /// Any other fault; `code` is a negated errno of alsa-lib.
    case failed(code: Int32)
}
