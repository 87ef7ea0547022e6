/// The frames that an encoder added before and after the sound (`iTunSMPB`), as iTunes writes them: hexadecimal numbers
/// between blanks.
struct GaplessTag: Equatable {
    /// Frames before the first one of the recording.
    var delay: Int64
    /// Frames of the recording.
    var frameCount: Int64

    /// The longest delay of an encoder: a few packets.
    private static let longestDelay: Int64 = 16_384

    init?(_ text: String) {
        let numbers = text.utf8.split(separator: 0x20)
        guard numbers.count >= 4, let delay = Self.number(numbers[1]), let padding = Self.number(numbers[2]),
            let frameCount = Self.number(numbers[3]), delay <= Self.longestDelay, padding <= Self.longestDelay,
            frameCount > 0, frameCount <= AudioLimits.largestTime
        else { return nil }
        self.delay = delay
        self.frameCount = frameCount
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int64? {
        var value: Int64 = 0
        guard digits.count <= 16 else { return nil }
        for digit in digits {
            let nibble: UInt8
            switch digit {
            case 0x30...0x39: nibble = digit - 0x30
            case 0x41...0x46: nibble = digit - 0x37
            case 0x61...0x66: nibble = digit - 0x57
            default: return nil
            }
            guard value < 1 << 58 else { return nil }
            value = value << 4 | Int64(nibble)
        }
        return value
    }
}
