import PCM

/// WavPack in packets of a container: the blocks of the same frames. A packet without bytes stands for missing frames.
final class WavPackCodec: Codec {
    var damage: DamageReport { samples.damage }

    private let packets: any TimedPacketSource
    private let setup: WavPackSetup
    private var samples: PacketSamples

    /// - Parameter format: of the decoded samples.
    init(_ packets: any TimedPacketSource, _ setup: WavPackSetup, _ format: PCMFormat) {
        self.packets = packets
        self.setup = setup
        samples = PacketSamples(format)
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
        try samples.read(into: buffer, from: packets) { [setup] packet, samples in
            if !Self.decode(packet, setup, into: &samples) { samples.lose(packet.duration ?? 0) }
        }
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        samples.drop()
        return try packets.seek(toFrame: frame)
    }

    /// - Returns: false for a packet that cannot be decoded.
    private static func decode(_ packet: Packet, _ setup: WavPackSetup, into samples: inout PacketSamples) -> Bool {
        guard let count = packet.duration.map({ Int(clamping: $0) }), count > 0,
            let library = WavPackLibrary(packet.bytes)
        else { return false }
        let found = library.setup
        // The rate may be only in the first packet.
        guard found.channelCount == setup.channelCount, found.byteCount == setup.byteCount,
            found.isFloat == setup.isFloat
        else { return false }
        let room = samples.replace(frameCount: count)
        guard let target = room.baseAddress, library.unpack(count, into: target) else { return false }
        if setup.isFloat {
            Self.round(target, count: room.count)
        } else {
            Self.justify(target, count: room.count, shift: Int32(32 - 8 * setup.byteCount))
        }
        return true
    }

    @_optimize(speed) @inline(never)
    private static func justify(_ samples: UnsafeMutablePointer<Int32>, count: Int, shift: Int32) {
        guard shift > 0 else { return }
        var index = 0
        while index < count {
            samples[index] = samples[index] &<< shift
            index &+= 1
        }
    }

    /// The same samples as integers of 32 bits.
    @_optimize(speed) @inline(never)
    private static func round(_ samples: UnsafeMutablePointer<Int32>, count: Int) {
        var index = 0
        while index < count {
            let value = Float(bitPattern: UInt32(bitPattern: samples[index]))
            samples[index] = FloatSamples.in32Bits(Double(value))
            index &+= 1
        }
    }
}
