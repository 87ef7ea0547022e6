import COpus
import Platform

extension AudioProperties.Codec {
    public static var opus: Self { Self(9, "opus", .padded) }
}

/// A decoder of libopus for one stream or several that make up the channels.
///
/// Thread: only the decoder thread.
final class OpusLibrary: FloatDecoder {
    private let handle: OpaquePointer
    private let channelCount: Int
    private let samples: UnsafeMutableBufferPointer<Float>

    /// ENOMEM of Linux.
    private static let outOfMemory = SystemError(code: 12, operation: "open a decoder of Opus")

    init(_ head: OpusHead) throws(Interruption) {
        var code: Int32 = 0
        let handle = head.mapping.withUnsafeBufferPointer { mapping in
            opus_multistream_decoder_create(
                opus_int32(OpusHead.sampleRate), Int32(mapping.count), Int32(head.streamCount),
                Int32(head.coupledCount), mapping.baseAddress!, &code)
        }
        guard let handle else { throw .source(.medium(Self.outOfMemory)) }
        _ = tonearm_opus_set_gain(handle, opus_int32(head.gain))
        self.handle = handle
        channelCount = head.mapping.count
        samples = .allocate(capacity: OpusHead.longestPacket * channelCount)
    }

    deinit {
        opus_multistream_decoder_destroy(handle)
        samples.deallocate()
    }

    func restart() { _ = tonearm_opus_reset(handle) }

    func preroll(beginningWith packet: UnsafeRawBufferPointer) -> Int64 {
        OpusHead.isSpeech(packet) ? OpusHead.speechPreroll - OpusHead.preroll : 0
    }

    func decode(_ packet: UnsafeRawBufferPointer) -> Int? {
        guard let bytes = packet.bindMemory(to: UInt8.self).baseAddress, packet.count > 0 else { return nil }
        let count = opus_multistream_decode_float(
            handle, bytes, opus_int32(packet.count), samples.baseAddress!, Int32(OpusHead.longestPacket), 0)
        return count >= 0 ? Int(count) : nil
    }

    func copy(_ frames: Range<Int>, channel: Int, to target: UnsafeMutableBufferPointer<Int32>, from start: Int) {
        var source = frames.lowerBound * channelCount + channel
        for index in stride(from: start, to: target.count, by: channelCount) {
            target[index] = FloatSamples.leftJustified(samples[source])
            source += channelCount
        }
    }
}
