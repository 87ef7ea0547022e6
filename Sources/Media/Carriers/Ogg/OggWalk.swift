/// The start of a packet of a logical stream.
struct OggPlace: Equatable {
    /// The offset of the page.
    var offset: Int64
    /// The number of the packet's first segment in the page; 0 when the page was not read yet.
    var segment = 0
    /// The number of the next page that begins after this place, if it is known.
    var sequence: UInt32?
    /// The end of the packets before, in units of granule positions.
    var time: Int64 = 0
    /// The size of the block before, for Vorbis; 0 when there is none.
    var block = 0
    /// Whether the stream's last page was reached.
    var isInLastPage = false
    /// Whether the next bytes are the rest of a packet whose beginning is missing.
    var isSkipping = false
}

/// Moves through the packets of one logical stream, across pages, past the pages of other streams.
///
/// A value without a position of its own. A step that ends in "not yet" can be repeated.
struct OggWalk {
    let pages: OggPages
    let serial: UInt32
    private let buffer: OggPacketBuffer

    enum Step {
        /// A packet, valid until the next step, the page that it ends in, and whether it is the last one that does.
        case packet(UnsafeRawBufferPointer, OggPage, isLastInPage: Bool)
        /// Packets are missing before the place.
        case gap
        /// Another stream begins at this offset.
        case link(Int64)
        case end(isCut: Bool)
    }

    init(_ pages: OggPages, serial: UInt32) {
        self.pages = pages
        self.serial = serial
        buffer = OggPacketBuffer()
    }

    /// - Parameter position: moves to the end of the packet; after a gap, to the first packet that is there.
    func step(_ position: inout OggPlace) throws(Interruption) -> Step {
        var here = position
        buffer.clear()
        while true {
            let page: OggPage
            switch try pages.next(from: here.offset) {
            case .page(let found): page = found
            case .end(let isCut):
                position.offset = here.offset
                position.segment = here.segment
                return .end(isCut: isCut || buffer.count > 0)
            }
            if page.offset != here.offset { (here.offset, here.segment) = (page.offset, 0) }
            // A place inside of a page is one of this stream: the flag of a header page may be wrong.
            if page.isFirst, here.segment == 0 {
                position = here
                return .link(page.offset)
            }
            if page.serial == serial {
                if here.segment == 0, enter(page, &here) {
                    position = here
                    return .gap
                }
                if here.segment < page.segmentCount, take(from: page, &here) {
                    position = here
                    return buffer.isUsable ? .packet(buffer.bytes, page, isLastInPage: isLast(here, in: page)) : .gap
                }
                if buffer.count == 0 { position.isInLastPage = here.isInLastPage }
            }
            (here.offset, here.segment) = (page.end, 0)
        }
    }

    /// Enters a page at its first segment.
    /// - Returns: whether packets are missing before it.
    private func enter(_ page: OggPage, _ here: inout OggPlace) -> Bool {
        let isNext = here.sequence.map { $0 == page.sequence } ?? true
        let isPending = buffer.count > 0
        let isMissing = !isNext || (isPending || here.isSkipping) != page.isContinued
        here.isInLastPage = page.isLast
        here.sequence = page.sequence &+ 1
        if isPending, !isMissing { return false }
        buffer.clear()
        here.isSkipping = false
        if page.isContinued {
            // The rest of a packet whose beginning is missing.
            while here.segment < page.segmentCount, pages.lacing(here.segment) == 255 { here.segment += 1 }
            here.isSkipping = here.segment == page.segmentCount
            if !here.isSkipping { here.segment += 1 }
        }
        // The page is entered again by the next step.
        if isMissing, here.segment == 0 { here.sequence = page.sequence }
        return isMissing
    }

    /// Adds the segments of the packet at `here`.
    /// - Returns: whether it ends in the page.
    private func take(from page: OggPage, _ here: inout OggPlace) -> Bool {
        let rest = pages.rest(from: &here.segment, of: page)
        buffer.add(pages.bytes(rest.size, at: rest.start, of: page), isWhole: rest.isWhole)
        return rest.isWhole
    }

    /// - Parameter here: after a packet that ends in the page.
    private func isLast(_ here: OggPlace, in page: OggPage) -> Bool {
        for segment in here.segment..<page.segmentCount where pages.lacing(segment) < 255 { return false }
        return true
    }

    /// The place after the last packet that ends in a page.
    /// - Parameter page: in memory, with a granule position.
    func position(after page: OggPage) -> OggPlace {
        var here = OggPlace(
            offset: page.end, sequence: page.sequence &+ 1, time: page.granule ?? 0, isInLastPage: page.isLast)
        var segment = page.segmentCount
        while segment > 0, pages.lacing(segment - 1) == 255 { segment -= 1 }
        if segment > 0, segment < page.segmentCount { (here.offset, here.segment) = (page.offset, segment) }
        return here
    }
}

/// The bytes of a packet of Ogg: those of its page, or a copy of those of several pages.
///
/// Thread: only the decoder thread.
final class OggPacketBuffer {
    private var storage = UnsafeMutableRawBufferPointer.allocate(byteCount: 8192, alignment: 16)
    private var direct: UnsafeRawBufferPointer?
    private(set) var count = 0

    deinit { storage.deallocate() }

    /// Whether it has all of the packet. Larger ones than `PacketBuffer.mostBytes` are dropped.
    var isUsable: Bool { count <= Int(PacketBuffer.mostBytes) }

    var bytes: UnsafeRawBufferPointer { direct ?? UnsafeRawBufferPointer(rebasing: storage[..<count]) }

    func clear() {
        count = 0
        direct = nil
    }

    /// - Parameter isWhole: whether these are the packet's last bytes.
    func add(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) {
        if count == 0, isWhole {
            direct = bytes
            count = bytes.count
            return
        }
        let end = count + bytes.count
        if end <= Int(PacketBuffer.mostBytes) {
            reserve(end)
            UnsafeMutableRawBufferPointer(rebasing: storage[count..<end]).copyMemory(from: bytes)
        }
        count = end
    }

    private func reserve(_ size: Int) {
        guard size > storage.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(size, 2 * storage.count), alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[..<count]))
        storage.deallocate()
        storage = larger
    }
}
