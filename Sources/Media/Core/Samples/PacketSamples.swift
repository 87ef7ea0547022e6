import PCM

/// The samples of a packet until they are read, and the silence for packets that cannot be decoded.
///
/// Thread: only the decoder thread.
struct PacketSamples: ~Copyable {
    /// The format of the frames that are read.
    private(set) var format: PCMFormat
    private(set) var damage = DamageReport()
    /// The format of the samples in `kept`.
    private var keptFormat: PCMFormat
    private var kept = SampleStore()
    /// Silent frames before those in `kept`.
    private var silence: Int64 = 0
    /// The buffer of the read that waits for a packet.
    private var target: UnsafeMutableBufferPointer<Int32>?

    init(_ format: PCMFormat) {
        self.format = format
        keptFormat = format
    }

    /// Reads the rest of the last packet, or decodes the next ones.
    /// - Parameter decode: replaces the samples by those of a packet, or calls `lose`.
    mutating func read(
        into buffer: UnsafeMutableBufferPointer<Int32>, from packets: any TimedPacketSource,
        decode: (Packet, inout PacketSamples) -> Void
    ) throws(Interruption) -> CodecRun {
        while true {
            if let run = take(into: buffer) { return run }
            guard let packet = try packets.nextPacket() else { return .end }
            target = buffer
            decode(packet, &self)
            target = nil
        }
    }

    /// Drops everything, before a seek.
    mutating func drop() {
        kept.drop(.max)
        silence = 0
    }

    /// Makes room for the samples of a packet, which the caller writes.
    /// - Parameters:
    ///   - frameCount: of the packet.
    ///   - missing: silent frames before them.
    ///   - sampleRate, channelCount: nil: those of the samples before.
    mutating func replace(
        frameCount: Int, missing: Int = 0, sampleRate: Int? = nil, channelCount: Int? = nil
    ) -> UnsafeMutableBufferPointer<Int32> {
        silence = Int64(missing)
        keptFormat.sampleRate = sampleRate ?? keptFormat.sampleRate
        keptFormat.channelCount = channelCount ?? keptFormat.channelCount
        // Otherwise the read has something else to return first.
        let isNext = missing == 0 && keptFormat == format
        return kept.replace(count: frameCount * keptFormat.channelCount, in: isNext ? target : nil)
    }

    /// Drops frames at both ends of the packet.
    mutating func trim(_ trim: PacketTrim) {
        kept.drop(max(0, trim.leading) * keptFormat.channelCount)
        kept.dropLast(max(0, trim.trailing) * keptFormat.channelCount)
    }

    /// Counts damage.
    mutating func countIncident() { damage.incidents += 1 }

    /// Replaces a damaged packet by silence.
    /// - Parameter frameCount: of the packet, as far as it is played.
    mutating func lose(_ frameCount: Int64) {
        kept.drop(.max)
        countIncident()
        silence = max(0, frameCount)
    }

    private mutating func take(into buffer: UnsafeMutableBufferPointer<Int32>) -> CodecRun? {
        let room = buffer.count / format.channelCount
        if silence > 0 {
            let count = Int(min(silence, Int64(room)))
            buffer[..<(count * format.channelCount)].update(repeating: 0)
            silence -= Int64(count)
            damage.silencedFrames += Int64(count)
            return .frames(count)
        }
        guard kept.count > 0 else { return nil }
        if keptFormat != format {
            format = keptFormat
            return .format(format)
        }
        return .frames(kept.take(room * format.channelCount, into: buffer) / format.channelCount)
    }
}
