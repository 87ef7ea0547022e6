import PCM

/// An open playback device: the seam between the renderer and ALSA. The other implementation is the tests' device that
/// runs at the pace that a test sets.
///
/// Thread: the audio thread alone, from `DeviceProvider.open` to the last release. Between `open` and `close` nothing
/// here allocates, locks or logs.
public protocol PlaybackDevice: AnyObject {
    /// What the device really runs at.
    var configuration: DeviceConfiguration { get }

    /// Whether somebody listens. A file or `null` gets every frame as it is, without fades.
    var isAudible: Bool { get }

    /// Frames that can be written now.
    func writableFrames() throws(DeviceFault) -> Int

    /// Writes up to `frames` of the frames that `writableFrames` returned; `fill` puts them straight into the device's
    /// memory where it is mapped. It may be called more than once, with consecutive pieces.
    /// - Returns: the frames committed.
    func write(_ frames: Int, _ fill: (_ destination: UnsafeMutableRawPointer, _ frames: Int) -> Void)
        throws(DeviceFault) -> Int

    /// Starts the clock after the first frames were written; without effect when it runs.
    func start() throws(DeviceFault)

    /// Frames written that were not heard yet. 0 when the device has run dry.
    func delayFrames() throws(DeviceFault) -> Int

    /// Blocks until half of the buffer (at least a period) can be written, `wakeUp` becomes readable or the time is
    /// over.
    /// - Returns: whether `wakeUp` is readable.
    func wait(wakeUp: Int32, milliseconds: Int32) throws(DeviceFault) -> Bool

    /// Silences the device at once; what was written and not heard is gone. It can be written to again afterwards.
    /// A device that has nothing unheard may keep what it has.
    func drop() throws(DeviceFault)

    /// The frames written so far are the last ones for now: the clock goes on behind them, with silence, until the
    /// device is drained, dropped or written to. A clock that stops exactly behind the last frame may cut off what the
    /// driver still has on its way. Without effect where the device cannot do it.
    func runOnBehindLastFrame() throws(DeviceFault)

    /// Frames at the end of what was written that can still be taken back: they were not given to the hardware. 0 where
    /// the device cannot take any back.
    func rewindableFrames() throws(DeviceFault) -> Int

    /// Takes back the last `frames` frames that were written: what is written next takes their place.
    /// - Returns: the frames taken back.
    func rewind(_ frames: Int) throws(DeviceFault) -> Int

    /// Blocks until everything written was heard (at most one buffer). It can be written to again afterwards.
    func drain() throws(DeviceFault)

    /// Brings the device back after a fault: the one place that knows how. All frames unheard are gone.
    /// - Returns: false when the device is not there any more and has to be reopened.
    func recover(from fault: DeviceFault) -> Bool

    /// Gives the device back to the system. Nothing else may be called afterwards. Idempotent.
    func close()
}

extension PlaybackDevice {
    public func runOnBehindLastFrame() throws(DeviceFault) {}
}

/// Opens devices; on the audio thread, because opening may take long.
public protocol DeviceProvider: AnyObject, Sendable {
    func open(_ request: DeviceRequest) throws(DeviceError) -> any PlaybackDevice
}

/// What to open.
public struct DeviceRequest: Equatable, Sendable {
    /// `hw:CARD=id,DEV=0`, `hw:0,0` or any PCM name of alsa-lib's configuration.
    public var device: String
    public var format: PCMFormat
    /// Drive the device with this sample format only; nil takes the widest that it has.
    public var sampleFormat: SampleFormat?
    /// Whether another channel count may stand in for one that the device does not have (`ChannelAdaptation`).
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

/// What an open device really runs at.
public struct DeviceConfiguration: Equatable, Sendable {
    public var device: String
    /// In Hz.
    public var sampleRate: Int
    public var channelCount: Int
    public var sampleFormat: SampleFormat
    /// Bits of a sample that reach the converter, as the driver tells; at most the format's.
    public var significantBits: Int
    public var bufferFrames: Int
    public var periodFrames: Int
    public var memoryMapped: Bool
    /// The channel counts that the device has at this rate.
    public var channels: ChannelCounts
    /// How the channels of what is heard become those of the device; nil where they are the same.
    public var adaptation: ChannelAdaptation?

    /// - Parameter channels: nil for no count but `channelCount`.
    public init(
        device: String, sampleRate: Int, channelCount: Int, sampleFormat: SampleFormat, significantBits: Int,
        bufferFrames: Int, periodFrames: Int, memoryMapped: Bool, channels: ChannelCounts? = nil
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
    }

    /// Whether audio of `format` can be played as the device runs now.
    public func takes(_ format: PCMFormat, allowsAdaptation: Bool = true) -> Bool {
        guard format.sampleRate == sampleRate else { return false }
        if format.channelCount == channelCount { return true }
        return allowsAdaptation
            && ChannelAdaptation.deviceChannelCount(for: format.channelCount, of: channels) == channelCount
    }

    /// How the channels of audio of `format` become those of the device; nil where they are the same, and where the
    /// device does not take it.
    public func adaptation(of format: PCMFormat) -> ChannelAdaptation? {
        takes(format) ? ChannelAdaptation(from: format.channelCount, to: channelCount) : nil
    }
}

/// What can happen to an open device. Carries no text: it is thrown on the audio thread.
public enum DeviceFault: Error, Equatable, Sendable, BitwiseCopyable {
    /// The buffer ran dry (EPIPE).
    case underrun
    /// The system was suspended (ESTRPIPE).
    case suspended
    /// The device is gone (ENODEV, EBADFD, ENOTTY…).
    case vanished
    /// The file or pipe that stands for a device takes no more, and some of what was written is not in it. Nothing
    /// brings that back. A negated errno.
    case spoiled(code: Int32)
    /// Anything else; a negated errno of alsa-lib.
    case failed(code: Int32)
}
