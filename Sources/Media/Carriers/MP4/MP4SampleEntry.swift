import PCM

/// The description of audio samples: their codec, and how they are encrypted (`stsd`; ISO/IEC 14496-12, 12.2.3).
struct MP4SampleEntry {
    enum Codec {
        case flac(FLACStreamInfo)
        case aac(AudioSpecificConfig)
        case alac(ALACConfig)
        case pcm(PCMDescription)
        /// MPEG audio. The format comes only from the container.
        case mp3(PCMFormat)
        case opus(OpusHead)
        /// The name of a codec that is not supported.
        case other(String)
    }

    let codec: Codec
    /// The protection; nil for plain samples.
    let protection: MP4Protection?

    private static let mostEntries = 16

    /// The descriptions in a box `stsd`, in order.
    /// - Parameter timescale: of the track.
    static func all(
        in box: MP4Box, of source: any ByteSource, timescale: UInt32
    ) throws(Interruption) -> [MP4SampleEntry] {
        let tableVersion = try box.bytes(of: source, limit: 1).first ?? 0
        var entries: [MP4SampleEntry] = []
        var boxes = box.children(of: source, after: 8)
        while entries.count < mostEntries, let entry = try boxes.next() {
            let fields = try MP4SoundFields(
                entry, of: source, isQuickTime: tableVersion == 0, timescale: timescale)
            entries.append(try MP4SampleEntry(entry, of: source, fields))
        }
        return entries
    }

    private init(_ box: MP4Box, of source: any ByteSource, _ fields: MP4SoundFields) throws(Interruption) {
        let headerSize = fields.byteCount
        var format = box.type
        var protection: MP4Protection?
        if format == "enca" {
            guard let box = try box.child("sinf", of: source, after: headerSize) else {
                throw .damaged(what: "MP4 with encryption that is not described")
            }
            protection = try MP4Protection(box, of: source)
            format = protection?.originalFormat ?? format
        }
        self.protection = protection
        switch format {
        case "fLaC":
            guard let box = try box.child("dfLa", of: source, after: headerSize) else {
                throw .damaged(what: "MP4 with FLAC that is not described")
            }
            codec = .flac(try Self.streamInfo(box, of: source))
        case "mp4a":
            let stream = try Self.elementaryStream(box, of: source, after: headerSize)
            codec = stream.isMPEGAudio ? try Self.mpegAudio(fields) : try stream.codec
        case ".mp3":
            codec = try Self.mpegAudio(fields)
        case "alac":
            codec = .alac(try Self.alac(box, of: source, after: headerSize))
        case "Opus":
            guard let box = try box.child("dOps", of: source, after: headerSize) else {
                throw .damaged(what: "MP4 with Opus that is not described")
            }
            codec = .opus(try OpusHead(box: try box.bytes(of: source)))
        default:
            if let pcm = try PCMDescription(format, box, of: source, fields) {
                codec = .pcm(pcm)
            } else {
                codec = .other(Self.name(of: format))
            }
        }
    }

    private static func mpegAudio(_ fields: MP4SoundFields) throws(Interruption) -> Codec {
        .mp3(try fields.format(bitDepth: 24))
    }

    /// A box of the entry's name, with version and flags; QuickTime has it inside of a box `wave`.
    private static func alac(
        _ box: MP4Box, of source: any ByteSource, after headerSize: Int64
    ) throws(Interruption) -> ALACConfig {
        var cookie = try box.child("alac", of: source, after: headerSize)
        if cookie == nil, let wave = try box.child("wave", of: source, after: headerSize) {
            cookie = try wave.child("alac", of: source)
        }
        guard let cookie else { throw .damaged(what: "MP4 with ALAC that is not described") }
        let headerSize = Int(MP4Fields.headerSize)
        return try ALACConfig(
            Array(try cookie.bytes(of: source, limit: headerSize + ALACConfig.byteCount).dropFirst(headerSize)))
    }

    /// Version and flags, then blocks of metadata as in a FLAC file, STREAMINFO first ("Encapsulation of FLAC in ISO
    /// Base Media File Format", 3.3.2).
    private static func streamInfo(_ box: MP4Box, of source: any ByteSource) throws(Interruption) -> FLACStreamInfo {
        let bytes = try box.bytes(of: source, limit: 8 + FLACStreamInfo.byteCount)
        guard bytes.count > 8, bytes[4] & 0x7F == FLACBlocks.BlockType.streamInfo else {
            throw .damaged(what: "MP4 with FLAC without a STREAMINFO block")
        }
        return try FLACStreamInfo(Array(bytes[8...]))
    }

    /// The codec of an entry `mp4a`.
    private static func elementaryStream(
        _ box: MP4Box, of source: any ByteSource, after headerSize: Int64
    ) throws(Interruption) -> MP4ElementaryStream {
        var descriptor = try box.child("esds", of: source, after: headerSize)
        if descriptor == nil, let wave = try box.child("wave", of: source, after: headerSize) {
            descriptor = try wave.child("esds", of: source)
        }
        guard let descriptor, let stream = MP4ElementaryStream(try descriptor.bytes(of: source)) else {
            throw .damaged(what: "MP4 with an audio codec that is not described")
        }
        return stream
    }

    /// The name of a codec, for messages.
    private static func name(of format: FourCharacterCode) -> String {
        switch format {
        case "ac-3": "AC-3"
        case "ec-3": "E-AC-3"
        case "ac-4": "AC-4"
        case "mha1", "mha2", "mhm1", "mhm2": "MPEG-H 3D Audio"
        case "dtsc", "dtse", "dtsh", "dtsl", "dtsx": "DTS"
        case "ima4": "IMA ADPCM"
        case "MAC3", "MAC6": "MACE"
        case "samr", "sawb": "AMR"
        case "drms": "FairPlay-protected AAC"
        default: "codec “\(format.text)”"
        }
    }
}
