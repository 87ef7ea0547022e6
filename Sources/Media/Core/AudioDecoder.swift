import PCM

/// One audio stream of a container, decoded in order, with sample-accurate seeking.
///
/// Thread: only the decoder thread. It may block in its `ByteSource`.
public protocol AudioDecoder: AnyObject {
    /// The properties of the stream, as far as its headers have them.
    var properties: AudioProperties { get }
    /// Title, artist, replay gain: the values of the container's tags. In a chain of Ogg they are those of the link
    /// that the last `read` was in.
    var metadata: TrackMetadata { get }
    /// The damage that was found so far.
    var damage: DamageReport { get }
    /// A decoder of the same DSD that returns its bits as words (`PCMFormat.isDSD`); nil for other audio. Both read one
    /// source: a `seek` must come first when the other one was used.
    var dsdWords: (any AudioDecoder)? { get }

    /// Decodes the next run of frames into `buffer`: left-justified, interleaved, whole frames.
    /// - Parameter buffer: room for at least one frame of 8 channels. The decoder may fill only a part of it.
    /// - Throws: `MediaError` when nothing more can be decoded. Damage that can be skipped is not thrown: it is
    ///   replaced by silence and counted in `damage`.
    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun

    /// Makes `frame` the first frame of the next `read`, exactly. Beyond the last frame the next `read` is `.end`.
    /// - Parameter frame: from 0, counted in frames of the stream's first format.
    /// When bytes are not there yet, the next `read` carries it out.
    func seek(toFrame frame: Int64) throws(MediaError)

    /// Calls `wake` once, from any thread, when a `read` that returned `.notYet` should be repeated; at once if it
    /// should be already. A second call replaces the `wake` of the first one.
    func whenReadable(_ wake: @escaping @Sendable () -> Void)
}

extension AudioDecoder {
    /// The default for a decoder of other audio than DSD.
    public var dsdWords: (any AudioDecoder)? { nil }

    /// The default for a decoder that never returns `.notYet`.
    public func whenReadable(_ wake: @escaping @Sendable () -> Void) { wake() }
}

/// The result of one `read`.
public enum DecodedRun: Equatable, Sendable {
    /// This many frames (at least one) were written to the buffer.
    case frames(Int)
    /// Nothing was written; the next frames have this format. Returned only when it differs from the format before.
    case format(PCMFormat)
    /// Nothing was written: the source has no bytes yet. Nothing is lost, and the same call can be repeated.
    case notYet
    /// The stream has ended; further reads return this too, until a `seek`.
    case end
}

/// The properties of a stream.
public struct AudioProperties: Equatable, Sendable {
    public var format: PCMFormat
    /// The number of frames, or nil when the container does not have it.
    public var frameCount: Int64?
    public var container: Container
    public var codec: Codec
    /// The type of audio object that a decoder of AAC needs (ISO/IEC 14496-3, table 1.17): 2 for AAC-LC, 5 for HE-AAC,
    /// 29 for HE-AAC v2.
    public var aacObjectType: Int?
    /// The time of the first frame in the file's own timeline, in seconds: not 0 in a file that was cut out of a longer
    /// recording.
    public var mediaStart = 0.0
    /// Average bits per second of the encoded audio, if known.
    public var bitRate: Int?
    /// The MD5 of all samples before they were encoded, 16 bytes, if the codec is FLAC and the encoder wrote it
    /// (RFC 9639, 8.2).
    public var sampleDigest: [UInt8]?

    public init(format: PCMFormat, frameCount: Int64?, container: Container, codec: Codec, bitRate: Int?) {
        self.format = format
        self.frameCount = frameCount
        self.container = container
        self.codec = codec
        self.bitRate = bitRate
    }

    /// Length in seconds, if known.
    public var duration: Double? {
        frameCount.map { Double($0) / Double(format.sampleRate) }
    }
}

/// The damage of a stream that can still be played.
public struct DamageReport: Equatable, Sendable {
    /// Positions where decoding had to resume at a later frame, or where a checksum was wrong.
    public var incidents = 0
    /// Frames that were replaced by silence.
    public var silencedFrames: Int64 = 0
    /// Whether the stream stopped before the end that its header gives.
    public var truncated = false

    public init() {}
    public var isEmpty: Bool { self == DamageReport() }

    /// Adds the damage that a source has found since `former`.
    mutating func add(_ found: DamageReport, since former: DamageReport) {
        incidents += found.incidents - former.incidents
        silencedFrames += found.silencedFrames - former.silencedFrames
    }

    /// The same damage, in frames that are so many times as long.
    func scaled(by factor: Int64) -> DamageReport {
        var scaled = self
        scaled.silencedFrames = (silencedFrames + factor - 1) / factor
        return scaled
    }
}
