@testable import Media

/// ISO base media written by hand, for contents that no packager produces.
enum Boxes {
    static func big(_ value: Int, _ byteCount: Int) -> [UInt8] { Chunks.big(value, byteCount) }

    /// A box; `size` is the size in its header.
    static func box(_ type: String, _ content: [UInt8], size: Int? = nil) -> [UInt8] {
        big(size ?? content.count + 8, 4) + Array(type.utf8) + content
    }

    /// A box with a version and flags.
    static func full(_ type: String, version: Int = 0, flags: Int = 0, _ content: [UInt8]) -> [UInt8] {
        box(type, big(version, 1) + big(flags, 3) + content)
    }

    /// The boxes at `path` of a file, in order, each with its range.
    static func find(_ path: [String], in bytes: [UInt8], _ range: Range<Int>? = nil) -> [Range<Int>] {
        var found: [Range<Int>] = []
        let range = range ?? 0..<bytes.count
        var offset = range.lowerBound
        while offset + 8 <= range.upperBound {
            let size = bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
            let end = min(range.upperBound, offset + (size == 0 ? range.upperBound - offset : size))
            guard size == 0 || size >= 8 else { break }
            if bytes[(offset + 4)..<(offset + 8)].elementsEqual(path[0].utf8) {
                let rest = Array(path.dropFirst())
                found += rest.isEmpty ? [offset..<end] : find(rest, in: bytes, (offset + 8)..<end)
            }
            offset = end
        }
        return found
    }
}

/// A progressive file with FLAC or another codec, in parts that a test changes.
struct HandmadeMP4 {
    /// One packet each.
    var packets: [[UInt8]]
    var streamInfo: [UInt8]
    /// The durations in units of the track.
    var durations: [Int]
    var timescale = 44_100
    var movieTimescale = 1000
    /// The samples of each chunk; `nil`: all in one.
    var chunkSizes: [Int]?
    var usesLongOffsets = false
    /// The bits of an entry in `stz2`; nil: `stsz`.
    var compactBits: Int?
    var editList: [UInt8] = []
    /// More boxes beside the sample tables.
    var moreTables: [UInt8] = []
    var userData: [UInt8] = []
    var moreTracks: [UInt8] = []
    var sampleEntry: [UInt8]?
    /// Bytes between the header of `mdat` and the packets.
    var gap = 0
    /// Whether `mdat` has a 64-bit size.
    var hasLongData = false

    init(_ map: FrameMap, blockSize: Int, total: Int) {
        packets = (0..<(map.offsets.count - 1)).map { map.frames($0..<($0 + 1)) }
        streamInfo = Array(map.bytes[8..<42])
        durations = packets.indices.map { min(blockSize, total - $0 * blockSize) }
    }

    /// - Parameter entry: the description of the packets.
    init(_ entry: [UInt8], packets: [[UInt8]], durations: [Int], timescale: Int = 44_100) {
        self.packets = packets
        self.durations = durations
        self.timescale = timescale
        streamInfo = []
        sampleEntry = entry
    }

    static func audioEntry(_ type: String, channels: Int = 2, rate: Int = 44_100, _ boxes: [UInt8]) -> [UInt8] {
        let fields =
            [UInt8](repeating: 0, count: 6) + Boxes.big(1, 2) + [UInt8](repeating: 0, count: 8)
            + Boxes.big(channels, 2) + Boxes.big(16, 2) + [UInt8](repeating: 0, count: 4) + Boxes.big(rate, 2) + [0, 0]
        return Boxes.box(type, fields + boxes)
    }

    var describedFLAC: [UInt8] { Boxes.full("dfLa", [0x80, 0, 0, 34] + streamInfo) }

    static func track(
        id: Int = 1, handler: String = "soun", timescale: Int, editList: [UInt8] = [], tables: [UInt8]
    ) -> [UInt8] {
        let media =
            Boxes.full("mdhd", Boxes.big(0, 8) + Boxes.big(timescale, 4) + Boxes.big(0, 8))
            + Boxes.full("hdlr", Boxes.big(0, 4) + Array(handler.utf8) + Boxes.big(0, 13))
            + Boxes.box("minf", Boxes.box("stbl", tables))
        return Boxes.box(
            "trak",
            Boxes.full("tkhd", flags: 3, Boxes.big(0, 8) + Boxes.big(id, 4) + Boxes.big(0, 68))
                + (editList.isEmpty ? [] : Boxes.box("edts", editList)) + Boxes.box("mdia", media))
    }

    /// `ftyp`, `mdat`, `moov`.
    var bytes: [UInt8] {
        let type = Boxes.box("ftyp", Array("M4A ".utf8) + Boxes.big(0, 4))
        let content = [UInt8](repeating: 0xAA, count: gap) + packets.joined()
        let data =
            hasLongData
            ? Boxes.big(1, 4) + Array("mdat".utf8) + Boxes.big(content.count + 16, 8) + content
            : Boxes.box("mdat", content)
        return type + data + movie(dataOffset: type.count + data.count - content.count + gap)
    }

    func movie(dataOffset: Int) -> [UInt8] {
        Boxes.box(
            "moov",
            Boxes.full("mvhd", Boxes.big(0, 8) + Boxes.big(movieTimescale, 4) + Boxes.big(0, 84)) + moreTracks
                + Self.track(
                    id: 1, timescale: timescale, editList: editList, tables: tables(dataOffset: dataOffset))
                + userData)
    }

    private func tables(dataOffset: Int) -> [UInt8] {
        let entry = sampleEntry ?? Self.audioEntry("fLaC", describedFLAC)
        let chunkSizes = chunkSizes ?? [packets.count]
        var offset = dataOffset
        var next = 0
        let offsets = chunkSizes.map { size in
            defer {
                offset += packets[next..<(next + size)].reduce(0) { $0 + $1.count }
                next += size
            }
            return offset
        }
        return Boxes.full("stsd", Boxes.big(1, 4) + entry)
            + Boxes.full(
                "stts",
                Boxes.big(durations.count, 4) + durations.flatMap { Boxes.big(1, 4) + Boxes.big($0, 4) })
            + Boxes.full(
                "stsc",
                Boxes.big(chunkSizes.count, 4)
                    + chunkSizes.enumerated().flatMap {
                        Boxes.big($0.offset + 1, 4) + Boxes.big($0.element, 4) + Boxes.big(1, 4)
                    })
            + sizes
            + Boxes.full(
                usesLongOffsets ? "co64" : "stco",
                Boxes.big(offsets.count, 4) + offsets.flatMap { Boxes.big($0, usesLongOffsets ? 8 : 4) })
            + moreTables
    }

    private var sizes: [UInt8] {
        guard let compactBits else {
            return Boxes.full(
                "stsz", Boxes.big(0, 4) + Boxes.big(packets.count, 4) + packets.flatMap { Boxes.big($0.count, 4) })
        }
        return Boxes.full(
            "stz2",
            Boxes.big(0, 3) + [UInt8(compactBits)] + Boxes.big(packets.count, 4)
                + packets.flatMap { Boxes.big($0.count, compactBits / 8) })
    }

    /// An entry of an edit list, version 1.
    static func edits(_ edits: [(duration: Int, mediaTime: Int)]) -> [UInt8] {
        Boxes.full(
            "elst", version: 1,
            Boxes.big(edits.count, 4)
                + edits.flatMap { Boxes.big($0.duration, 8) + Boxes.big($0.mediaTime, 8) + Boxes.big(0x10000, 4) })
    }
}
