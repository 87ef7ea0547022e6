/// PCM: a packet already contains frames.
final class PCMCodec: Codec {
    let damage = DamageReport()

    private let packets: any TimedPacketSource
    private let layout: SampleLayout
    private let channelCount: Int
    /// The unread part of the last packet.
    private var rest = UnsafeRawBufferPointer(start: nil, count: 0)

    init(_ packets: any TimedPacketSource, _ layout: SampleLayout, channelCount: Int) {
        self.packets = packets
        self.layout = layout
        self.channelCount = channelCount
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
        let bytesPerFrame = layout.byteCount * channelCount
        // A packet may end inside of a frame, in a damaged file.
        while rest.count < bytesPerFrame {
            guard let packet = try packets.nextPacket() else { return .end }
            let skipped = max(0, packet.trim.leading) * bytesPerFrame
            let size = packet.bytes.count - max(0, packet.trim.trailing) * bytesPerFrame
            rest = UnsafeRawBufferPointer(rebasing: packet.bytes[min(skipped, max(0, size))..<max(0, size)])
        }
        let frames = min(rest.count / bytesPerFrame, buffer.count / channelCount)
        guard frames > 0, let bytes = rest.baseAddress, let target = buffer.baseAddress else { return .end }
        layout.unpack(
            bytes.assumingMemoryBound(to: UInt8.self), sampleCount: frames * channelCount, into: target)
        rest = UnsafeRawBufferPointer(rebasing: rest[(frames * bytesPerFrame)...])
        return .frames(frames)
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        rest = UnsafeRawBufferPointer(start: nil, count: 0)
        return try packets.seek(toFrame: frame)
    }
}
