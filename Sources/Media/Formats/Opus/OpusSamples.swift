/// Opus whose packets a container has found. Each packet contains its number of frames.
final class OpusSamples: TimedPacketSource {
    /// Frames of the first packet; usually all have as many.
    let packetFrameCount: Int
    /// Packets that are decoded before one that is played.
    var preroll: Int64 { (OpusHead.preroll - 1) / Int64(packetFrameCount) + 1 }

    private let packets: any TimedPacketSource
    /// Whether the container counts in frames.
    private let isExact: Bool
    /// Frames that the container has more than the packets since the last seek.
    private var surplus: Int64 = 0

    private static let usualFrameCount = 960

    /// - Parameter packets: at the first packet; moved by the call.
    init(_ packets: any TimedPacketSource, isExact: Bool) throws(Interruption) {
        self.packets = packets
        self.isExact = isExact
        let count = try packets.nextPacket().map { OpusHead.frameCount(of: $0.bytes) } ?? 0
        packetFrameCount = count > 0 ? count : Self.usualFrameCount
    }

    var isCutShort: Bool { packets.isCutShort }

    func nextPacket() throws(Interruption) -> Packet? {
        guard var packet = try packets.nextPacket() else { return nil }
        let known = max(0, packet.duration ?? 0)
        let count = Int64(OpusHead.frameCount(of: packet.bytes))
        guard count > 0 else {
            // The codec replaces it by silence.
            packet.duration = min(known, Int64(OpusHead.longestPacket))
            return packet
        }
        // A duration that is shorter than the packet cuts its end, unless earlier durations were longer.
        surplus += known - count
        if isExact, known < count, surplus < 0 {
            packet.trim.trailing = Int(min(count - known, -surplus))
            surplus = 0
        }
        packet.duration = count
        return packet
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        surplus = 0
        return try packets.seek(toFrame: frame)
    }
}
