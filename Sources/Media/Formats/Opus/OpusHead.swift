import COpus
import PCM

/// The identification header of Opus, as Ogg and Matroska have it (RFC 7845, 5.1).
struct OpusHead {
    /// Opus is always decoded at this rate.
    static let sampleRate = 48_000
    /// Frames that are decoded before one that is played. The standard's 80 ms are enough to hear no difference; after
    /// 960 ms none was left in 24 bits.
    static let preroll: Int64 = 61_440
    /// The same for packets with SILK, which predicts from what it has decoded over several periods of a voice.
    static let speechPreroll: Int64 = 192_000
    /// Frames of the longest packet: 120 ms.
    static let longestPacket = 5760

    let format: PCMFormat
    /// Frames at the start that are not played.
    let preSkip: Int
    /// The gain in 1/256 dB, for all output.
    let gain: Int
    let streamCount: Int
    /// Streams with two channels, which are the first ones.
    let coupledCount: Int
    /// The decoded channel for each channel of the output; 255 for silence.
    let mapping: [UInt8]

    /// - Parameter packet: begins with `OpusHead`.
    init(_ packet: [UInt8]) throws(Interruption) {
        var reader = ByteReader(packet)
        reader.skip(8)
        guard let version = reader.littleEndian(UInt8.self), let channels = reader.littleEndian(UInt8.self),
            let preSkip = reader.littleEndian(UInt16.self), reader.littleEndian(UInt32.self) != nil,
            let gain = reader.littleEndian(UInt16.self), let family = reader.littleEndian(UInt8.self)
        else { throw Self.damage }
        guard version < 16 else { throw .unsupported(what: "Opus of version \(version >> 4)") }
        guard channels > 0 else { throw Self.damage }
        guard family < 2 else { throw .unsupported(what: "Opus with the channel mapping family \(family)") }
        let count = Int(channels)
        if family == 0 {
            guard count <= 2 else { throw Self.damage }
            (streamCount, coupledCount, mapping) = (1, count - 1, Array([0, 1].prefix(count)))
        } else {
            guard AudioLimits.channelCounts ~= count else { throw .unsupported(what: "Opus with \(count) channels") }
            guard let streams = reader.littleEndian(UInt8.self), let coupled = reader.littleEndian(UInt8.self),
                let mapping = reader.bytes(count), streams > 0, coupled <= streams, Int(streams) + Int(coupled) <= 255,
                mapping.allSatisfy({ $0 == 255 || Int($0) < Int(streams) + Int(coupled) })
            else { throw Self.damage }
            (streamCount, coupledCount, self.mapping) = (Int(streams), Int(coupled), Array(mapping))
        }
        format = PCMFormat(sampleRate: Self.sampleRate, channelCount: count, bitDepth: 24)
        self.preSkip = Int(preSkip)
        self.gain = Int(Int16(bitPattern: gain))
    }

    /// - Parameter box: the content of a box `dOps`: the same fields with the highest byte first ("Encapsulation of
    ///   Opus in ISO Base Media File Format", 4.3.2).
    init(box: [UInt8]) throws(Interruption) {
        guard box.count > 10 else { throw Self.damage }
        guard box[0] == 0 else { throw .unsupported(what: "MP4 with Opus of version \(box[0])") }
        let fields = [1, box[1], box[3], box[2], box[7], box[6], box[5], box[4], box[9], box[8]]
        try self.init(Array("OpusHead".utf8) + fields + box[10...])
    }

    private static let damage = Interruption.damaged(what: "Opus with a header that is not valid")

    /// Whether a packet has SILK, alone or below CELT (RFC 6716, 3.1).
    static func isSpeech(_ packet: UnsafeRawBufferPointer) -> Bool { packet.first.map { $0 < 0x80 } ?? false }

    /// Frames that a packet decodes to; 0 for a damaged one.
    static func frameCount(of packet: UnsafeRawBufferPointer) -> Int {
        guard let bytes = packet.bindMemory(to: UInt8.self).baseAddress, packet.count > 0 else { return 0 }
        let count = Int(opus_packet_get_nb_samples(bytes, opus_int32(packet.count), opus_int32(sampleRate)))
        return 0...longestPacket ~= count ? count : 0
    }
}
