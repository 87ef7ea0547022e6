import PCM

/// DSD in packets of one byte of each channel in turn, as words of 16 bits: no bit changes.
final class DSDWordCodec: Codec {
    var damage: DamageReport { lost.scaled(by: 2) }
    let silence = Int32(DSDWindow.silence) << 24 | Int32(DSDWindow.silence) << 16

    private let packets: any TimedPacketSource
    private let channelCount: Int
    /// The damage in the packets that were read here, in bytes. Another codec may read the same packets.
    private var lost = DamageReport()
    /// The unread part of the last packet.
    private var rest = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The first byte of a word of each channel, where its second one is in the next packet.
    private var halves: [UInt8]
    private var hasHalves = false

    init(_ packets: any TimedPacketSource, channelCount: Int) {
        self.packets = packets
        self.channelCount = channelCount
        halves = [UInt8](repeating: 0, count: channelCount)
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
        guard let target = buffer.baseAddress, buffer.count >= channelCount else { return .end }
        while true {
            let count = take(buffer.count / channelCount, into: target)
            if count > 0 { return .frames(count) }
            keepHalves()
            let former = packets.damage
            let packet = try packets.nextPacket()
            lost.add(packets.damage, since: former)
            guard let packet else {
                guard hasHalves else { return .end }
                // The file ends inside of a word.
                for channel in 0..<channelCount { target[channel] = word(halves[channel], DoPPacker.idleByte) }
                hasHalves = false
                return .frames(1)
            }
            rest = packet.bytes
        }
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        rest = UnsafeRawBufferPointer(start: nil, count: 0)
        hasHalves = false
        let wanted = min(max(0, frame), AudioLimits.largestData)
        _ = try packets.seek(toFrame: 2 * wanted)
        return wanted
    }

    /// Takes up to `room` frames out of the packet.
    private func take(_ room: Int, into target: UnsafeMutablePointer<Int32>) -> Int {
        var frame = 0
        if hasHalves, rest.count >= channelCount {
            for channel in 0..<channelCount { target[channel] = word(halves[channel], rest[channel]) }
            hasHalves = false
            drop(channelCount)
            frame = 1
        }
        let count = min(room, frame + rest.count / (2 * channelCount))
        let first = frame
        while frame < count {
            let (source, index) = (2 &* (frame &- first) &* channelCount, frame &* channelCount)
            for channel in 0..<channelCount {
                let byte = source &+ channel
                target[index &+ channel] = word(rest[byte], rest[byte &+ channelCount])
            }
            frame &+= 1
        }
        drop(2 * (frame - first) * channelCount)
        return frame
    }

    /// Stores the rest of a packet that is less than a word.
    private func keepHalves() {
        guard rest.count >= channelCount else { return }
        for channel in 0..<channelCount { halves[channel] = rest[channel] }
        hasHalves = true
        drop(rest.count)
    }

    private func drop(_ count: Int) { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }

    private func word(_ first: UInt8, _ second: UInt8) -> Int32 {
        Int32(bitPattern: UInt32(first) << 24 | UInt32(second) << 16)
    }
}
