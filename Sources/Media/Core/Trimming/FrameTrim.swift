/// The stage after the codec: drops leading frames and stops after a count.
///
/// A value: it takes the number of decoded frames, and returns the range of them that is played.
struct FrameTrim {
    private var leftToDrop: Int64
    private var leftToPlay: Int64?

    /// - Parameter count: how many frames are played after the dropped ones; nil for all.
    init(dropping leading: Int64 = 0, playing count: Int64? = nil) {
        leftToDrop = max(0, leading)
        leftToPlay = count.map { max(0, $0) }
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
