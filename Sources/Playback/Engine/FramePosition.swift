/// A position in audio whose sample rate may change, in frames of one fixed rate.
package struct FramePosition {
    private let rate: Int
    /// The position at the last change, in frames of `rate`.
    private var earlier: Int64
    /// The frames since the last change, in frames of `currentRate`.
    private var count: Int64 = 0
    private var currentRate: Int

    /// - Parameters:
    ///   - rate: the sample rate in which the position is expressed.
    ///   - currentRate: the sample rate of the next frames; nil for `rate`.
    package init(_ frame: Int64 = 0, rate: Int, currentRate: Int? = nil) {
        self.rate = rate
        earlier = frame
        self.currentRate = currentRate ?? rate
    }

    package var frame: Int64 { earlier + count.frames(from: currentRate, to: rate) }

    package mutating func read(_ frames: Int) { count += Int64(frames) }

    /// Continues with frames of another rate.
    package mutating func changed(to new: Int) {
        guard new != currentRate else { return }
        earlier = frame
        count = 0
        currentRate = new
    }
}

extension Int64 {
    /// Returns the frame at rate `new` that is played at the same time as this frame at rate `old`.
    package func frames(from old: Int, to new: Int) -> Int64 {
        guard old != new, old > 0 else { return self }
        return Int64(Swift.min(Double(self) * Double(new) / Double(old), 1e15).rounded())
    }
}
