/// An entry `mp4a`: the object type and the decoder's own configuration (`esds`; ISO/IEC 14496-1, 7.2.6).
struct MP4ElementaryStream {
    /// The number of the codec.
    let type: UInt8
    /// The configuration for the decoder; nil when there is none.
    let config: [UInt8]?

    /// - Parameter content: of a box `esds`: version and flags, then descriptors, each a tag and a size.
    /// - Returns: nil when it is cut off.
    init?(_ content: [UInt8]) {
        var reader = ByteReader(content)
        reader.skip(Int(MP4Fields.headerSize))
        // The elementary stream: its number, and flags for fields that may follow.
        guard Self.openDescriptor(3, &reader) != nil, reader.bigEndian(UInt16.self) != nil,
            let flags = reader.bigEndian(UInt8.self)
        else { return nil }
        if flags & 0x80 != 0 { reader.skip(2) }
        if flags & 0x40 != 0 { reader.skip(Int(reader.bigEndian(UInt8.self) ?? 0)) }
        if flags & 0x20 != 0 { reader.skip(2) }
        guard Self.openDescriptor(4, &reader) != nil, let type = reader.bigEndian(UInt8.self) else { return nil }
        self.type = type
        // The kind of stream, the size of a buffer, and bit rates.
        reader.skip(12)
        config = Self.openDescriptor(5, &reader).flatMap { reader.bytes($0) }.map { Array($0) }
    }

    /// - Returns: the size of the next descriptor if it has this tag; `reader` is then after the size.
    private static func openDescriptor(_ tag: UInt8, _ reader: inout ByteReader) -> Int? {
        guard reader.bigEndian(UInt8.self) == tag else { return nil }
        // Seven bits a byte, up to four.
        var size = 0
        for _ in 0..<4 {
            guard let byte = reader.bigEndian(UInt8.self) else { return nil }
            size = size << 7 | Int(byte & 0x7F)
            if byte & 0x80 == 0 { return size }
        }
        return nil
    }

    /// Whether the content is MPEG audio: layer I to III, of MPEG 1 or 2.
    var isMPEGAudio: Bool { type == 0x69 || type == 0x6B }

    /// The codec that the descriptors name. MPEG audio is not included, because they do not describe it.
    var codec: MP4SampleEntry.Codec {
        get throws(Interruption) {
            switch type {
            case 0x40, 0x67:
                guard let config else { throw .damaged(what: "MP4 with AAC that is not described") }
                #if AAC
                    return .aac(try AudioSpecificConfig(config))
                #else
                    return .other(AACSupport.missing)
                #endif
            case 0x66: return .other("AAC Main")
            case 0x68: return .other("AAC SSR")
            case 0xA5: return .other("AC-3")
            case 0xA6: return .other("E-AC-3")
            case 0xA9, 0xAA, 0xAB, 0xAC: return .other("DTS")
            case 0xAD: return .other("Opus")
            case 0xDD: return .other("Vorbis")
            default: return .other("codec \(type) of MPEG-4")
            }
        }
    }
}
