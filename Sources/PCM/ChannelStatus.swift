/// The channel status of IEC 60958-3 that accompanies PCM: a bit in each frame, 192 frames a block.
///
/// Consumer format, no copy protection, category "PCM coder, original", 24 bits, and the sample rate. alsa-lib's
/// `iec958` plug-in sends the same with the settings of its `vc4-hdmi.conf`.
public struct ChannelStatus: Equatable, Sendable, BitwiseCopyable {
    /// Frames of a block.
    static let blockFrames = 192
    /// Bytes that may differ from zero, of 24.
    public static let byteCount = 5

    /// The first bytes, the first one lowest.
    private let bits: UInt64

    /// - Parameter sampleRate: the rate in Hz. One without a code is sent as "not indicated".
    public init(sampleRate: Int) {
        let rate: UInt64 =
            switch sampleRate {
            case 22_050: 0x4
            case 24_000: 0x6
            case 32_000: 0x3
            case 44_100: 0x0
            case 48_000: 0x2
            case 88_200: 0x8
            case 96_000: 0xa
            case 176_400: 0xc
            case 192_000: 0xe
            case 768_000: 0x9
            default: 0x1
            }
        bits = 0x04 | 0x82 &<< 8 | rate &<< 24 | 0x0b &<< 32
    }

    public func byte(_ index: Int) -> UInt8 {
        index < Self.byteCount ? UInt8(truncatingIfNeeded: bits &>> UInt64(8 * index)) : 0
    }

    /// The bit that the frame with this number in the block carries.
    func bit(_ frame: Int) -> UInt32 { UInt32(byte(frame / 8) &>> UInt8(frame % 8) & 1) }
}
