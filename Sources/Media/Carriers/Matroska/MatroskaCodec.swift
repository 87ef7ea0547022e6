import PCM

/// The codec of a track, with its headers (RFC 9559, 5.1.4.1.21; "Matroska Codec Mappings").
enum MatroskaCodec {
    /// A codec that Ogg also supports.
    case ogg(OggContent)
    case aac(AudioSpecificConfig)
    case alac(ALACConfig)
    case pcm(PCMDescription)
    /// MPEG audio of layers II and III. The format comes only from the container.
    case mpegAudio(PCMFormat)
    /// WavPack without the headers of its blocks. The format is preliminary, until the first packets are decoded.
    case wavpack(MatroskaWavPack, PCMFormat)

    /// The format, as far as the headers contain it.
    var format: PCMFormat {
        switch self {
        case .ogg(let content): content.format
        case .aac(let config):
            PCMFormat(
                sampleRate: config.extendedSampleRate ?? config.coreSampleRate, channelCount: config.channelCount,
                bitDepth: 24)
        case .alac(let config): config.format
        case .pcm(let description): description.format
        case .mpegAudio(let format), .wavpack(_, let format): format
        }
    }

    var name: AudioProperties.Codec {
        switch self {
        case .ogg(let content): content.codec
        case .aac: .aac
        case .alac: .alac
        case .pcm(let description): description.layout.codec
        case .mpegAudio: .mp3
        case .wavpack: .wavpack
        }
    }

    /// Bytes at the start of a packet that show how many frames it has.
    static let headBytes = 16

    /// Frames that a packet decodes to; 0 for one that is damaged.
    /// - Parameters:
    ///   - head: the first bytes of the packet.
    ///   - size: its bytes.
    ///   - usual: the frames of a packet, for a codec whose packets have one length.
    ///   - block: as `OggContent.frameCount` has it.
    func frameCount(
        _ head: UnsafeRawBufferPointer, size: Int64, usual: Int64, after block: inout Int
    ) -> Int64 {
        switch self {
        case .ogg(let content): return content.frameCount(of: head, after: &block)
        case .aac: return usual
        case .alac(let config):
            // An element's type and instance, 12 bits, then whether a number of frames follows 3 bits later.
            var reader = BitReader(Array(head.prefix(7)))
            guard let type = reader.bits(3), type == 0 || type == 1 || type == 3, reader.skip(16),
                reader.flag() == true, reader.skip(3), let count = reader.bits(32)
            else { return Int64(config.frameCount) }
            return min(Int64(config.frameCount), Int64(count))
        case .pcm(let description): return size / Int64(description.bytesPerFrame)
        case .mpegAudio: return MP3Codec.header(head).map { Int64($0.frameCount) } ?? usual
        case .wavpack: return MatroskaWavPack.frameCount(of: head)
        }
    }

    /// Frames of the longest silence that the codec makes of one packet without bytes; nil: of any.
    func silence(usual: Int64) -> Int64? {
        switch self {
        case .aac, .alac: usual
        case .ogg, .mpegAudio, .pcm, .wavpack: nil
        }
    }

    /// Frames of every packet; 1 when packets differ.
    var packetFrameCount: Int64 {
        switch self {
        case .aac: Int64(AudioSpecificConfig.coreFrameCount)
        case .alac(let config): Int64(config.frameCount)
        case .mpegAudio: 1152
        case .ogg, .pcm, .wavpack: 1
        }
    }

    /// Every packet begins at a multiple of so many frames.
    var step: Int64 {
        switch self {
        // The shortest packet has 2.5 ms.
        case .ogg(.opus): 120
        case .ogg(.vorbis(let setup)): Int64(setup.step)
        case .ogg(.flac), .aac, .alac, .pcm, .mpegAudio, .wavpack: packetFrameCount
        }
    }

    var preroll: Int64 { if case .ogg(let content) = self { content.preroll } else { 0 } }

    var needsPacketBefore: Bool { if case .ogg(let content) = self { content.needsPacketBefore } else { false } }

    /// Whether packets contain the number of their first frame.
    var isNumbered: Bool { if case .ogg(.flac) = self { true } else { false } }

    /// The first frame of a packet in the stream that was encoded, if the packet contains it.
    func firstFrame(_ head: UnsafeRawBufferPointer) -> Int64? {
        guard case .ogg(.flac(let info)) = self, let header = FLACFrameHeader(Array(head)[...]) else { return nil }
        // The last block is shorter.
        return header.hasVariableSize ? header.firstSample : header.number * max(1, info.largestBlock)
    }
}
