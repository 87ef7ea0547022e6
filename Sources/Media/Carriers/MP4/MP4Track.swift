/// An audio track of a movie (`trak`; ISO/IEC 14496-12, 8.3).
struct MP4Track {
    let id: UInt32
    /// Units per second of its media times.
    let timescale: UInt32
    let edits: MP4EditList
    /// The descriptions of its samples.
    let entries: [MP4SampleEntry]
    let table: MP4SampleTable
    /// How many samples have to be decoded before one that is played (`roll` and `prol`; ISO/IEC 14496-12, 10.1).
    let preroll: Int64
    /// The distance from decoding to presentation, which counts in edit lists but not in sound.
    let compositionOffset: Int64
    /// The defaults of the track's fragments.
    var defaults = MP4SampleDefaults()
    /// `stbl`
    private let tables: MP4Box

    /// The most bytes of sample tables that are held in memory: those of 3 hours of AAC.
    private static let mostHeldBytes: Int64 = 2 << 20

    /// - Returns: nil for a track of another kind.
    init?(_ box: MP4Box, of source: any ByteSource) throws(Interruption) {
        var id: UInt32?
        var edits = MP4EditList()
        var media: MP4Box?
        var boxes = box.children(of: source)
        while let box = try boxes.next() {
            switch box.type {
            case "tkhd":
                var fields = MP4Fields(try box.bytes(of: source, limit: 24))
                fields?.skipTimes()
                id = fields?.integer(UInt32.self)
            case "edts":
                if let list = try box.child("elst", of: source) { edits = try MP4EditList(list, of: source) }
            case "mdia": media = box
            default: break
            }
        }
        guard let media, try Self.isSound(media, of: source) else { return nil }
        guard let header = try media.child("mdhd", of: source), let information = try media.child("minf", of: source),
            let tables = try information.child("stbl", of: source), let id,
            var fields = MP4Fields(try header.bytes(of: source, limit: 24))
        else { throw .damaged(what: "MP4 with an audio track that is not described") }
        fields.skipTimes()
        guard let timescale = fields.integer(UInt32.self), timescale > 0 else {
            throw .damaged(what: "MP4 with an audio track without a time scale")
        }
        guard let descriptions = try tables.child("stsd", of: source) else {
            throw .damaged(what: "MP4 with an audio track without a codec")
        }
        self.id = id
        self.timescale = timescale
        self.edits = edits
        self.tables = tables
        entries = try MP4SampleEntry.all(in: descriptions, of: source, timescale: timescale)
        table = try MP4SampleTable(tables, of: source, entries)
        preroll = try Self.preroll(tables, of: source)
        compositionOffset = try Self.compositionOffset(tables, of: source)
    }

    /// Its sample table, in memory when the source is streamed: while a packet is read, the table is far away in the
    /// file.
    func table(whileReading source: any ByteSource) throws(Interruption) -> MP4SampleTable {
        let range = tables.content.lowerBound..<tables.end
        guard source.isStreamed, range.upperBound - range.lowerBound <= Self.mostHeldBytes else { return table }
        return try MP4SampleTable(tables, of: try HeldBytes(source, range), entries)
    }

    private static func isSound(_ media: MP4Box, of source: any ByteSource) throws(Interruption) -> Bool {
        guard let handler = try media.child("hdlr", of: source) else { return false }
        var fields = MP4Fields(try handler.bytes(of: source, limit: 12))
        fields?.skip(4)
        return fields?.code() == "soun"
    }

    /// The longest distance of any group: a seek that begins somewhat earlier does no harm.
    private static func preroll(_ tables: MP4Box, of source: any ByteSource) throws(Interruption) -> Int64 {
        var distance: Int64 = 0
        var boxes = tables.children(of: source)
        while let box = try boxes.next() {
            guard box.type == "sgpd", let groups = try MP4GroupDescriptions(box, of: source),
                groups.type == "roll" || groups.type == "prol"
            else { continue }
            for entry in groups.entries {
                var reader = ByteReader(entry)
                let roll = Int16(bitPattern: reader.bigEndian(UInt16.self) ?? 0)
                distance = max(distance, -Int64(roll))
            }
        }
        return distance
    }

    /// Sound is decoded in the order in which it is played, so that all samples have the same offset.
    private static func compositionOffset(_ tables: MP4Box, of source: any ByteSource) throws(Interruption) -> Int64 {
        guard let box = try tables.child("ctts", of: source),
            var fields = MP4Fields(try box.bytes(of: source, limit: 16)), fields.integer(UInt32.self) ?? 0 > 0,
            fields.integer(UInt32.self) != nil, let offset = fields.integer(UInt32.self)
        else { return 0 }
        return Int64(Int32(bitPattern: offset))
    }
}
