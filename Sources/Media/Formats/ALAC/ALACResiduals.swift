/// Reads the adaptive Golomb codes of ALAC, which hold the residuals of the predictor.
///
/// A code is up to eight ones, a zero, and a number of as many bits as the mean of the codes before suggests. Nine ones
/// are followed by the number itself. While the mean is very small, a code contains the number of zeros that follow.
struct ALACResiduals {
    var firstMean: UInt32
    var meanFactor: UInt32
    var mostBits: UInt32
    /// Bits of a sample.
    var width: Int

    private static let mostOnes = 9
    private static let largestMean: UInt32 = 0xFFFF
    /// A mean below this one is followed by a run of zeros.
    private static let runMean: UInt32 = 128
    private static let runBits = 16
    private static let longestRun: UInt32 = 65_535

    /// Reads `count` numbers.
    ///
    /// Unchecked: `target` has room for `count` numbers.
    /// - Returns: whether they are all there.
    @_optimize(speed) @inline(never)
    func read(_ bits: inout ALACBits, count: Int, into target: UnsafeMutablePointer<Int32>) -> Bool {
        let bytes = bits.bytes
        let end = bits.end
        var position = bits.position
        var mean = firstMean
        // 1 after a run of zeros: the next number is not 0.
        var offset: UInt32 = 0
        var index = 0
        let runMask = 1 &<< mostBits &- 1
        while index < count {
            guard position <= end else { return false }
            let size = min(31 &- UInt32(truncatingIfNeeded: (mean &>> 9 &+ 3).leadingZeroBitCount), mostBits)
            let code = Self.code(bytes, &position, size: size, factor: 1 &<< size &- 1, width: width)
            let number = code &+ offset
            // The lowest bit is the sign.
            target[index] = Int32(bitPattern: number &>> 1 ^ (0 &- number & 1))
            index &+= 1
            mean =
                code > Self.largestMean
                ? Self.largestMean : meanFactor &* number &+ mean &- (meanFactor &* mean) &>> 9
            offset = 0
            if mean < Self.runMean, index < count {
                guard position <= end else { return false }
                let size = UInt32(truncatingIfNeeded: mean.leadingZeroBitCount) &- 24 &+ (mean &+ 16) &>> 6
                let run = Self.code(
                    bytes, &position, size: size, factor: (1 &<< size &- 1) & runMask, width: Self.runBits)
                guard run <= UInt32(truncatingIfNeeded: count &- index) else { return false }
                let next = index &+ Int(run)
                while index < next {
                    target[index] = 0
                    index &+= 1
                }
                offset = run < Self.longestRun ? 1 : 0
                mean = 0
            }
        }
        bits.position = position
        return position <= end
    }

    /// One code. It takes 41 bits at most.
    /// - Parameters:
    ///   - size: 1 to 31.
    ///   - width: of a number after nine ones.
    @inline(__always)
    private static func code(
        _ bytes: UnsafeRawPointer, _ position: inout Int, size: UInt32, factor: UInt32, width: Int
    ) -> UInt32 {
        let window = ALACBits.window(bytes, position)
        let ones = (~window).leadingZeroBitCount
        if ones >= mostOnes {
            position &+= mostOnes &+ width
            return UInt32(truncatingIfNeeded: (window &<< UInt64(mostOnes)) &>> UInt64(64 &- width))
        }
        let rest = UInt32(truncatingIfNeeded: (window &<< UInt64(ones &+ 1)) &>> UInt64(64 &- size))
        position &+= ones &+ Int(size)
        let upper = UInt32(truncatingIfNeeded: ones) &* factor
        // 0 and 1 have one bit less.
        if rest < 2 { return upper }
        position &+= 1
        return upper &+ rest &- 1
    }
}
