/// Converts frames to another channel count, according to a `ChannelAdaptation`. Sums have 64 bits and are rounded once
/// to nearest (ties towards +∞). A copied channel stays bit for bit the same.
///
/// Thread: one at a time. Does not allocate after `init`.
public final class ChannelMixer {
    public let adaptation: ChannelAdaptation

    private let factors: UnsafeMutablePointer<Int32>
    private let sourceCount: Int
    private let deviceCount: Int

    public init(_ adaptation: ChannelAdaptation) {
        let matrix = ChannelMatrix(
            from: adaptation.sourceChannelCount, to: adaptation.deviceChannelCount, adaptation.routing,
            layout: adaptation.layout)
        self.adaptation = adaptation
        sourceCount = matrix.sourceCount
        deviceCount = matrix.deviceCount
        factors = .allocate(capacity: matrix.factors.count)
        for (index, factor) in matrix.factors.enumerated() { (factors + index).initialize(to: factor) }
    }

    deinit { factors.deallocate() }

    /// Bits of a sample that carry signal after mixing a source with `bitDepth` bits.
    public func bitDepth(of bitDepth: Int) -> Int { adaptation.kind == .mixed ? 32 : bitDepth }

    /// - Parameters:
    ///   - source: `frames` frames of the audio.
    ///   - target: room for as many of the device.
    @_optimize(speed)
    public func mix(_ source: UnsafePointer<Int32>, frames: Int, to target: UnsafeMutablePointer<Int32>) {
        if sourceCount == 1, deviceCount == 2 {
            for frame in 0..<frames {
                target[2 &* frame] = source[frame]
                target[2 &* frame &+ 1] = source[frame]
            }
            return
        }
        var next = target
        for frame in 0..<frames {
            let samples = source + frame &* sourceCount
            var factor = UnsafePointer(factors)
            for _ in 0..<deviceCount {
                var sum = Int64(1) &<< Int64(ChannelMatrix.fractionBits &- 1)
                for channel in 0..<sourceCount { sum &+= Int64(samples[channel]) &* Int64(factor[channel]) }
                next.pointee = Int32(truncatingIfNeeded: sum &>> Int64(ChannelMatrix.fractionBits))
                next += 1
                factor += sourceCount
            }
        }
    }
}
