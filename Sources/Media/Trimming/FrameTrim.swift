/// The played part of a decoded track: the result of edit lists and encoder delays.
struct TrackEdit: Equatable {
    /// Frames that are decoded first and not played.
    var leading: Int64 = 0
    /// Frames that are played; nil for all.
    var count: Int64?
}

/// The stage behind the codec: drops leading frames and stops after a count.
///
/// A value: it takes the number of decoded frames, and returns the range of them that is played.
struct FrameTrim {
    private var leftToDrop: Int64
    private var leftToPlay: Int64?

    init(_ edit: TrackEdit) {
        leftToDrop = max(0, edit.leading)
        leftToPlay = edit.count.map { max(0, $0) }
    }

    /// From now on the codec returns frames of a track with this `edit` from `decoded` on. `frame` is the target of the
    /// seek, counted in played frames.
    init(_ edit: TrackEdit, seekingTo frame: Int64, decoded: Int64) {
        let target = Self.decodedFrame(of: frame, edit)
        leftToDrop = max(0, target - decoded)
        leftToPlay = edit.count.map { max(0, $0 - frame) }
    }

    /// The codec's frame for the played frame `frame`.
    static func decodedFrame(of frame: Int64, _ edit: TrackEdit) -> Int64 {
        let (sum, isBeyond) = frame.addingReportingOverflow(max(0, edit.leading))
        return isBeyond ? .max : sum
    }

    /// Whether no more frames are played.
    var isAtEnd: Bool { leftToPlay == 0 }

    /// The part of the next `count` decoded frames that is played.
    mutating func take(_ count: Int) -> Range<Int> {
        let dropped = Int(min(Int64(count), leftToDrop))
        leftToDrop -= Int64(dropped)
        var played = count - dropped
        if let left = leftToPlay {
            played = Int(min(Int64(played), left))
            leftToPlay = left - Int64(played)
        }
        return dropped..<(dropped + played)
    }
}
