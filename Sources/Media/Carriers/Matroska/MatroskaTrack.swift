import PCM

/// A track with sound (`TrackEntry`; RFC 9559, 5.1.4.1).
struct MatroskaTrack {
    let number: UInt64
    let uid: UInt64
    let isDefault: Bool
    /// The first part of the decoded sound, in nanoseconds, which is not played.
    let delay: UInt64
    let codec: MatroskaCodec
    /// The metadata in the headers of Vorbis and FLAC.
    let metadata: TrackMetadata
    /// The first bytes of every packet, which the file does not repeat.
    let prefix: [UInt8]

    private static let largestPrivate = 1_048_576
    private static let mostPrefixBytes = 256
    private static let sound: UInt64 = 2

    /// - Returns: nil for a track of another kind.
    /// - Throws: `.unsupported` for another codec.
    init?(_ entry: EBMLElement, _ reader: EBMLReader) throws(Interruption) {
        var (number, uid, delay): (UInt64, UInt64, UInt64) = (0, 0, 0)
        var (type, isDefault, isEnabled): (UInt64, UInt64, UInt64) = (0, 1, 1)
        var id: [UInt8] = []
        var header: [UInt8] = []
        var sound = Sound()
        var encodings: EBMLElement?
        var fields = reader.children(of: entry)
        while let field = try fields.next() {
            switch field.id {
            case MatroskaID.trackNumber: number = try reader.unsigned(field)
            case MatroskaID.trackUID: uid = try reader.unsigned(field)
            case MatroskaID.trackType: type = try reader.unsigned(field)
            case MatroskaID.isDefault: isDefault = try reader.unsigned(field)
            case MatroskaID.isEnabled: isEnabled = try reader.unsigned(field)
            case MatroskaID.codecDelay: delay = try reader.unsigned(field)
            case MatroskaID.codec: id = Array(TagText.trimmed(try reader.bytes(field, limit: 64)))
            case MatroskaID.codecPrivate: header = try reader.bytes(field, limit: Self.largestPrivate)
            case MatroskaID.audio: sound = try Sound(field, reader)
            case MatroskaID.encodings: encodings = field
            default: break
            }
        }
        guard type == Self.sound, isEnabled != 0 else { return nil }
        self.number = number
        self.uid = uid
        self.isDefault = isDefault != 0
        self.delay = delay
        var prefix: [UInt8] = []
        if let encodings { try Self.read(encodings, reader, &prefix, &header) }
        self.prefix = prefix
        (codec, metadata) = try Self.codec(id, header, sound)
    }

    /// The settings of the sound (`Audio`).
    private struct Sound {
        var sampleRate = 8000.0
        var channels: UInt64 = 1
        var bits: UInt64 = 0

        init() {}

        init(_ element: EBMLElement, _ reader: EBMLReader) throws(Interruption) {
            var fields = reader.children(of: element)
            while let field = try fields.next() {
                switch field.id {
                case MatroskaID.sampleRate: sampleRate = try reader.float(field)
                case MatroskaID.channels: channels = try reader.unsigned(field)
                case MatroskaID.bitDepth: bits = try reader.unsigned(field)
                default: break
                }
            }
        }

        func format(bitDepth: Int) throws(Interruption) -> PCMFormat {
            guard 1...8 ~= channels else { throw .unsupported(what: "Matroska with \(channels) channels") }
            let rate = UInt64(exactly: sampleRate.rounded()) ?? 0
            return PCMFormat(
                sampleRate: try AudioLimits.sampleRate(rate, of: "Matroska"), channelCount: Int(channels),
                bitDepth: bitDepth)
        }
    }

    /// The transformations of packets (`ContentEncodings`). Only bytes that are taken away are supported.
    private static func read(
        _ element: EBMLElement, _ reader: EBMLReader, _ prefix: inout [UInt8], _ header: inout [UInt8]
    ) throws(Interruption) {
        var encodings = reader.children(of: element)
        var strippedBytes = 0
        while let encoding = try encodings.next() {
            guard encoding.id == MatroskaID.encoding else { continue }
            var scope: UInt64 = 1
            var settings: [UInt8] = []
            var algorithm: UInt64 = 0
            var fields = reader.children(of: encoding)
            while let field = try fields.next() {
                switch field.id {
                case MatroskaID.encodingScope: scope = try reader.unsigned(field)
                case MatroskaID.encryption: throw .unsupported(what: "Matroska with encryption")
                case MatroskaID.compression:
                    var details = reader.children(of: field)
                    while let detail = try details.next() {
                        if detail.id == MatroskaID.algorithm { algorithm = try reader.unsigned(detail) }
                        if detail.id == MatroskaID.settings { settings = try reader.bytes(detail) }
                    }
                default: break
                }
            }
            guard algorithm == 3 else {
                let names: [StaticString] = ["zlib", "bzip2", "LZO"]
                let name = algorithm < 3 ? "\(names[Int(algorithm)])" : "unknown"
                throw .unsupported(what: "Matroska with \(name) compression")
            }
            strippedBytes += settings.count
            guard strippedBytes <= mostPrefixBytes else {
                throw .unsupported(what: "Matroska with \(strippedBytes) bytes taken away from each packet")
            }
            if scope & 1 != 0 { prefix = settings + prefix }
            if scope & 2 != 0 { header = settings + header }
        }
    }

