/// The format of decoded audio, in a decoder, a ring and a device.
///
/// Samples are left-justified `Int32`, interleaved by frame, for every bit depth of the source. A sample may also be a
/// word of DSD: 16 bits of one channel, the oldest at the top (docs/decisions/dsd-over-pcm.md).
public struct PCMFormat: Equatable, Sendable, BitwiseCopyable {
    /// Frames per second, in Hz.
    public var sampleRate: Int
    /// Samples per frame, 1 to 8.
    public var channelCount: Int
    /// Significant bits of a sample, 4 to 32; the bits below them are zero.
    public var bitDepth: Int
    /// Whether samples are words of DSD, which no step may scale, mix, convert or fade.
    public var isDSD: Bool

    public init(sampleRate: Int, channelCount: Int, bitDepth: Int, isDSD: Bool = false) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.bitDepth = bitDepth
        self.isDSD = isDSD
    }

    /// The format of words of DSD.
    /// - Parameter bitRate: bits of one channel in a second.
    public static func dsd(bitRate: Int, channelCount: Int) -> PCMFormat {
        PCMFormat(
            sampleRate: bitRate / DoPPacker.wordBits, channelCount: channelCount, bitDepth: DoPPacker.wordBits,
            isDSD: true)
    }

    /// The samples of a channel in a second, as a listener knows them: for DSD its bits.
    public var recordedRate: Int { isDSD ? sampleRate * DoPPacker.wordBits : sampleRate }
    /// The bits of such a sample.
    public var recordedDepth: Int { isDSD ? 1 : bitDepth }
}
