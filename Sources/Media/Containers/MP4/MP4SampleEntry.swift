import PCM

/// The description of audio samples: their codec, and how they are encrypted (`stsd`; ISO/IEC 14496-12, 12.2.3).
struct MP4SampleEntry {
    enum Codec {
        case flac(FLACStreamInfo)
        case aac(AudioSpecificConfig)
        /// The name of a codec that is not supported.
        case other(String)
    }

    let codec: Codec
    /// nil for plain samples.
    let protection: MP4Protection?

    private static let mostEntries = 16

    /// The descriptions in a box `stsd`, in order.
    static func all(in box: MP4Box, of source: any ByteSource) throws(Interruption) -> [MP4SampleEntry] {
        let tableVersion = try box.bytes(of: source, limit: 1).first ?? 0
        var entries: [MP4SampleEntry] = []
        var boxes = box.children(of: source, behind: 8)
        while entries.count < mostEntries, let entry = try boxes.next() {
            entries.append(try MP4SampleEntry(entry, of: source, isQuickTime: tableVersion == 0))
        }
        return entries
    }

    private init(_ box: MP4Box, of source: any ByteSource, isQuickTime: Bool) throws(Interruption) {
        // 8 bytes of every entry, then 20 of audio. QuickTime appends fields, by a version.
        var fields = ByteReader(try box.bytes(of: source, limit: 28))
        fields.skip(8)
        var headerSize: Int64 = 28
        if isQuickTime, let version = fields.bigEndian(UInt16.self) {
            if version == 1 { headerSize += 16 }
            if version == 2 { headerSize += 36 }
        }
        var format = box.type
        var protection: MP4Protection?
        if format == "enca" {
            guard let box = try box.child("sinf", of: source, behind: headerSize) else {
                throw .damaged(what: "MP4 with encryption that is not described")
            }
            protection = try MP4Protection(box, of: source)
            format = protection?.originalFormat ?? format
        }
        self.protection = protection
        switch format {
        case "fLaC":
            guard let box = try box.child("dfLa", of: source, behind: headerSize) else {
                throw .damaged(what: "MP4 with FLAC that is not described")
            }
            codec = .flac(try Self.streamInfo(box, of: source))
        case "mp4a":
            codec = try Self.elementaryStream(box, of: source, behind: headerSize).codec
        default:
            codec = .other(Self.name(of: format))
        }
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
        _ box: MP4Box, of source: any ByteSource, behind headerSize: Int64
    ) throws(Interruption) -> MP4ElementaryStream {
        var descriptor = try box.child("esds", of: source, behind: headerSize)
        if descriptor == nil, let wave = try box.child("wave", of: source, behind: headerSize) {
            descriptor = try wave.child("esds", of: source)
        }
        guard let descriptor, let stream = MP4ElementaryStream(try descriptor.bytes(of: source)) else {
            throw .damaged(what: "MP4 with an audio codec that is not described")
        }
        return stream
    }

    /// For messages.
    private static func name(of format: FourCharacterCode) -> String {
        switch format {
        case "alac": "ALAC"
        case "Opus": "Opus"
        case "ac-3": "AC-3"
        case "ec-3": "E-AC-3"
        case "ac-4": "AC-4"
        case ".mp3": "MP3"
        case "mha1", "mha2", "mhm1", "mhm2": "MPEG-H 3D Audio"
        case "dtsc", "dtse", "dtsh", "dtsl", "dtsx": "DTS"
        case "twos", "sowt", "lpcm", "ipcm", "in24", "in32", "fl32", "fl64", "fpcm", "raw ": "PCM"
        case "samr", "sawb": "AMR"
        case "drms": "FairPlay-protected AAC"
        default: "codec “\(format.text)”"
        }
    }
}
