import PCM

extension AudioProperties.Codec {
    /// MPEG audio of layer III.
    public static var mp3: Self { Self(6, "mp3", .padded) }
    /// MPEG audio of layer II.
    public static var mp2: Self { Self(7, "mp2", .padded) }
}

/// MPEG audio of layers II and III, by libmpg123: a packet is one frame of MPEG.
final class MP3Codec: Codec {
    private let packets: any TimedPacketSource
    private var library: MPG123Library
    private var reservoir = MainDataReservoir()
    /// The header of the frames before; nil when the decoder has none.
    private var stream: MPEGAudioHeader?
    private var samples: PacketSamples

    /// Samples that a decoder's filters add in front.
    static let delay: Int64 = 529
    /// Lossy audio has no bits that are exact, as for AAC.
    static let bitDepth = 24
    /// The decoder's filter uses its whole buffer once in so many frames of MPEG. A decoder that starts at a multiple
    /// of them rounds each sum like one that started at the beginning. Others do not.
    static let phases: UInt8 = 8

    init(_ packets: any TimedPacketSource, _ format: PCMFormat) throws(Interruption) {
        self.packets = packets
        samples = PacketSamples(format)
        library = try MPG123Library()
    }

    var damage: DamageReport { samples.damage }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
        try samples.read(into: buffer, from: packets) { packet, samples in
            guard !decode(packet, into: &samples) else { return }
            samples.lose(packet.duration ?? 0)
            // The main data of the frames before is missing after a gap, so the decoder restarts.
            stream = nil
        }
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        samples.drop()
        stream = nil
        return try packets.seek(toFrame: frame)
    }

    /// - Returns: false for a packet that is damaged.
    private func decode(_ packet: Packet, into samples: inout PacketSamples) -> Bool {
        guard let header = Self.header(packet.bytes) else { return false }
        if stream?.isSameStream(as: header) != true {
            library.reset(freeSize: header.isFreeFormat ? packet.bytes.count - (header.isPadded ? 1 : 0) : nil)
            reservoir.reset()
            stream = header
        }
        guard let decoded = library.decode(reservoir.playable(packet.bytes, header)),
            decoded.count == header.frameCount * header.channelCount
        else { return false }
        let target = samples.replace(
            frameCount: header.frameCount, sampleRate: header.sampleRate, channelCount: header.channelCount)
        guard let source = decoded.baseAddress, let start = target.baseAddress else { return false }
        FloatSamples.leftJustify(source, count: decoded.count, to: start)
        samples.trim(packet.trim)
        return true
    }

    static func header(_ bytes: UnsafeRawBufferPointer) -> MPEGAudioHeader? {
        guard bytes.count >= MPEGAudioHeader.size else { return nil }
        return MPEGAudioHeader(bytes[..<MPEGAudioHeader.size].reduce(0) { $0 << 8 | UInt32($1) })
    }
}
