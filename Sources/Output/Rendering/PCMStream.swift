import PCM
import Synchronization

/// Audio from one start position of one product to its end. The decoder produces it, the renderer plays it. A seek
/// makes a new stream; an old stream is never flushed (docs/decisions/one-ring-a-stream.md).
///
/// Threads: the decoder writes the ring, the audio thread reads it, control sets the gain. Control keeps a reference
/// while the renderer may use the stream, so that the audio thread never frees one. `@unchecked Sendable` is safe
/// because the gain is an atomic, the ring is safe between its two threads, and the rest never changes.
public final class PCMStream: @unchecked Sendable {
    /// Unique among all streams of a renderer.
    public let id: UInt64
    /// The format of the first frame; later ones are announced by markers in the ring.
    public let format: PCMFormat
    /// Position of the first frame in the product, in nanoseconds.
    public let startPosition: Int64
    public let ring: PCMRing

    private let gainBits = Atomic<Int32>(Gain.unity.rawValue)

    /// - Parameter aheadMilliseconds: how much decoded audio the ring holds in addition to the frames in the device.
    /// - Throws: when there is no memory for so much audio of this format.
    public init(
        id: UInt64, format: PCMFormat, startPosition: Int64, deviceMilliseconds: Int, aheadMilliseconds: Int = 1000
    ) throws(OutOfMemory) {
        self.id = id
        self.format = format
        self.startPosition = startPosition
        let device = FrameCount.lasting(milliseconds: deviceMilliseconds, at: format.sampleRate)
        let ahead = FrameCount.lasting(milliseconds: aheadMilliseconds, at: format.sampleRate)
        let (frames, isTooMany) = device.multipliedReportingOverflow(by: 2)
        let (sum, overflow) = frames.addingReportingOverflow(ahead)
        let capacity = isTooMany || overflow ? .max : FrameCount.product(sum, Int64(format.channelCount))
        ring = try PCMRing(capacity: capacity)
    }

    /// The gain of loudness and volume together. A change during playback is ramped; a new stream starts with it.
    public var gain: Gain {
        get { Gain(rawValue: gainBits.load(ordering: .relaxed)) }
        set { gainBits.store(newValue.rawValue, ordering: .relaxed) }
    }
}
