/// The format of decoded audio, in a decoder, a ring and a device.
///
/// Samples are left-justified `Int32`, interleaved by frame, for every bit depth of the source.
public struct PCMFormat: Equatable, Sendable, BitwiseCopyable {
    /// Frames per second, in Hz.
    public var sampleRate: Int
    /// Samples per frame, 1 to 8.
    public var channelCount: Int
    /// Significant bits of a sample, 4 to 32; the bits below them are zero.
    public var bitDepth: Int

    public init(sampleRate: Int, channelCount: Int, bitDepth: Int) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.bitDepth = bitDepth
    }

    /// Whether audio of `other` can follow on the same open device without a gap. The bit depth does not matter: a
    /// device always runs at the widest sample format it has.
    public func joinsGaplessly(with other: PCMFormat) -> Bool {
        sampleRate == other.sampleRate && channelCount == other.channelCount
    }
}
