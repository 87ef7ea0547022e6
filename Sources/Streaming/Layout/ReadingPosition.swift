import PCM
import Playback

/// The format and the position that the reader of several decoders in a row knows. The position is in frames of the
/// first decoder's rate.
struct ReadingPosition {
    /// The format of the first decoder.
    let first: PCMFormat
    /// The format of the next frames, as far as the reader knows.
    private(set) var format: PCMFormat
    private var position: FramePosition

    init(_ first: PCMFormat) {
        (self.first, format) = (first, first)
        position = FramePosition(rate: first.sampleRate)
    }

    /// The first frame of the next read.
    var frame: Int64 { position.frame }

    mutating func read(_ frames: Int) { position.read(frames) }

    /// Notes that the reader was given another format.
    mutating func changed(to new: PCMFormat) {
        format = new
        position.changed(to: new.sampleRate)
    }

    /// Returns the format, when it is another one than the reader knows, and notes that the reader was given it.
    mutating func change(to new: PCMFormat) -> PCMFormat? {
        guard new != format else { return nil }
        changed(to: new)
        return new
    }

    /// - Parameter frame: frames before the first one count as the first one.
    mutating func seek(to frame: Int64) {
        position = FramePosition(max(0, frame), rate: first.sampleRate, currentRate: format.sampleRate)
    }

    /// Returns the number of frames of the first rate that last as long as these frames.
    func scaled(_ frames: Int64, from rate: Int) -> Int64 { frames.frames(from: rate, to: first.sampleRate) }

    /// Returns the number of frames of this rate that last as long as these frames of the first rate.
    func scaled(_ frames: Int64, to rate: Int) -> Int64 { frames.frames(from: first.sampleRate, to: rate) }
}
