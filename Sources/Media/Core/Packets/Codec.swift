import PCM

/// Decodes the packets of its source into frames.
///
/// Thread: only the decoder thread.
protocol Codec: AnyObject {
    /// The damage that was found so far.
    var damage: DamageReport { get }
    /// The tags of the stream that is decoded now, when there are several streams; nil: those of the container.
    var metadata: TrackMetadata? { get }

    /// The decoder of the same packets that returns words of DSD; nil for other audio.
    var dsdWords: TrackDecoder? { get }

    /// The sample that is silence.
    var silence: Int32 { get }

    /// Decodes the next run of frames into `buffer`: left-justified, interleaved, whole frames.
    /// - Throws: `.notYet` when the same call can be repeated later; no frames are lost then.
    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun

    /// Moves to `frame`, or to an earlier one when the codec has to begin before it.
    /// - Returns: the first frame of the next `read`.
    /// - Throws: after an error the position is undefined until a seek succeeds.
    func seek(toFrame frame: Int64) throws(Interruption) -> Int64
}

extension Codec {
    var metadata: TrackMetadata? { nil }
    var dsdWords: TrackDecoder? { nil }
    var silence: Int32 { 0 }
}

/// The result of one `read` of a codec.
enum CodecRun: Equatable {
    /// This many frames, at least one.
    case frames(Int)
    /// No frames; the next frames have this format.
    case format(PCMFormat)
    case end
}
