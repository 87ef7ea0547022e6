/// The layout of samples by the code that AIFF-C and QuickTime have for it.
struct AppleSampleCode {
    /// The layout; nil when samples of this many bits are not supported.
    let layout: SampleLayout?

    /// - Parameter bits: of a sample, for codes that do not contain it.
    /// - Returns: nil for any other codec.
    init?(_ code: FourCharacterCode, bits: Int) {
        switch code {
        case "NONE", "twos": layout = Self.integer(bits, isBigEndian: true)
        case "sowt": layout = Self.integer(bits, isBigEndian: false)
        case "raw ": layout = bits <= 8 ? Self.integer(bits, isBigEndian: true, isUnsigned: true) : nil
        case "in24": layout = Self.integer(24, isBigEndian: true)
        case "in32": layout = Self.integer(32, isBigEndian: true)
        case "42ni": layout = Self.integer(24, isBigEndian: false)
        case "23ni": layout = Self.integer(32, isBigEndian: false)
        case "fl32", "FL32": layout = .float(bits: 32, isBigEndian: true)
        case "fl64", "FL64": layout = .float(bits: 64, isBigEndian: true)
        case "alaw", "ALAW": layout = .aLaw
        case "ulaw", "ULAW": layout = .muLaw
        default: return nil
        }
    }

    private static func integer(_ bits: Int, isBigEndian: Bool, isUnsigned: Bool = false) -> SampleLayout? {
        guard AudioLimits.bitDepths ~= bits else { return nil }
        return SampleLayout(
            byteCount: (bits + 7) / 8, bitDepth: bits, isBigEndian: isBigEndian, isUnsigned: isUnsigned)
    }
}
