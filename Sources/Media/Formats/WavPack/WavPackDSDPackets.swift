/// The DSD in packets of WavPack as those of DSF: one byte of each channel in turn, the oldest bit at the top. Packets
/// that are missing or damaged become silence.
///
/// Thread: only the decoder thread.
final class WavPackDSDPackets: TimedPacketSource {
    private(set) var damage = DamageReport()

    private let packets: any TimedPacketSource
    private let setup: WavPackSetup
    private var memory: UnsafeMutableBufferPointer<Int32>
    /// Bytes of each channel, of a lost packet.
    private var silence: Int64 = 0
    /// Bytes of each channel before the target of a seek.
    private var leading: Int64 = 0
    /// The number of the next byte of a channel.
    private var position: Int64 = 0

    private static let longestSilence = 4096

    /// - Parameter packets: of WavPack, counted in bytes of a channel.
    init(_ packets: any TimedPacketSource, _ setup: WavPackSetup) {
        self.packets = packets
        self.setup = setup
        memory = .allocate(capacity: Self.longestSilence * setup.channelCount)
    }

    deinit { memory.deallocate() }

    var isCutShort: Bool { packets.isCutShort }

    func nextPacket() throws(Interruption) -> Packet? {
        while true {
            if silence > 0 {
                let count = min(silence, Int64(Self.longestSilence))
                silence -= count
                damage.silencedFrames += count
                let bytes = UnsafeMutableRawBufferPointer(memory)
                for index in 0..<(Int(count) * setup.channelCount) { bytes[index] = DSDWindow.silence }
                return packet(UnsafeRawBufferPointer(bytes), from: 0, count: count)
            }
            guard let found = try packets.nextPacket() else { return nil }
            let duration = max(0, found.duration ?? 0)
            let skipped = min(leading, duration)
            leading -= skipped
            if let bytes = decode(found.bytes, duration) {
                if skipped < duration { return packet(bytes, from: skipped, count: duration - skipped) }
            } else {
                damage.incidents += 1
                silence = duration - skipped
            }
        }
    }

    private func packet(_ bytes: UnsafeRawBufferPointer, from first: Int64, count: Int64) -> Packet {
        let start = Int(first) * setup.channelCount
        defer { position += count }
        return Packet(
            bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<(start + Int(count) * setup.channelCount)]),
            timeStamp: position, duration: count)
    }

    /// - Returns: nil for a packet that cannot be decoded.
    private func decode(_ packet: UnsafeRawBufferPointer, _ frameCount: Int64) -> UnsafeRawBufferPointer? {
        guard 1...Int64(WavPackHeader.mostFrames) ~= frameCount, let library = WavPackLibrary(packet) else {
            return nil
        }
        let found = library.setup
        guard found.isDSD, found.channelCount == setup.channelCount else { return nil }
        let count = Int(frameCount) * setup.channelCount
        if count > memory.count {
            memory.deallocate()
            memory = .allocate(capacity: count)
        }
        guard let words = memory.baseAddress, library.unpack(Int(frameCount), into: words) else { return nil }
        let bytes = UnsafeMutableRawPointer(words)
        // Each word is read before the byte that replaces a part of it, or of one before it, is written.
        for index in 0..<count {
            bytes.storeBytes(of: UInt8(truncatingIfNeeded: words[index]), toByteOffset: index, as: UInt8.self)
        }
        return UnsafeRawBufferPointer(start: bytes, count: count)
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        let wanted = max(0, frame)
        let start = try packets.seek(toFrame: wanted)
        silence = 0
        leading = max(0, wanted - start)
        position = start + leading
        return position
    }
}
