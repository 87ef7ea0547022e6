import PCM

/// DSD in packets of one byte of each channel in turn, as PCM.
final class DSDCodec: Codec {
    var damage: DamageReport { lost.scaled(by: Int64(DSDFilter.step)) }
    let dsdWords: TrackDecoder?

    private let packets: any TimedPacketSource
    /// The damage in the packets that were read here, in bytes. Another codec may read the same packets.
    private var lost = DamageReport()
    private let filter = DSDFilter()
    private var window: DSDWindow
    /// The number of the next frame.
    private var frame: Int64 = 0

    /// - Parameter words: the decoder of the same packets that returns words.
    init(_ packets: any TimedPacketSource, channelCount: Int, words: TrackDecoder) {
        self.packets = packets
        dsdWords = words
        window = DSDWindow(channelCount: channelCount)
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
        while true {
            let count = min(window.frames(from: frame), buffer.count / window.channelCount)
            if count > 0, let target = buffer.baseAddress {
                decimate(count, into: target)
                return .frames(count)
            }
            if window.end != nil { return .end }
            let former = packets.damage
            let packet = try packets.nextPacket()
            lost.add(packets.damage, since: former)
            if let packet {
                window.drop(before: frame)
                window.append(packet.bytes)
            } else {
                window.finish()
            }
        }
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        let wanted = min(max(0, frame), AudioLimits.largestData)
        let first = max(0, wanted * Int64(DSDFilter.step) - Int64(DSDFilter.byteCount / 2))
        window.begin(at: try packets.seek(toFrame: first))
        self.frame = wanted
        return wanted
    }

    private func decimate(_ count: Int, into target: UnsafeMutablePointer<Int32>) {
        let first = Int(frame * Int64(DSDFilter.step) - Int64(DSDFilter.byteCount / 2) - window.start)
        for channel in 0..<window.channelCount {
            filter.decimate(
                window.bytes(of: channel) + first, count: count, into: target + channel, stride: window.channelCount)
        }
        frame += Int64(count)
    }
}
