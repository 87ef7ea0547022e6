/// The packets before the audio of a logical stream. They may be large, so they are found without being loaded.
struct OggHeaders {
    private let pages: OggPages
    private let serial: UInt32
    /// The place of the next packet.
    private(set) var place: OggPlace
    private var pagesLeft = mostPages

    /// The most pages of headers: more than 250 MB of pictures.
    private static let mostPages = 4096

    /// - Parameter place: of the first packet.
    init(_ pages: OggPages, serial: UInt32, at place: OggPlace) {
        self.pages = pages
        self.serial = serial
        self.place = place
    }

    /// The next packet, after other bytes and packets whose pages are missing; nil when there is none.
    ///
    /// The numbers of the pages say which of them follow each other. Their flags count only after a gap, because some
    /// programs set them wrongly.
    mutating func next() throws(Interruption) -> OggPacketSource? {
        var here = place
        var packet = OggPacketSource(pages.source)
        while pagesLeft > 0, let page = try pages.headerOrNext(from: here.offset) {
            pagesLeft -= 1
            if page.offset != here.offset { (here.offset, here.segment) = (page.offset, 0) }
            if page.serial == serial {
                if here.segment == 0 {
                    if let sequence = here.sequence, sequence != page.sequence {
                        // The next link.
                        if page.isFirst { return nil }
                        packet = OggPacketSource(pages.source)
                        here.isSkipping = page.isContinued
                    }
                    here.sequence = page.sequence &+ 1
                }
                if add(page, &here, to: packet) {
                    if !here.isSkipping {
                        place = here
                        return packet
                    }
                    // The end of a packet whose beginning is missing.
                    packet = OggPacketSource(pages.source)
                    here.isSkipping = false
                    if here.segment < page.segmentCount { continue }
                }
            }
            (here.offset, here.segment) = (page.end, 0)
        }
        return nil
    }

    /// Adds the segments of a page up to the end of a packet.
    /// - Returns: whether the packet ends in the page.
    private func add(_ page: OggPage, _ here: inout OggPlace, to packet: OggPacketSource) -> Bool {
        let rest = pages.rest(from: &here.segment, of: page)
        packet.add(rest.size, at: Int64(page.headerSize + rest.start), of: page)
        return rest.isWhole
    }
}

/// The bytes of one packet, which lie in pages of a source.
final class OggPacketSource: ByteSource {
    private let source: any ByteSource
    private var runs: [(start: Int64, offset: Int64, count: Int, page: Int64)] = []
    private(set) var count: Int64 = 0

    init(_ source: any ByteSource) { self.source = source }

    var length: Int64? { count }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { source.whenReadable(wake) }

    /// Adds bytes that begin at `place` in a page.
    func add(_ count: Int, at place: Int64, of page: OggPage) {
        guard count > 0 else { return }
        runs.append((self.count, page.offset + place, count, page.offset))
        self.count += Int64(count)
    }

    /// The location in the file of a picture in this packet.
    func located(_ picture: TagPicture) -> TagPicture? {
        guard picture.offset + picture.length <= count, let run = runs.last(where: { $0.start <= picture.offset })
        else { return nil }
        var found = picture
        found.offset += run.offset - run.start
        if picture.offset + picture.length > run.start + Int64(run.count) { found.page = run.page }
        return found
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        guard let run = runs.last(where: { $0.start <= offset }), offset >= 0, offset < run.start + Int64(run.count)
        else { return .end }
        let place = Int(offset - run.start)
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, run.count - place)])
        return try source.read(into: part, at: run.offset + Int64(place))
    }
}
