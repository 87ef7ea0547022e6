/// The channels in a configuration of AAC, after the length of packets (`GASpecificConfig`; ISO/IEC 14496-3,
/// 4.4.1; docs/decisions/aac.md).
///
/// Encoders set its flags wrongly, and libfaad2 does not know every number of channels: then the fields are written
/// again for it.
struct AACProgram {
    let channelCount: Int
    /// Whether the fields have to be written again.
    let isRewritten: Bool
    /// The bit after the fields. A wrong flag may leave it too small.
    let end: Int
    /// The number of the channels' configuration, 0 for `elements`.
    private let configuration: UInt32
    /// The bits of a program configuration, up to its comment.
    private var elements: [UInt32] = []

    /// - Parameters:
    ///   - configuration: 0 to 15.
    ///   - reader: at `dependsOnCoreCoder`; moves to `end`.
    init(_ configuration: UInt32, _ reader: inout BitReader) throws(Interruption) {
        let needsCore = reader.flag() == true
        let start = reader
        if configuration == 0 {
            var found: (count: Int, rest: BitReader, isExtended: Bool?)?
            // The core's delay may be missing.
            for delay in needsCore ? [14, 0] : [0] where found == nil {
                var rest = start
                guard rest.skip(delay) else { continue }
                let isExtended = rest.flag()
                var bits = rest
                guard let (count, end) = AACChannels.count(inProgramConfig: &rest) else { continue }
                found = (count, rest, isExtended)
                while bits.position < end, let bit = bits.bits(1) { elements.append(bit) }
            }
            guard let found else { throw AudioSpecificConfig.isCutOff }
            channelCount = try AACChannels.checked(found.count)
            guard channelCount <= 6 || Self.hasUsualOrder(elements, channelCount) else {
                throw .unsupported(what: "AAC with \(channelCount) channels in an unusual order")
            }
            isRewritten = needsCore || found.isExtended != false
            reader = found.rest
        } else {
            channelCount = try AACChannels.count(ofConfiguration: configuration)
            let isExtended = reader.flag()
            isRewritten = needsCore || isExtended != false || configuration > 7
            if needsCore { reader = start }
            if configuration > 7 { elements = Self.elements(channelCount) }
        }
        self.configuration = elements.isEmpty ? configuration : 0
        end = reader.position
    }

    /// The program configuration of 6.1 or 7.1: one channel and a pair in front, a pair at the sides, one channel or a
    /// pair in the back, and low frequencies. Elements of one kind are numbered from 0 on.
    private static func elements(_ channelCount: Int) -> [UInt32] {
        var bits: [UInt32] = []
        func append(_ value: UInt32, _ count: Int) {
            for place in stride(from: count - 1, through: 0, by: -1) { bits.append(value >> UInt32(place) & 1) }
        }
        // Its number, the type (LC), and the rate, which is that of the configuration.
        for (value, count) in [(0, 4), (1, 2), (3, 4)] as [(UInt32, Int)] { append(value, count) }
        // Numbers of elements: front, side, back, low frequencies, data, coupling. Then three flags of downmixing.
        for (value, count) in [(2, 4), (1, 4), (1, 4), (1, 2), (0, 3), (0, 4), (0, 3)] as [(UInt32, Int)] {
            append(value, count)
        }
        // A pair has its highest bit set.
        for element in [0, 0x10, 0x11, channelCount == 8 ? 0x12 : 1] as [UInt32] { append(element, 5) }
        append(0, 4)
        return bits
    }

    /// Whether the elements are those of the configuration for so many channels. libfaad2 mistakes others, for example
    /// a pair before the single channel in front.
    private static func hasUsualOrder(_ bits: [UInt32], _ channelCount: Int) -> Bool {
        let usual = elements(channelCount)
        guard (7...8).contains(channelCount), bits.count == usual.count else { return false }
        // Numbers of elements and flags of downmixing, then whether each element is a pair.
        let fields = Array(10..<34) + [34, 39, 44, 49]
        return fields.allSatisfy { bits[$0] == usual[$0] }
    }

    /// The configuration without SBR, with the right flags.
    func core(sampleRate: UInt32) -> BitWriter {
        var writer = BitWriter()
        writer.append(AudioSpecificConfig.ObjectType.lowComplexity, 5)
        if let index = AACSampleRate.index(ofRate: sampleRate) {
            writer.append(index, 4)
        } else {
            writer.append(15, 4)
            writer.append(sampleRate, 24)
        }
        writer.append(configuration, 4)
        writer.append(0, 3)
        guard !elements.isEmpty else { return writer }
        for bit in elements { writer.append(bit, 1) }
        writer.alignToByte()
        // No comment.
        writer.append(0, 8)
        return writer
    }
}
