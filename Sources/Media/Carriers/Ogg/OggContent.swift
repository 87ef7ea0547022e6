import PCM

/// The codec of a logical stream, with its headers.
enum OggContent {
    case opus(OpusHead)
    case vorbis(VorbisSetup)
    case flac(FLACStreamInfo)

    var codec: AudioProperties.Codec {
        switch self {
        case .opus: .opus
        case .vorbis: .vorbis
        case .flac: .flac
        }
    }

    var format: PCMFormat {
        switch self {
        case .opus(let head): head.format
        case .vorbis(let setup): setup.format
        case .flac(let info): info.format
        }
    }

    /// Frames at the start that are decoded and not played.
    var preSkip: Int64 { if case .opus(let head) = self { Int64(head.preSkip) } else { 0 } }

    /// Frames before one that is played from which on decoding has to begin.
    var preroll: Int64 {
        switch self {
        case .opus: OpusHead.preroll
        // The packet before is decoded, too.
        case .vorbis(let setup): Int64(setup.largestBlock)
        case .flac: 0
        }
    }

    /// Whether the packet before one is needed to know how long it is, and to decode it.
    var needsPacketBefore: Bool { if case .vorbis = self { true } else { false } }

    /// Frames that a packet decodes to; 0 for one that is damaged.
    /// - Parameter block: of Vorbis, as `OggPlace.block`; becomes that of the packet.
    func frameCount(of packet: UnsafeRawBufferPointer, after block: inout Int) -> Int64 {
        switch self {
        case .opus: return Int64(OpusHead.frameCount(of: packet))
        case .vorbis(let setup):
            guard let size = setup.blockSize(of: packet) else { return 0 }
            defer { block = size }
            return block > 0 ? Int64(block / 4 + size / 4) : 0
        case .flac:
            let head = Array(packet.prefix(FLACFrameHeader.mostBytes))
            return FLACFrameHeader(head[...]).map { Int64($0.blockSize) } ?? 0
        }
    }
}

/// The codec at the start of a logical stream.
enum OggStreamKind {
    case opus, vorbis, flac
    /// Its name, for messages.
    case other(String)

    /// - Parameter packet: the stream's first one.
    init(_ packet: UnsafeRawBufferPointer) {
        func begins(_ text: StaticString, at offset: Int = 0) -> Bool {
            text.withUTF8Buffer { packet.dropFirst(offset).starts(with: $0) }
        }
        if begins("OpusHead") {
            self = .opus
        } else if begins("\u{1}vorbis") {
            self = .vorbis
        } else if begins("\u{7F}FLAC") {
            self = .flac
        } else if begins("Speex   ") {
            self = .other("Speex")
        } else if packet.first == 0x80, begins("theora", at: 1) {
            self = .other("Theora")
        } else {
            self = .other("a stream of an unknown kind")
        }
    }
}
