import PCM

/// FLAC in packets of exactly one frame each, as in MP4 and Ogg. STREAMINFO and the times come from the container; the
/// numbers in the frames are ignored.
final class FLACFrameCodec: Codec {
    private(set) var damage = DamageReport()

    private let packets: any TimedPacketSource
    private let input: FLACFrameInput
    private let library: FLACLibrary
    private var format: PCMFormat
    private var pendingFormat: PCMFormat
    /// Silent frames that replace a packet that cannot be decoded.
    private var pendingSilence: Int64 = 0

    private let longestSilence: Int64

    /// The most frames of a FLAC frame: a longer duration is itself damaged.
    private static let mostFrames: Int64 = 65_535

    /// - Parameter longestSilence: frames of silence for a packet, where a packet without bytes may stand for several;
    ///   nil: those of the longest packet.
    init(
        _ packets: any TimedPacketSource, _ streamInfo: FLACStreamInfo, longestSilence: Int64? = nil
    ) throws(Interruption) {
        self.packets = packets
        self.longestSilence = longestSilence ?? Self.mostFrames
        input = FLACFrameInput(streamInfo)
        library = try FLACLibrary(input)
        format = streamInfo.format
        pendingFormat = format
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
        while true {
            if let run = takePending(into: buffer) { return run }
            guard let packet = try packets.nextPacket() else { return .end }
            if let count = try decode(packet, into: buffer) { return .frames(count) }
        }
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        library.receiver.kept.drop(.max)
        pendingSilence = 0
        return try packets.seek(toFrame: frame)
    }

    private func takePending(into buffer: UnsafeMutableBufferPointer<Int32>) -> CodecRun? {
        let channelCount = format.channelCount
        if pendingSilence > 0 {
            let count = Int(min(pendingSilence, Int64(buffer.count / channelCount)))
            buffer[..<(count * channelCount)].update(repeating: 0)
            pendingSilence -= Int64(count)
            damage.silencedFrames += Int64(count)
            return .frames(count)
        }
        guard library.receiver.kept.count > 0 else { return nil }
        if pendingFormat != format {
            format = pendingFormat
            return .format(format)
        }
        let taken = library.receiver.kept.take(buffer.count / channelCount * channelCount, into: buffer)
        return .frames(taken / channelCount)
    }

    /// - Returns: the number of frames that went into `buffer`, or nil when they are pending.
    private func decode(
        _ packet: Packet, into buffer: UnsafeMutableBufferPointer<Int32>
    ) throws(Interruption) -> Int? {
        input.setFrame(packet.bytes)
        library.flush()
        // A trimmed packet goes through `kept`, where it is cut.
        let expected = packet.trim == PacketTrim() ? FLACLibrary.Expectation(format: format) : nil
        guard let block = try library.decodeBlock(into: buffer, expected: expected), block.isIntact else {
            library.receiver.kept.drop(.max)
            library.receiver.complaints = .init()
            damage.incidents += 1
            pendingSilence = min(max(0, packet.duration ?? 0), longestSilence)
            return nil
        }
        library.receiver.complaints = .init()
        pendingFormat = block.format
        if block.isDelivered { return block.frameCount }
        library.receiver.kept.drop(max(0, packet.trim.leading) * block.format.channelCount)
        library.receiver.kept.dropLast(max(0, packet.trim.trailing) * block.format.channelCount)
        return nil
    }
}
