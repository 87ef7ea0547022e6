/// The place of the next packet. A value, so that a step that is interrupted has no effect.
struct MatroskaPlace {
    /// The offset of the next element, in a cluster or before one.
    var offset: Int64
    /// The end of the cluster, if its header contains it.
    var limit: Int64?
    /// The time of the cluster, in units of time.
    var clusterTime: Int64 = 0
    /// The block of the next packets.
    var block = MatroskaBlock()
    /// The first decoded frame of the next packet.
    var time: Int64 = 0
    /// The samples of the block before, for Vorbis; 0 when there is none.
    var blockSize = 0
    /// Frames that are missing before the next packet.
    var silence: Int64 = 0

    init(_ offset: Int64) { self.offset = offset }
}

/// Packets that are stored together (RFC 9559, 10).
struct MatroskaBlock {
    /// The bytes of the packets that are left, the last one first.
    var packets: [Range<Int64>] = []
    /// The time of the first packet, in units of time; nil for the packets after it.
    var time: Int64?
    /// Nanoseconds at the end of the last packet that are padding.
    var discard: Int64 = 0
}

/// A packet in the source.
struct MatroskaPacket {
    let range: Range<Int64>
    /// The time in units of time, if the file contains it.
    let time: Int64?
    /// The padding in nanoseconds, as `MatroskaBlock.discard`.
    let discard: Int64
}

/// Moves from packet to packet of a track. Clusters need no size: their elements are read one after the other.
struct MatroskaWalk {
    let segment: MatroskaSegment

    private var reader: EBMLReader { segment.reader }

    private static let longestLacing = 4096

    enum Finding {
        case packet(MatroskaPacket)
        /// - Parameter isCut: whether more should follow.
        case end(isCut: Bool)
    }

    func step(_ place: inout MatroskaPlace) throws(Interruption) -> Finding {
        while true {
            if let range = place.block.packets.popLast() {
                defer { place.block.time = nil }
                let isLast = place.block.packets.isEmpty
                return .packet(
                    MatroskaPacket(
                        range: range, time: place.block.time, discard: isLast ? place.block.discard : 0))
            }
            guard try enter(&place) else { return .end(isCut: try isCut(place)) }
        }
    }

    /// The first bytes of a packet, as the codec takes it.
    func head(of packet: MatroskaPacket) throws(Interruption) -> [UInt8] {
        let prefix = segment.track.prefix
        let size = packet.range.upperBound - packet.range.lowerBound
        let count = max(0, min(Int64(MatroskaCodec.headBytes - prefix.count), size))
        return try prefix + SourceReader(reader.source).bytes(Int(count), at: packet.range.lowerBound)
    }

    /// Skips one element, or enters it.
    /// - Returns: false at the end.
    private func enter(_ place: inout MatroskaPlace) throws(Interruption) -> Bool {
        if let end = segment.end, place.offset >= end { return false }
        guard let element = try reader.element(at: place.offset), isPlausible(element, place) else {
            // After damage, the next cluster is intact again.
            guard let cluster = try MatroskaSearch(segment).cluster(from: place.offset + 1) else { return false }
            place.offset = cluster.offset
            place.limit = nil
            return true
        }
        var next = place
        next.offset = element.end ?? element.content
        switch element.id {
        case MatroskaID.cluster:
            next.offset = element.content
            next.limit = element.end
        case MatroskaID.timestamp: next.clusterTime = Int64(clamping: try reader.unsigned(element))
        case MatroskaID.simpleBlock: next.block = try block(element, next) ?? MatroskaBlock()
        case MatroskaID.blockGroup: next.block = try group(element, next)
        // Another file is joined to this one.
        case MatroskaID.header: return false
        default: break
        }
        place = next
        return true
    }

