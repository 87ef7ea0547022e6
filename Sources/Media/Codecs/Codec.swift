import PCM

/// Turns the packets of its source into frames.
///
/// Thread: the decoder thread alone.
protocol Codec: AnyObject {
    /// What was found damaged so far.
    var damage: DamageReport { get }

    /// Decodes the next run of frames into `buffer`: left-justified, interleaved, whole frames.
    /// - Throws: `.notYet` when the same call can be repeated later; nothing is lost then.
    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun

    /// Goes to `frame`, or to an earlier one where the codec has to begin before it.
    /// - Returns: the first frame of the next `read`.
    /// - Throws: after which the codec stands anywhere, until a seek succeeds.
    func seek(toFrame frame: Int64) throws(Interruption) -> Int64
}

/// What one `read` of a codec gave.
enum CodecRun: Equatable {
    /// This many frames, at least one.
    case frames(Int)
    /// Nothing; the frames from here on have this format.
    case format(PCMFormat)
    case end
}
