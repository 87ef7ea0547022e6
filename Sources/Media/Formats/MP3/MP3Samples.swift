import PCM

/// MPEG audio whose frames a container has found: one frame of MPEG in each of its samples.
final class MP3Samples: TimedPacketSource {
    let format: PCMFormat
    let codec: AudioProperties.Codec
    /// Frames of sound in a packet.
    let packetFrameCount: Int

    private let packets: any TimedPacketSource

    /// The most samples that are searched for the first header.
    private static let testedPackets = 16
    /// Frames of MPEG that are decoded before one that is played.
    private static let preroll: Int64 = 32

    /// - Parameter packets: at the first packet; moved by the call.
    init(_ packets: any TimedPacketSource) throws(Interruption) {
        self.packets = packets
        var found: MPEGAudioHeader?
        for _ in 0..<Self.testedPackets where found == nil {
            guard let packet = try packets.nextPacket() else { break }
            found = MP3Codec.header(packet.bytes)
        }
        guard let found else { throw .damaged(what: "MP3 that does not begin with a frame") }
        format = PCMFormat(
            sampleRate: found.sampleRate, channelCount: found.channelCount, bitDepth: MP3Codec.bitDepth)
        codec = found.layer == 3 ? .mp3 : .mp2
        packetFrameCount = found.frameCount
    }

    var isCutShort: Bool { packets.isCutShort }

    func nextPacket() throws(Interruption) -> Packet? {
        guard var packet = try packets.nextPacket() else { return nil }
        guard let header = MP3Codec.header(packet.bytes),
            let size = header.byteCount(freeSize: packet.bytes.count - (header.isPadded ? 1 : 0)),
            size <= packet.bytes.count
        else {
            // The codec replaces it by silence.
            packet.bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            return packet
        }
        packet.bytes = UnsafeRawBufferPointer(rebasing: packet.bytes[..<size])
        return packet
    }

    /// A decoder starts at a multiple of `MP3Codec.phases`, so that it rounds like one that started at the beginning.
    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        let phases = Int64(MP3Codec.phases)
        let packet = max(0, frame / Int64(packetFrameCount) - Self.preroll) / phases * phases
        let start = try packets.seek(toFrame: packet * Int64(packetFrameCount))
        // Nothing has to be dropped at the end.
        return min(start, frame)
    }
}