    private func isPlausible(_ element: EBMLElement, _ place: MatroskaPlace) -> Bool {
        guard let end = element.end else {
            return element.id == MatroskaID.cluster || element.id == MatroskaID.segment
        }
        let limit = place.limit.flatMap { place.offset < $0 ? $0 : nil }
        // The blocks of a cluster that is cut off are there.
        let isInside = element.id == MatroskaID.cluster || end <= reader.source.length ?? .max
        return isInside && end <= limit ?? segment.end ?? .max
    }

    private func isCut(_ place: MatroskaPlace) throws(Interruption) -> Bool {
        if let end = segment.end { return place.offset < end }
        if let limit = place.limit, place.offset < limit { return true }
        // A stream may end between any two elements, and another one may be joined to it.
        if let next = try reader.element(at: place.offset) { return next.id != MatroskaID.header }
        return try !SourceReader(reader.source).bytes(1, at: place.offset).isEmpty
    }

    private func group(_ element: EBMLElement, _ place: MatroskaPlace) throws(Interruption) -> MatroskaBlock {
        var found: MatroskaBlock?
        var discard: Int64 = 0
        var fields = reader.children(of: element)
        while let field = try fields.next() {
            if field.id == MatroskaID.block { found = try block(field, place) }
            if field.id == MatroskaID.discardPadding { discard = try reader.signed(field) }
        }
        found?.discard = discard
        return found ?? MatroskaBlock()
    }

    /// - Returns: nil for a block of another track, and for one that is damaged.
    private func block(_ element: EBMLElement, _ place: MatroskaPlace) throws(Interruption) -> MatroskaBlock? {
        guard let end = element.end else { return nil }
        var head = ByteReader(try reader.bytes(element, limit: 16))
        guard head.elementNumber() == segment.track.number, let time = head.bigEndian(UInt16.self),
            let flags = head.littleEndian(UInt8.self)
        else { return nil }
        let lacing = Lacing(rawValue: flags >> 1 & 3) ?? .none
        var block = MatroskaBlock()
        block.time = Int64(Int16(bitPattern: time)).addingReportingOverflow(place.clusterTime).partialValue
        guard lacing != .none else {
            block.packets = [(element.content + Int64(head.position))..<end]
            return block
        }
        var fields = ByteReader(try reader.bytes(element, limit: Self.longestLacing))
        fields.skip(head.position)
        guard let sizes = lacing.sizes(&fields, total: end - element.content) else { return nil }
        var start = element.content + Int64(fields.position)
        for size in sizes {
            block.packets.append(start..<(start + size))
            start += size
        }
        block.packets.append(start..<end)
        block.packets.reverse()
        return block
    }
}

/// How several packets lie in one block (RFC 9559, 10.3).
private enum Lacing: UInt8 {
    case none, xiph, fixed, ebml

    /// The sizes of all packets but the last one.
    /// - Parameters:
    ///   - fields: at the number of packets; then after the sizes.
    ///   - total: bytes of the whole block.
    func sizes(_ fields: inout ByteReader, total: Int64) -> [Int64]? {
        guard let count = fields.littleEndian(UInt8.self).map({ Int64($0) }) else { return nil }
        var sizes: [Int64] = []
        var sum: Int64 = 0
        for index in 0..<count {
            let size: Int64
            switch self {
            case .none: return []
            case .fixed: size = (total - Int64(fields.position)) / (count + 1)
            case .xiph:
                guard let number = fields.xiphSize() else { return nil }
                size = Int64(number)
            case .ebml:
                let start = fields.position
                guard let number = fields.elementNumber(), number < 1 << 40 else { return nil }
                if index == 0 {
                    size = Int64(number)
                } else {
                    // A difference to the size before, with half of the range of the bytes subtracted.
                    let bits = UInt64(7 * (fields.position - start) - 1)
                    size = sizes[sizes.count - 1] + Int64(number) - (Int64(1) << bits - 1)
                }
            }
            guard 0...total ~= size else { return nil }
            sum += size
            sizes.append(size)
        }
        guard sum <= total - Int64(fields.position) else { return nil }
        return sizes
    }
}
