/// Times of a track in its own units, and frames of its audio.
struct MP4Time {
    /// Units per second.
    let timescale: Int64
    /// Frames per second of the decoded audio.
    var sampleRate: Int64

    /// The largest result, so that sums of a few do not overflow.
    private static let largestResult: Int64 = 1 << 60

    init(timescale: UInt32, sampleRate: Int) {
        self.timescale = max(1, Int64(timescale))
        self.sampleRate = Int64(sampleRate)
    }

    /// The frame at `time`, rounded to the nearest.
    func frames(_ time: Int64) -> Int64 { Self.scale(time, sampleRate, timescale, rounding: timescale / 2) }

    /// The time of `frame`, rounded down.
    func time(ofFrame frame: Int64) -> Int64 { Self.scale(frame, timescale, sampleRate, rounding: 0) }

    /// `value` * `numerator` / `denominator`; 2^60 at most.
    /// - Parameters:
    ///   - numerator, denominator: 32 bits at most.
    ///   - rounding: is added before the division.
    static func scale(_ value: Int64, _ numerator: Int64, _ denominator: Int64, rounding: Int64) -> Int64 {
        let value = min(max(0, value), largestResult)
        if numerator == denominator { return value }
        let (whole, isBeyond) = (value / denominator).multipliedReportingOverflow(by: numerator)
        // In two steps of 16 bits, because the product of two 32-bit numbers does not fit into an `Int64`.
        let remainder = value % denominator
        let (high, low) = (remainder * (numerator >> 16), remainder * (numerator & 0xFFFF))
        let rest = ((high / denominator) << 16) + (((high % denominator) << 16) + low + rounding) / denominator
        let (sum, isBeyondToo) = whole.addingReportingOverflow(rest)
        return isBeyond || isBeyondToo ? largestResult : min(sum, largestResult)
    }
}
