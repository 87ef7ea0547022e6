import PCM

/// WavPack in packets of a container: the blocks of the same frames. A packet without bytes stands for missing frames.
final class WavPackCodec: Codec {
    private(set) var damage = DamageReport()

    private let packets: any TimedPacketSource
    private let setup: WavPackSetup
    private var kept = SampleStore()
    /// Silent frames that replace a packet that cannot be decoded.
    private var pendingSilence: Int64 = 0

    init(_ packets: any TimedPacketSource, _ setup: WavPackSetup) {
        self.packets = packets
        self.setup = setup
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
        while true {
            if let run = takePending(into: buffer) { return run }
            guard let packet = try packets.nextPacket() else { return .end }
            if !decode(packet) {
                kept.drop(.max)
                damage.incidents += 1
                pendingSilence = max(0, packet.duration ?? 0)
            }
        }
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        kept.drop(.max)
        pendingSilence = 0
        return try packets.seek(toFrame: frame)
    }

    private func takePending(into buffer: UnsafeMutableBufferPointer<Int32>) -> CodecRun? {
        if pendingSilence > 0 {
            let count = Int(min(pendingSilence, Int64(buffer.count / setup.channelCount)))
            buffer[..<(count * setup.channelCount)].update(repeating: 0)
            pendingSilence -= Int64(count)
            damage.silencedFrames += Int64(count)
            return .frames(count)
        }
        guard kept.count > 0 else { return nil }
        let taken = kept.take(buffer.count / setup.channelCount * setup.channelCount, into: buffer)
        return .frames(taken / setup.channelCount)
    }

    private func decode(_ packet: Packet) -> Bool {
        guard let count = packet.duration.map({ Int(clamping: $0) }), count > 0,
            let library = WavPackLibrary(packet.bytes)
        else { return false }
        let found = library.setup
        // The rate may be only in the first packet.
        guard found.channelCount == setup.channelCount, found.byteCount == setup.byteCount,
            found.isFloat == setup.isFloat
        else { return false }
        let samples = kept.replace(count: count * setup.channelCount)
        guard let target = samples.baseAddress, library.unpack(count, into: target) else { return false }
        if setup.isFloat {
            Self.round(target, count: samples.count)
        } else {
            Self.justify(target, count: samples.count, shift: Int32(32 - 8 * setup.byteCount))
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
