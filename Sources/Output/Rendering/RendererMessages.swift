import PCM

/// What control tells the audio thread. Streams travel unretained: control holds them until the command that drops them
/// was processed (`Renderer.processedCommands`).
enum RendererCommand: BitwiseCopyable {
    /// Forget whatever plays and begin with this stream. The next stream stays as it is.
    case begin(Unmanaged<PCMStream>)
    /// What follows the stream that plays; nil for nothing. It replaces a stream that was joined but not heard yet.
    case setNext(Unmanaged<PCMStream>?)
    /// Let the device run. `generation` comes back in the events that tell how that went.
    case run(generation: UInt64)
    /// Fall silent at once and keep the position.
    case hold
    /// Forget all streams; with `releaseDevice`, close the device as well.
    case clear(releaseDevice: Bool)
    /// From now on report `.reopening` before a device that is open is reopened, and wait for `reopen`.
    case askBeforeReopening
    /// The answer to `.reopening`. One to a question that nothing waits on any more changes nothing.
    case reopen(question: UInt64)
    /// Look again: a test's clock has moved.
    case nudge
    case quit
}

/// What the audio thread tells control, in the order in which it happened.
public struct RendererEvent: BitwiseCopyable {
    public enum Kind: BitwiseCopyable {
        /// The device was opened for this stream; the box says how it runs.
        case opened(stream: UInt64, Unmanaged<DeviceConfigurationBox>)
        /// Sound is coming out, after `run` or after a stall.
        case running(generation: UInt64)
        /// Nothing is left to hear although the stream has not ended.
        case starved(generation: UInt64)
        /// The first frame of a stream that followed another one is heard.
        case heard(stream: UInt64)
        /// The first frame of a new format inside a stream is heard.
        case formatHeard(stream: UInt64, format: PCMFormat)
        /// The last frame of a stream was heard and nothing followed it.
        case ended(stream: UInt64)
        /// The device has stopped and has to be reopened for another format, which waits for `reopen` with the same
        /// number. Commands meanwhile may make the question void, or lead to another one.
        case reopening(question: UInt64)
        /// The device cannot be opened, or is gone; opening is retried every second.
        case deviceLost(generation: UInt64, Unmanaged<DeviceErrorBox>)
        /// The device is there but cannot play this stream.
        case refused(stream: UInt64, Unmanaged<DeviceErrorBox>)
    }

    public let kind: Kind
    /// How many commands had been carried out when it happened.
    public let processedCommands: UInt64
}

/// Carries a configuration through the event queue; the receiver of the event releases it.
public final class DeviceConfigurationBox {
    public let configuration: DeviceConfiguration
    init(_ configuration: DeviceConfiguration) { self.configuration = configuration }
}

/// Carries an error through the event queue; the receiver of the event releases it. Made only when opening fails or a
/// device is lost, never while audio runs.
public final class DeviceErrorBox {
    public let error: DeviceError
    init(_ error: DeviceError) { self.error = error }
}

/// Where the renderer is, as last heard from the device.
public struct RenderPosition: BitwiseCopyable, Equatable, Sendable {
    /// The stream that is heard; 0 before the first one.
    public var stream: UInt64 = 0
    /// Position in the product, in nanoseconds.
    public var nanoseconds: Int64 = 0

    public init(stream: UInt64 = 0, nanoseconds: Int64 = 0) {
        self.stream = stream
        self.nanoseconds = nanoseconds
    }
}