    private static func codec(
        _ id: [UInt8], _ header: [UInt8], _ sound: Sound
    ) throws(Interruption) -> (MatroskaCodec, TrackMetadata) {
        func isID(_ name: StaticString) -> Bool { name.withUTF8Buffer { $0.elementsEqual(id) } }
        if isID("A_OPUS") { return (.ogg(.opus(try OpusHead(header))), TrackMetadata()) }
        if isID("A_VORBIS") { return try vorbis(header) }
        if isID("A_FLAC") {
            let source = BytesSource(header)
            let blocks = try FLACBlocks(source, at: header.starts(with: FLACHeader.marker) ? 4 : 0)
            guard let info = blocks.streamInfo else {
                throw blocks.streamInfoError ?? .damaged(what: "Matroska with FLAC that is not described")
            }
            let comments = blocks.comments ?? 0..<0
            return (.ogg(.flac(info)), try tags(in: comments, of: source))
        }
        if isID("A_AAC") { return (.aac(try AudioSpecificConfig(header)), TrackMetadata()) }
        if isID("A_ALAC") { return (.alac(try ALACConfig(header)), TrackMetadata()) }
        if isID("A_MPEG/L3") || isID("A_MPEG/L2") {
            return (.mpegAudio(try sound.format(bitDepth: 24)), TrackMetadata())
        }
        if isID("A_WAVPACK4") {
            return (.wavpack(MatroskaWavPack(header), try sound.format(bitDepth: 24)), TrackMetadata())
        }
        if isID("A_MS/ACM") { return (try windows(header, sound), TrackMetadata()) }
        if let layout = layout(isID, sound) {
            let format = try sound.format(bitDepth: layout.bitDepth)
            let description = PCMDescription(
                layout: layout, channelCount: format.channelCount, sampleRate: format.sampleRate)
            return (.pcm(description), TrackMetadata())
        }
        throw .unsupported(what: "Matroska with \(name(of: id))")
    }

    /// A codec that is described as in WAV.
    private static func windows(_ header: [UInt8], _ sound: Sound) throws(Interruption) -> MatroskaCodec {
        switch WAVFormat.code(header) {
        // MP3 and layer II.
        case 0x50, 0x55: return .mpegAudio(try sound.format(bitDepth: 24))
        case 0xFF, 0x1610: return .aac(try AudioSpecificConfig(Array(header.dropFirst(WAVFormat.extendedSize))))
        default:
            let format = try WAVFormat(header, of: "Matroska")
            return .pcm(
                PCMDescription(
                    layout: format.layout, channelCount: format.channelCount, sampleRate: format.sampleRate))
        }
    }

    private static func layout(_ isID: (StaticString) -> Bool, _ sound: Sound) -> SampleLayout? {
        if isID("A_PCM/FLOAT/IEEE"), sound.bits == 32 || sound.bits == 64 {
            return .float(bits: Int(sound.bits), isBigEndian: false)
        }
        let isBigEndian = isID("A_PCM/INT/BIG")
        guard isBigEndian || isID("A_PCM/INT/LIT"), 8...32 ~= sound.bits, sound.bits % 8 == 0 else { return nil }
        return SampleLayout(
            byteCount: Int(sound.bits / 8), bitDepth: Int(sound.bits), isBigEndian: isBigEndian,
            isUnsigned: sound.bits == 8)
    }

    /// Three packets, the sizes of the first two before them in the manner of Xiph.
    private static func vorbis(_ header: [UInt8]) throws(Interruption) -> (MatroskaCodec, TrackMetadata) {
        var reader = ByteReader(header)
        guard reader.littleEndian(UInt8.self) == 2, let first = reader.xiphSize(), let second = reader.xiphSize(),
            let identification = reader.bytes(first), let comments = reader.bytes(second),
            let setup = reader.bytes(reader.remaining)
        else { throw .damaged(what: "Matroska with Vorbis without its headers") }
        let content = try VorbisSetup(identification: Array(identification), setup: Array(setup))
        // `3 vorbis`.
        let metadata = try tags(in: 7..<Int64(max(7, comments.count)), of: BytesSource(Array(comments)))
        return (.ogg(.vorbis(content)), metadata)
    }

    /// Comments in the header of a codec. Their pictures have no place in the file that would be known here.
    private static func tags(
        in comments: Range<Int64>, of source: BytesSource
    ) throws(Interruption) -> TrackMetadata {
        var metadata = try VorbisComments.read(from: source, in: comments)
        metadata.pictures = []
        return metadata
    }

    /// The name of a codec, for messages.
    private static func name(of id: [UInt8]) -> String {
        let names: [(id: StaticString, name: StaticString)] = [
            ("A_AC3", "AC-3"), ("A_EAC3", "E-AC-3"), ("A_DTS", "DTS"), ("A_TRUEHD", "TrueHD"), ("A_MLP", "MLP"),
            ("A_TTA1", "TTA"), ("A_MPEG/L1", "MPEG audio of layer I"),
            ("A_AAC/", "AAC that is not described"),
        ]
        for known in names where known.id.withUTF8Buffer({ id.starts(with: $0) }) { return "\(known.name)" }
        return "codec “\(TagText.utf8(id) ?? "")”"
    }
}

extension ByteReader {
    /// A sum of bytes, of which the last one is not 255.
    mutating func xiphSize() -> Int? {
        var size = 0
        while let byte = littleEndian(UInt8.self) {
            size += Int(byte)
            if byte < 255 { return size }
        }
        return nil
    }
}
