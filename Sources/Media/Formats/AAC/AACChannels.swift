/// The channels of AAC: how many there are, and in which order they are played.
enum AACChannels {
    /// The most channels: seven, and the one of low frequencies.
    static let most = 8

    /// - Parameter configuration: 1 to 15 (ISO/IEC 14496-3, table 1.19).
    static func count(ofConfiguration configuration: UInt32) throws(Interruption) -> Int {
        switch configuration {
        case 1, 2, 3, 5, 6: return Int(configuration)
        // Three channels in front and one in the back: no other format has this order, and the mixer does not know it.
        case 4: throw .unsupported(what: "AAC with three channels in front and one behind")
        case 7, 12: return 8
        case 11: return 7
        // Two of them are above the listener.
        case 14: throw .unsupported(what: "AAC with channels at the ceiling")
        default: throw .unsupported(what: "AAC with the channel configuration \(configuration)")
        }
    }

    static func checked(_ count: Int) throws(Interruption) -> Int {
        guard 1...most ~= count else { throw .unsupported(what: "AAC with \(count) channels") }
        return count
    }

    /// Reads a program configuration to its end (ISO/IEC 14496-3, 4.4.1.1).
    /// - Returns: the number of its channels, and the bit at which its comment begins; nil when it is cut off.
    static func count(inProgramConfig reader: inout BitReader) -> (channels: Int, end: Int)? {
        guard reader.skip(4 + 2 + 4), let front = reader.bits(4), let side = reader.bits(4), let back = reader.bits(4),
            let lowFrequency = reader.bits(2), let data = reader.bits(3), let coupling = reader.bits(4)
        else { return nil }
        // Skips the fields for mixing down to one or to two channels.
        for size in [4, 4, 3] {
            guard let isPresent = reader.flag(), !isPresent || reader.skip(size) else { return nil }
        }
        var count = Int(lowFrequency)
        for _ in 0..<(front + side + back) {
            guard let isPair = reader.flag(), reader.skip(4) else { return nil }
            count += isPair ? 2 : 1
        }
        guard reader.skip(4 * Int(lowFrequency + data) + 5 * Int(coupling)) else { return nil }
        let end = reader.position
        reader.alignToByte()
        guard let comment = reader.bits(8), reader.skip(8 * Int(comment)) else { return nil }
        return (count, end)
    }
}
