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

    /// The next packet, or nil when it is not there, or a page with a part of it is damaged.
    mutating func next() throws(Interruption) -> OggPacketSource? {
        var here = place
        let packet = OggPacketSource(pages.source)
        while pagesLeft > 0 {
            guard let page = try page(at: here.offset) else { return nil }
            if page.serial == serial, !page.isFirst || here.segment > 0 {
                if here.segment == 0 {
                    guard here.sequence == nil || here.sequence == page.sequence,
                        page.isContinued == (packet.count > 0)
                    else { return nil }
                    here.sequence = page.sequence &+ 1
                }
                var start = page.headerSize
                for segment in 0..<min(here.segment, page.segmentCount) { start += pages.lacing(segment) }
                var size = 0
                while here.segment < page.segmentCount {
                    let count = pages.lacing(here.segment)
                    size += count
                    here.segment += 1
                    guard count < 255 else { continue }
                    packet.add(size, at: Int64(start), of: page)
                    place = here
                    return packet
                }
                packet.add(size, at: Int64(start), of: page)
            } else if page.serial == serial {
                return nil
            }
            pagesLeft -= 1
            (here.offset, here.segment) = (page.end, 0)
        }
        return nil
    }

    /// A page with a correct checksum. A page inside of one packet is not read, because there may be many of them.
    private func page(at offset: Int64) throws(Interruption) -> OggPage? {
        guard let page = try pages.header(at: offset) else { return nil }
        if pages.isInsidePacket(page) { return page }
        guard case .page(page) = try pages.next(from: offset, upTo: offset + 1) else { return nil }
        return page
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
