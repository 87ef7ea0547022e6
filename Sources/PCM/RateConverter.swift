import CSoxr

/// Converts the sample rate of interleaved frames through libsoxr. Closing is its end; it cannot be copied.
///
/// The output begins with the frame that is heard at the same time as the first frame of the input. It has as many
/// frames as the input lasts, rounded to a whole frame. Input and output are left-justified `Int32`. The conversion
/// computes in double precision, and rounds and saturates once.
///
///     var converter = try RateConverter(from: 96_000, to: 48_000, channelCount: 2)
///     let (consumed, produced) = converter.convert(input, into: output)      // in frames
///     let rest = converter.finish(into: output)                              // until it is 0
///
/// Thread: any one at a time; it allocates.
public struct RateConverter: ~Copyable {
    private let handle: soxr_t
    private let channelCount: Int

    /// - Parameters:
    ///   - source: the rate in Hz.
    ///   - target: the rate in Hz.
    public init(
        from source: Int, to target: Int, channelCount: Int, quality: RateQuality = .veryHigh
    ) throws(OutOfMemory) {
        let recipe: Int32
        switch quality {
        case .high: recipe = SOXR_HQ
        case .veryHigh: recipe = SOXR_VHQ
        }
        // The shipped build of the library has only double precision; other builds would use less for `high`.
        let precision = UInt(SOXR_DOUBLE_PRECISION)
        var (types, recipes) = (soxr_io_spec(SOXR_INT32_I, SOXR_INT32_I), soxr_quality_spec(UInt(recipe), precision))
        // The conversion runs on the calling thread.
        var runtime = soxr_runtime_spec(1)
        guard
            let handle = soxr_create(
                Double(source), Double(target), UInt32(channelCount), nil, &types, &recipes, &runtime)
        else { throw OutOfMemory(byteCount: Self.usualSize) }
        self.handle = handle
        self.channelCount = channelCount
    }

    deinit { soxr_delete(handle) }

    /// The usual memory of a converter, in bytes: libsoxr does not report it.
    private static let usualSize: Int64 = 1 << 20

    /// Takes input frames, and writes the output frames that they suffice for.
    /// - Returns: how many frames were taken and written; one of them is not 0 while both buffers have room.
    public mutating func convert(
        _ input: UnsafeBufferPointer<Int32>, into output: UnsafeMutableBufferPointer<Int32>
    ) -> (consumed: Int, produced: Int) {
        var (consumed, produced) = (0, 0)
        soxr_process(
            handle, input.baseAddress, input.count / channelCount, &consumed, output.baseAddress,
            output.count / channelCount, &produced)
        return (consumed, produced)
    }

    /// The frames after the last one of the input.
    /// - Returns: 0 at their end.
    public mutating func finish(into output: UnsafeMutableBufferPointer<Int32>) -> Int {
        var produced = 0
        soxr_process(handle, nil, 0, nil, output.baseAddress, output.count / channelCount, &produced)
        return produced
    }

    /// Drops all frames.
    public mutating func reset() { soxr_clear(handle) }
}

/// The quality of a conversion of the sample rate.
public enum RateQuality: Equatable, Sendable, BitwiseCopyable {
    /// Exact to 20 bits.
    case high
    /// Exact to 28 bits.
    case veryHigh
}
