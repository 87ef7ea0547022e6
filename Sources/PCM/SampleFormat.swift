/// The supported sample formats of devices, all little-endian and signed, in the order of preference: the widest
/// samples first, subframes last.
public enum SampleFormat: UInt8, CaseIterable, Equatable, Sendable, BitwiseCopyable {
    /// 32 bits in 4 bytes.
    case s32
    /// 24 bits, right-justified in 4 bytes.
    case s24
    /// 24 bits in 3 bytes.
    case s24Packed
    /// 16 bits in 2 bytes.
    case s16
    /// Subframes of IEC 60958 with 24 bits each, in 4 bytes, for HDMI.
    case iec958Subframe

    /// Bytes that one sample takes.
    public var byteCount: Int {
        switch self {
        case .s32, .s24, .iec958Subframe: 4
        case .s24Packed: 3
        case .s16: 2
        }
    }

    /// The significant bits of a sample in this format.
    public var bitDepth: Int {
        switch self {
        case .s32: 32
        case .s24, .s24Packed, .iec958Subframe: 24
        case .s16: 16
        }
    }

    /// Whether samples of DSD over PCM reach a converter in this format. Receivers of HDMI take none.
    public var carriesDSD: Bool {
        switch self {
        case .s32, .s24, .s24Packed: true
        case .s16, .iec958Subframe: false
        }
    }

    /// ALSA's name, as in `/proc/asound/…/hw_params`.
    public var name: StaticString {
        switch self {
        case .s32: "S32_LE"
        case .s24: "S24_LE"
        case .s24Packed: "S24_3LE"
        case .s16: "S16_LE"
        case .iec958Subframe: "IEC958_SUBFRAME_LE"
        }
    }
}
