import PCM

/// ALAC in packets of a container, by a decoder of our own (docs/decisions/alac.md).
final class ALACCodec: Codec {
    private(set) var damage = DamageReport()

    private let packets: any TimedPacketSource
    private let config: ALACConfig
    private var decoder: ALACDecoder
    private var kept = SampleStore()
    /// Silent frames that replace a packet that cannot be decoded.
    private var pendingSilence: Int64 = 0

    init(_ packets: any TimedPacketSource, _ config: ALACConfig) {
        self.packets = packets
        self.config = config
        decoder = ALACDecoder(config)
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
        while true {
            if let run = takePending(into: buffer) { return run }
            guard let packet = try packets.nextPacket() else { return .end }
            decode(packet)
        }
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        kept.drop(.max)
        pendingSilence = 0
        return try packets.seek(toFrame: frame)
    }

    private func takePending(into buffer: UnsafeMutableBufferPointer<Int32>) -> CodecRun? {
        let channelCount = config.format.channelCount
        if pendingSilence > 0 {
            let count = Int(min(pendingSilence, Int64(buffer.count / channelCount)))
            buffer[..<(count * channelCount)].update(repeating: 0)
            pendingSilence -= Int64(count)
            damage.silencedFrames += Int64(count)
            return .frames(count)
        }
        guard kept.count > 0 else { return nil }
        let taken = kept.take(buffer.count / channelCount * channelCount, into: buffer)
        return .frames(taken / channelCount)
    }

    private func decode(_ packet: Packet) {
        let channelCount = config.format.channelCount
        let room = config.frameCount * channelCount
        guard let target = kept.replace(count: room).baseAddress,
            let count = decoder.decode(packet.bytes, into: target)
        else {
            kept.drop(.max)
            damage.incidents += 1
            pendingSilence = min(max(0, packet.duration ?? 0), Int64(config.frameCount))
            return
        }
        kept.dropLast(room - count * channelCount)
        kept.drop(max(0, packet.trim.leading) * channelCount)
        kept.dropLast(max(0, packet.trim.trailing) * channelCount)
    }
}
