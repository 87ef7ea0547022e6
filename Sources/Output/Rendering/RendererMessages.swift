import PCM

/// A command from control to the audio thread. Streams are passed unretained: control keeps a reference until the
/// command that drops them was processed (`Renderer.processedCommands`).
enum RendererCommand: BitwiseCopyable {
    /// Drop the current stream and begin with this one. The next stream stays.
    case begin(Unmanaged<PCMStream>)
    /// Set the stream that follows the current one; nil for none. It replaces a stream that was joined but not heard
    /// yet.
    case setNext(Unmanaged<PCMStream>?)
    /// Start the device. The events about the result have the same `generation`.
    case run(generation: UInt64)
    /// Stop the sound at once and keep the position.
    case hold
    /// Drop all streams; with `releaseDevice`, close the device too.
    case clear(releaseDevice: Bool)
    /// From now on, send `.reopening` before an open device is reopened, and wait for `reopen`.
    case askBeforeReopening
    /// The answer to `.reopening`. Ignored when the question is no longer open.
    case reopen(question: UInt64)
    /// Use this device from now on, at once if something plays. The sender keeps the name.
    case use(Unmanaged<DeviceNameBox>)
    /// Check again: a test's clock has moved.
    case nudge
    case quit
}

/// An event from the audio thread to control, in order.
public struct RendererEvent: BitwiseCopyable {
    public enum Kind: BitwiseCopyable {
        /// The device was opened for this stream; the box has its configuration.
        case opened(stream: UInt64, Unmanaged<DeviceConfigurationBox>)
        /// Sound is heard, after `run` or after a stall.
        case running(generation: UInt64)
        /// There are no more frames to play, although the stream has not ended.
        case starved(generation: UInt64)
        /// The first frame of a stream that followed another one is heard.
        case heard(stream: UInt64)
        /// The first frame of a new format inside a stream is heard.
        case formatHeard(stream: UInt64, format: PCMFormat)
        /// The last frame of a stream was heard, and no stream follows.
        case ended(stream: UInt64)
        /// The device has stopped and has to be reopened for another format. It waits for `reopen` with the same
        /// number. Commands meanwhile may close the question, or cause another one.
        case reopening(question: UInt64)
        /// The device cannot be opened, or is lost; opening is retried every second.
        case deviceLost(generation: UInt64, Unmanaged<DeviceErrorBox>)
        /// The device is there but cannot play this stream.
        case refused(stream: UInt64, Unmanaged<DeviceErrorBox>)
    }

    public let kind: Kind
    /// How many commands were carried out before this event.
    public let processedCommands: UInt64
}

/// Carries a device's name through the command queue.
final class DeviceNameBox {
    let name: String
    init(_ name: String) { self.name = name }
}

/// Carries a configuration through the event queue; the receiver of the event releases it.
public final class DeviceConfigurationBox {
    public let configuration: DeviceConfiguration
    init(_ configuration: DeviceConfiguration) { self.configuration = configuration }
}

/// Carries an error through the event queue; the receiver of the event releases it. Created only when opening fails or
/// a device is lost, never while audio runs.
public final class DeviceErrorBox {
    public let error: DeviceError
    init(_ error: DeviceError) { self.error = error }
}

/// The position of the renderer, as last reported by the device.
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
