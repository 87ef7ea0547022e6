import PCM

/// A decoder that gives samples in floating point, in Vorbis' order of channels: of Vorbis or of Opus.
///
/// Thread: only the decoder thread.
protocol FloatDecoder: AnyObject {
    /// Drops the state that comes from earlier packets.
    func restart()

    /// Frames before one that is played from which on decoding has to begin, beside those of the container, if it would
    /// begin with this packet.
    func preroll(beginningWith packet: UnsafeRawBufferPointer) -> Int64

    /// Decodes a packet.
    /// - Returns: the number of frames; nil when the packet is damaged.
    func decode(_ packet: UnsafeRawBufferPointer) -> Int?

    /// Copies one channel of the last packet, rounded to 24 bits.
    /// - Parameters:
    ///   - frames: of the packet.
    ///   - channel: in Vorbis' order.
    ///   - target: interleaved, with as many frames.
    ///   - start: the first sample of the channel in `target`.
    func copy(_ frames: Range<Int>, channel: Int, to target: UnsafeMutableBufferPointer<Int32>, from start: Int)
}

/// Decodes packets of Vorbis or Opus. Each gives as many frames as its duration; missing ones are silence.
final class FloatPacketCodec: Codec {
    private let packets: any TimedPacketSource
    private let decoder: any FloatDecoder
    private var samples: PacketSamples
    /// Whether the packet before was damaged, so that this one may lack frames.
    private var isBehindDamage = false

    init(_ packets: any TimedPacketSource, _ decoder: any FloatDecoder, _ format: PCMFormat) {
        self.packets = packets
        self.decoder = decoder
        samples = PacketSamples(format)
    }

    var damage: DamageReport { samples.damage }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
        try samples.read(into: buffer, from: packets) { packet, samples in decode(packet, into: &samples) }
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        samples.drop()
        isBehindDamage = false
        let start = try packets.seek(toFrame: frame)
        decoder.restart()
        guard start > 0, let packet = try packets.nextPacket() else { return start }
        let preroll = decoder.preroll(beginningWith: packet.bytes)
        if preroll > 0 { return try packets.seek(toFrame: max(0, frame - preroll)) }
        decode(packet, into: &samples)
        return start
    }

    private func decode(_ packet: Packet, into samples: inout PacketSamples) {
        let duration = max(0, packet.duration ?? 0)
        guard !packet.bytes.isEmpty, let count = decoder.decode(packet.bytes), count <= Int(Int32.max) else {
            samples.lose(duration - Int64(packet.trim.leading + packet.trim.trailing))
            decoder.restart()
            isBehindDamage = true
            return
        }
        // The missing frames come first: the packet before would have contributed to them.
        let missing = max(0, Int(duration) - count)
        if missing > 0, !isBehindDamage { samples.countIncident() }
        isBehindDamage = false
        let first = min(max(0, packet.trim.leading), Int(duration))
        let end = max(first, Int(duration) - max(0, packet.trim.trailing))
        let frames = max(first - missing, 0)..<max(end - missing, max(first - missing, 0))
        let target = samples.replace(frameCount: frames.count, missing: max(0, min(end, missing) - first))
        let channelCount = samples.format.channelCount
        for channel in 0..<channelCount {
            let source = VorbisChannels.source(of: channel, channelCount)
            decoder.copy(frames, channel: source, to: target, from: channel)
        }
    }
}

/// The order of channels of Vorbis, which Opus has, too (Vorbis I, 4.3.9; RFC 7845, 5.1.1.2).
enum VorbisChannels {
    /// The channel of Vorbis that is played as `channel`, in the order of WAV's mask.
    static func source(of channel: Int, _ channelCount: Int) -> Int {
        // 4 bits for each channel, the first one lowest.
        let order: UInt32 =
            switch channelCount {
            case 3: 0x120
            case 5: 0x43120
            case 6: 0x43_5120
            case 7: 0x435_6120
            case 8: 0x4365_7120
            default: 0x7654_3210
            }
        return Int(order >> UInt32(4 * channel) & 0xF)
    }
}
