import PCM

/// MPEG audio of layers II and III, by libmpg123: a packet is one frame of MPEG.
final class MP3Codec: Codec {
    private(set) var damage = DamageReport()

    private let packets: any TimedPacketSource
    private var library: MPG123Library
    private var reservoir = MainDataReservoir()
    /// Of the frames before; nil when the decoder has none.
    private var stream: MPEGAudioHeader?
    private var format: PCMFormat
    /// Of the samples in `kept`.
    private var pendingFormat: PCMFormat
    private var kept = SampleStore()
    /// Silent frames that replace those that cannot be decoded.
    private var pendingSilence: Int64 = 0

    init(_ packets: any TimedPacketSource, _ format: PCMFormat) throws(Interruption) {
        self.packets = packets
        self.format = format
        pendingFormat = format
        library = try MPG123Library()
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
        stream = nil
        return try packets.seek(toFrame: frame)
    }

    private func takePending(into buffer: UnsafeMutableBufferPointer<Int32>) -> CodecRun? {
        if pendingSilence > 0 {
            let count = Int(min(pendingSilence, Int64(buffer.count / format.channelCount)))
            buffer[..<(count * format.channelCount)].update(repeating: 0)
            pendingSilence -= Int64(count)
            damage.silencedFrames += Int64(count)
            return .frames(count)
        }
        guard kept.count > 0 else { return nil }
        if pendingFormat != format {
            format = pendingFormat
            return .format(format)
        }
        let taken = kept.take(buffer.count / format.channelCount * format.channelCount, into: buffer)
        return .frames(taken / format.channelCount)
    }

    private func decode(_ packet: Packet) {
        guard let header = Self.header(packet.bytes) else { return replace(packet) }
        if stream?.isSameStream(as: header) != true {
            library.reset(freeSize: header.isFreeFormat ? packet.bytes.count - (header.isPadded ? 1 : 0) : nil)
            reservoir.reset()
            stream = header
        }
        guard let samples = library.decode(reservoir.playable(packet.bytes, header)),
            samples.count == header.frameCount * header.channelCount
        else { return replace(packet) }
        pendingFormat = PCMFormat(
            sampleRate: header.sampleRate, channelCount: header.channelCount, bitDepth: format.bitDepth)
        let target = kept.replace(count: samples.count)
        for index in 0..<samples.count { target[index] = FloatSamples.leftJustified(samples[index]) }
        kept.drop(max(0, packet.trim.leading) * header.channelCount)
        kept.dropLast(max(0, packet.trim.trailing) * header.channelCount)
    }

    /// Main data of the frames before is missing behind a gap, so the decoder starts anew.
    private func replace(_ packet: Packet) {
        damage.incidents += 1
        pendingSilence = packet.duration ?? 0
        stream = nil
    }

    static func header(_ bytes: UnsafeRawBufferPointer) -> MPEGAudioHeader? {
        guard bytes.count >= MPEGAudioHeader.size else { return nil }
        return MPEGAudioHeader(bytes[..<MPEGAudioHeader.size].reduce(0) { $0 << 8 | UInt32($1) })
    }
}
