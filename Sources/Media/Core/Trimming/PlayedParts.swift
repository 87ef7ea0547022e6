/// The played parts of a track, and the position in the current one.
///
/// A value, apart from the codec: it names the frame that the codec has to find, and takes the number of decoded
/// frames.
struct PlayedParts {
    private let edit: TrackEdit
    /// The number of the current part.
    private var number = 0
    private var trim = FrameTrim()
    private var silenceLeft: Int64 = 0

    /// Begins with the first part, which has to be entered unless `beginsAtFirstFrame`.
    init(_ edit: TrackEdit) {
        self.edit = edit
        if case .media(_, let count) = edit.parts[0] { trim = FrameTrim(playing: count) }
    }

    /// Whether a codec that is at its first frame is at the start of the first part, too.
    var beginsAtFirstFrame: Bool { if case .media(start: 0, _) = edit.parts[0] { true } else { false } }

    /// The start of the part after the current one; nil when this is the last one.
    var next: (part: Int, frame: Int64)? { number + 1 < edit.parts.count ? (number + 1, 0) : nil }

    /// Whether the current part is silence, without frames of the codec.
    var isSilence: Bool { if case .silence = edit.parts[number] { true } else { false } }

    /// Whether all frames of the current part were taken. Only for parts of the codec.
    var isAtEnd: Bool { trim.isAtEnd }

    /// The part that contains a played frame, and how many frames of the part precede it.
    func position(of frame: Int64) -> (part: Int, frame: Int64) { edit.position(of: frame) }

    /// The decoded frame that is played at a place; nil in silence.
    func decodedFrame(at position: (part: Int, frame: Int64)) -> Int64? {
        guard case .media(let start, _) = edit.parts[position.part] else { return nil }
        let (sum, isBeyond) = start.addingReportingOverflow(position.frame)
        return isBeyond ? .max : sum
    }

    /// Moves to a place.
    /// - Parameter leading: frames that the codec returns before the one of the place.
    mutating func enter(_ position: (part: Int, frame: Int64), leading: Int64 = 0) {
        number = position.part
        switch edit.parts[number] {
        case .silence(let count): silenceLeft = max(0, count - position.frame)
        case .media(_, let count):
            trim = FrameTrim(dropping: leading, playing: count.map { max(0, $0 - position.frame) })
        }
    }

    /// The range of the next `count` decoded frames that is played.
    mutating func take(_ count: Int) -> Range<Int> { trim.take(count) }

    /// Takes up to `limit` frames of silence.
    /// - Returns: how many; nil at the end of the part.
    mutating func takeSilence(_ limit: Int) -> Int? {
        guard silenceLeft > 0 else { return nil }
        let count = Int(min(silenceLeft, Int64(limit)))
        silenceLeft -= Int64(count)
        return count
    }
}
