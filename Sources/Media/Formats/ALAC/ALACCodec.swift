extension AudioProperties.Codec {
    public static var alac: Self { Self(1, "alac", .lossless) }
}

/// ALAC in packets of a container, by a decoder of our own (docs/decisions/alac.md).
final class ALACCodec: Codec {
    private let packets: any TimedPacketSource
    private let frameCount: Int
    private var decoder: ALACDecoder
    private var samples: PacketSamples

    init(_ packets: any TimedPacketSource, _ config: ALACConfig) {
        self.packets = packets
        frameCount = config.frameCount
        decoder = ALACDecoder(config)
        samples = PacketSamples(config.format)
    }

    var damage: DamageReport { samples.damage }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
        try samples.read(into: buffer, from: packets) { packet, samples in
            guard let target = samples.replace(frameCount: frameCount).baseAddress,
                let count = decoder.decode(packet.bytes, into: target)
            else { return samples.lose(min(packet.duration ?? 0, Int64(frameCount))) }
            samples.trim(PacketTrim(trailing: frameCount - count))
            samples.trim(packet.trim)
        }
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        samples.drop()
        return try packets.seek(toFrame: frame)
    }
}
