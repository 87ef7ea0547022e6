@testable import Media

/// Elements of EBML in a file, which a test changes.
enum Elements {
    struct Place {
        /// The offset of its header.
        var start: Int
        var content: Int
        var end: Int
    }

    /// The elements at a path, in order.
    static func find(_ path: [UInt32], in bytes: [UInt8], _ range: Range<Int>? = nil) throws -> [Place] {
        let reader = EBMLReader(source: MemorySource(bytes))
        let range = range ?? 0..<bytes.count
        var found: [Place] = []
        var offset = range.lowerBound
        while offset < range.upperBound, let element = try reader.element(at: Int64(offset)) {
            let place = Place(
                start: offset, content: Int(element.content), end: min(range.upperBound, Int(element.end ?? .max)))
            if element.id == path[0] {
                let rest = Array(path.dropFirst())
                found += rest.isEmpty ? [place] : try find(rest, in: bytes, place.content..<place.end)
            }
            offset = place.end
        }
        return found
    }

    static func clusters(_ bytes: [UInt8]) throws -> [Place] {
        try find([MatroskaID.segment, MatroskaID.cluster], in: bytes)
    }

    /// An element with a size of 8 bytes.
    /// - Parameter isOpen: without a known size.
    static func element(_ id: UInt32, _ content: [UInt8], isOpen: Bool = false) -> [UInt8] {
        let bytes = Array(Boxes.big(Int(id), 4).drop { $0 == 0 })
        let size = isOpen ? [UInt8](repeating: 0xFF, count: 7) : Boxes.big(content.count, 7)
        return bytes + [UInt8(1)] + size + content
    }

    static func number(_ id: UInt32, _ value: Int) -> [UInt8] { element(id, Boxes.big(value, 8)) }
}

/// A file of Matroska written by hand, for contents that no program writes.
struct HandmadeMatroska {
    var type = "matroska"
    var codec = "A_FLAC"
    var header: [UInt8]
    var packets: [[UInt8]]
    /// The time of each packet, in milliseconds.
    var times: [Int]
    var packetsPerCluster = 4
    /// Whether the segment and its clusters have sizes.
    var hasSizes = true
    /// More fields of the track.
    var moreFields: [UInt8] = []
    /// Elements before the track.
    var otherTracks: [UInt8] = []
    /// Other parts of the segment, before the tracks.
    var otherParts: [UInt8] = []
    /// The discard padding of each packet, where it is not 0.
    var discards: [Int] = []

    /// FLAC in packets of 4608 frames at 44.1 kHz.
    init(_ signal: Signal) throws {
        let map = try FrameMap(try signal.flac(["-b4608", "--no-padding"]))
        header = map.header
        packets = (0..<(map.offsets.count - 1)).map { map.frames($0..<($0 + 1)) }
        times = packets.indices.map { Int((Double($0) * 4608 / 44.1).rounded()) }
    }

    static func track(_ number: Int, _ codec: String, _ fields: [UInt8], type: Int = 2) -> [UInt8] {
        Elements.element(
            MatroskaID.trackEntry,
            Elements.number(MatroskaID.trackNumber, number) + Elements.number(MatroskaID.trackUID, number)
                + Elements.number(MatroskaID.trackType, type) + Elements.element(MatroskaID.codec, Array(codec.utf8))
                + fields)
    }

    var bytes: [UInt8] {
        let head = Elements.element(MatroskaID.header, Elements.element(MatroskaID.docType, Array(type.utf8)))
        let track = Self.track(7, codec, Elements.element(MatroskaID.codecPrivate, header) + moreFields)
        var parts = otherParts + Elements.element(MatroskaID.tracks, otherTracks + track)
        for start in stride(from: 0, to: packets.count, by: packetsPerCluster) {
            var cluster =
                Elements.element(MatroskaID.checksum, [0, 0, 0, 0]) + Elements.element(MatroskaID.void, [1, 2, 3])
                + Elements.number(MatroskaID.timestamp, times[start])
            for index in start..<min(start + packetsPerCluster, packets.count) {
                let time = Boxes.big((times[index] - times[start]) & 0xFFFF, 2)
                let block: [UInt8] = [0x87] + time + [0] + packets[index]
                let discard = discards.indices.contains(index) ? discards[index] : 0
                cluster +=
                    discard == 0
                    ? Elements.element(MatroskaID.simpleBlock, block)
                    : Elements.element(
                        MatroskaID.blockGroup,
                        Elements.element(MatroskaID.block, block) + Elements.number(MatroskaID.discardPadding, discard))
            }
            parts += Elements.element(MatroskaID.cluster, cluster, isOpen: !hasSizes)
        }
        return head + Elements.element(MatroskaID.segment, parts, isOpen: !hasSizes)
    }
}
