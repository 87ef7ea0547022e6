/// Reads pages of Ogg: one at a time is in memory, whole and with a right checksum.
///
/// Thread: only the decoder thread.
final class OggPages {
    let source: any ByteSource
    /// The same bytes, without reading ahead.
    private let direct: any ByteSource
    private let memory: UnsafeMutableRawBufferPointer
    /// The page in `memory`.
    private var loaded: OggPage?
    /// Whether `memory` has the body, too.
    private var hasBody = false

    /// The most bytes that are searched for a page.
    static let mostJunk: Int64 = 16_777_216
    /// The most false markers. Each of them may cost the checksum of a whole page.
    private static let mostFalseMarkers = 1000

    enum Finding: Equatable {
        case page(OggPage)
        /// The source ends there, or the limit of the search is reached. `isCut`: a page began, and was not whole.
        case end(isCut: Bool)
    }

    private enum Answer {
        case page(OggPage)
        case other
        case cut
        case end
    }

    init(_ source: any ByteSource) {
        self.source = PagePairSource(source)
        direct = source
        memory = .allocate(byteCount: OggPage.mostBytes, alignment: 16)
    }

    deinit { memory.deallocate() }

    /// How many bytes a segment of the page in memory has.
    func lacing(_ segment: Int) -> Int { Int(memory[OggPage.fixedSize + segment]) }

    /// The rest of a packet in the page in memory: where its bytes begin in the body, how many there are, and whether
    /// they are its last ones.
    /// - Parameter segment: the first one; moves after the last one.
    func rest(from segment: inout Int, of page: OggPage) -> (start: Int, size: Int, isWhole: Bool) {
        var (start, size, isWhole) = (0, 0, false)
        for before in 0..<min(segment, page.segmentCount) { start += lacing(before) }
        while segment < page.segmentCount, !isWhole {
            let count = lacing(segment)
            size += count
            isWhole = count < 255
            segment += 1
        }
        return (start, size, isWhole)
    }

    /// The bytes of the page in memory, valid until another page is read.
    /// - Parameter place: offset in the page's body.
    func bytes(_ count: Int, at place: Int, of page: OggPage) -> UnsafeRawBufferPointer {
        let start = page.headerSize + place
        return UnsafeRawBufferPointer(rebasing: memory[start..<(start + count)])
    }

    /// The first packet that begins in the page in memory, as far as the page has it, and its segments.
    func firstPacket(of page: OggPage) -> (bytes: UnsafeRawBufferPointer, segments: Int) {
        var segments = 0
        let size = rest(from: &segments, of: page).size
        return (bytes(size, at: 0, of: page), segments)
    }

    /// The page at `offset`, or the next one after other bytes.
    /// - Parameter end: pages that begin there or later are not searched.
    func next(from offset: Int64, upTo end: Int64 = .max) throws(Interruption) -> Finding {
        guard offset < min(end, AudioLimits.largestData) else { return .end(isCut: false) }
        var isCut = false
        switch try load(at: offset) {
        case .page(let page): return .page(page)
        case .end: return .end(isCut: false)
        case .cut: isCut = true
        case .other: break
        }
        let limit = min(end, offset + Self.mostJunk)
        var cursor = SourceCursor(source, from: offset + 1, to: limit == .max ? limit : limit + 3)
        var word: UInt32 = 0
        var falseMarkers = 0
        while falseMarkers < Self.mostFalseMarkers, let byte = try cursor.byte() {
            word = word << 8 | UInt32(byte)
            guard word == OggPage.marker else { continue }
            switch try load(at: cursor.offset - 4) {
            case .page(let page): return .page(page)
            case .cut: isCut = true
            case .other, .end: break
            }
            falseMarkers += 1
        }
        return .end(isCut: isCut)
    }

    /// The offset of the first page in a part of a source.
    static func start(
        in source: any ByteSource, from start: Int64, upTo end: Int64
    ) throws(Interruption) -> Int64? {
        if case .page(let page) = try OggPages(source).next(from: start, upTo: end) { page.offset } else { nil }
    }

    /// The header of a page and its lacing values, without its body: hundreds of pages may have one picture.
    func header(at offset: Int64) throws(Interruption) -> OggPage? {
        if let loaded, loaded.offset == offset { return loaded }
        guard case .page(let page) = try loadHeader(at: offset, direct) else { return nil }
        return page
    }

    /// The page at `offset`, or the next one after other bytes, with a correct checksum. A page inside of one packet is
    /// not read if the next page follows it, because there may be many of them.
    func headerOrNext(from offset: Int64) throws(Interruption) -> OggPage? {
        if let page = try header(at: offset), isInsidePacket(page), try isFollowed(page) { return page }
        return if case .page(let page) = try next(from: offset) { page } else { nil }
    }

    /// Whether all of the page lies inside of one packet.
    func isInsidePacket(_ page: OggPage) -> Bool {
        page.isContinued && page.bodySize == OggPage.mostSegments * 255
    }

    /// Whether the next page continues the one whose header is in memory. The fixed part of the next header is read to
    /// the place of this page's body.
    private func isFollowed(_ page: OggPage) throws(Interruption) -> Bool {
        hasBody = false
        let place = page.headerSize..<(page.headerSize + OggPage.fixedSize)
        guard try fill(place, at: page.end - Int64(place.lowerBound), direct) else { return false }
        let following = OggPage(UnsafeRawBufferPointer(rebasing: memory[place]), at: page.end)
        guard let following else { return false }
        return following.isContinued && following.serial == page.serial && following.sequence == page.sequence &+ 1
    }

    private func load(at offset: Int64) throws(Interruption) -> Answer {
        if hasBody, let loaded, loaded.offset == offset { return .page(loaded) }
        let answer = try loadHeader(at: offset, source)
        guard case .page(let page) = answer else { return answer }
        loaded = nil
        guard try fill(page.headerSize..<page.byteCount, at: offset, source) else { return .cut }
        for place in OggPage.checksumPlace { memory[place] = 0 }
        guard OggChecksum.of(UnsafeRawBufferPointer(rebasing: memory[..<page.byteCount])) == page.checksum else {
            return .other
        }
        loaded = page
        hasBody = true
        return answer
    }

    private func loadHeader(at offset: Int64, _ source: any ByteSource) throws(Interruption) -> Answer {
        loaded = nil
        hasBody = false
        guard try fill(0..<1, at: offset, source) else { return .end }
        guard memory[0] == UInt8(truncatingIfNeeded: OggPage.marker >> 24) else { return .other }
        guard try fill(1..<OggPage.fixedSize, at: offset, source) else { return .cut }
        let fixed = UnsafeRawBufferPointer(rebasing: memory[..<OggPage.fixedSize])
        guard var page = OggPage(fixed, at: offset) else { return .other }
        guard try fill(OggPage.fixedSize..<page.headerSize, at: offset, source) else { return .cut }
        for segment in 0..<page.segmentCount { page.bodySize += lacing(segment) }
        loaded = page
        return .page(page)
    }

    /// Reads bytes of the page at `offset` to the same offsets of the memory.
    /// - Returns: false when the source ends before.
    private func fill(
        _ range: Range<Int>, at offset: Int64, _ source: any ByteSource
    ) throws(Interruption) -> Bool {
        var filled = range.lowerBound
        while filled < range.upperBound {
            let rest = UnsafeMutableRawBufferPointer(rebasing: memory[filled..<range.upperBound])
            guard let count = try source.next(into: rest, at: offset + Int64(filled)) else { return false }
            filled += count
        }
        return true
    }
}
