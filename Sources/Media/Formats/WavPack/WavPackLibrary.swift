import CWavPack
import PCM

/// A decoder of libwavpack for the blocks of one packet, which it reads from memory. Closing is its end.
///
/// Thread: only the decoder thread. The packet must outlive this object.
struct WavPackLibrary: ~Copyable {
    private let context: OpaquePointer
    private let isDSD: Bool

    /// The checksums of blocks are checked before, where the container has kept all of their bytes.
    private static let flags = OPEN_NORMALIZE | OPEN_DSD_NATIVE | OPEN_NO_CHECKSUM

    /// - Returns: nil for a packet that cannot be decoded.
    init?(_ packet: UnsafeRawBufferPointer) {
        guard let start = packet.baseAddress, let size = Int32(exactly: packet.count) else { return nil }
        // The library takes a mutable pointer, but does not change the memory.
        guard
            let context = WavpackOpenRawDecoder(
                UnsafeMutableRawPointer(mutating: start), size, nil, 0, 0, nil, Self.flags, 0)
        else { return nil }
        isDSD = WavPackHeader.isDSD(packet)
        self.context = context
    }

    deinit { WavpackCloseFile(context) }

    var setup: WavPackSetup {
        let mode = WavpackGetMode(context)
        return WavPackSetup(
            sampleRate: WavpackGetSampleRate(context), channelCount: Int(WavpackGetNumChannels(context)),
            bitDepth: Int(WavpackGetBitsPerSample(context)), byteCount: Int(WavpackGetBytesPerSample(context)),
            isFloat: mode & MODE_FLOAT != 0, isLossless: mode & MODE_LOSSLESS != 0, isDSD: isDSD)
    }

    /// Decodes all frames: integers in the lower bits, floats, or bytes of DSD with the oldest bit at the top.
    /// - Parameter target: with room for `frameCount` frames.
    /// - Returns: false when the packet has another number of frames, or is damaged.
    func unpack(_ frameCount: Int, into target: UnsafeMutablePointer<Int32>) -> Bool {
        let count = UInt32(frameCount)
        return WavpackUnpackSamples(context, target, count) == count && WavpackGetNumErrors(context) == 0
    }

    /// Whether the checksum of each block in a packet is right, if it has one.
    static func isIntact(_ packet: UnsafeRawBufferPointer) -> Bool {
        var rest = packet
        while rest.count >= WavPackHeader.size, let start = rest.baseAddress {
            guard let header = WavPackHeader(Array(rest[..<WavPackHeader.size])), header.byteCount <= rest.count,
                WavpackVerifySingleBlock(UnsafeMutablePointer(mutating: start.assumingMemoryBound(to: UInt8.self)), 1)
                    != 0
            else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[header.byteCount...])
        }
        return rest.isEmpty
    }
}
