import PCM

/// One audio stream of a container, decoded from front to back, with sample-accurate seeking.
///
/// Thread: the decoder thread alone. It may block in its `ByteSource`.
public protocol AudioDecoder: AnyObject {
    /// What the stream is, as far as its headers tell.
    var properties: AudioProperties { get }
    /// Title, artist, replay gain: what the container's tags tell.
    var metadata: TrackMetadata { get }
    /// What was found damaged so far.
    var damage: DamageReport { get }

    /// Decodes the next run of frames into `buffer`: left-justified, interleaved, whole frames.
    /// - Parameter buffer: room for at least one frame of 8 channels. It is filled as far as the decoder finds
    ///   convenient.
    /// - Throws: `MediaError` when nothing more can be decoded. Damage that can be passed over is not thrown but
    ///   replaced by silence and counted in `damage`.
    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun

    /// Makes `frame` the first frame of the next `read`, exactly. Beyond the last frame the next `read` is `.end`.
    /// - Parameter frame: from 0, counted in frames of the stream's first format.
    /// Where bytes are not there yet, the next `read` carries it out.
    func seek(toFrame frame: Int64) throws(MediaError)

    /// Calls `wake` once, from any thread, when it is worth repeating a `read` that gave `.notYet`; at once if that is
    /// so already. A second call replaces the first one's `wake`.
    func whenReadable(_ wake: @escaping @Sendable () -> Void)
}

extension AudioDecoder {
    /// For a decoder that never gives `.notYet`.
    public func whenReadable(_ wake: @escaping @Sendable () -> Void) { wake() }
}

/// What one `read` gave.
public enum DecodedRun: Equatable, Sendable {
    /// This many frames (at least one) were written to the buffer.
    case frames(Int)
    /// Nothing was written; the frames from here on have this format. Given only when it differs from the one before.
    case format(PCMFormat)
    /// Nothing was written: the source has no bytes yet. Nothing is lost, and the same call can be repeated.
    case notYet
    /// The stream has ended; it stays so until a `seek`.
    case end
}

/// What a stream is.
public struct AudioProperties: Equatable, Sendable {
    public var format: PCMFormat
    /// Frames in all, or nil where the container does not say.
    public var frameCount: Int64?
    public var container: Container
    public var codec: Codec
    /// Average bits per second of the encoded audio, where it is known.
    public var bitRate: Int?

    public enum Container: String, Equatable, Sendable { case flac, wav, aiff }
    public enum Codec: String, Equatable, Sendable { case flac, pcm }

    public init(format: PCMFormat, frameCount: Int64?, container: Container, codec: Codec, bitRate: Int?) {
        self.format = format
        self.frameCount = frameCount
        self.container = container
        self.codec = codec
        self.bitRate = bitRate
    }

    /// Length in seconds, where it is known.
    public var duration: Double? {
        frameCount.map { Double($0) / Double(format.sampleRate) }
    }
}

/// What was wrong with a stream that went on playing.
public struct DamageReport: Equatable, Sendable {
    /// Places where decoding had to resume at a later frame or a checksum did not hold.
    public var incidents = 0
    /// Frames that were replaced by silence.
    public var silencedFrames: Int64 = 0
    /// Whether the stream stopped before the end that its header gives.
    public var truncated = false

    public init() {}
    public var isEmpty: Bool { self == DamageReport() }
}
