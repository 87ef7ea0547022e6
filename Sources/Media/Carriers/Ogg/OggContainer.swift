import PCM

/// Ogg with Opus, Vorbis or FLAC: a chain of links, each with a stream that is played (docs/decisions/ogg.md).
///
/// Its packets are those of one link. After the last one, `nextLink` begins the next link.
final class OggContainer: TimedPacketSource {
    let track: TrackDescription
    /// The current link.
    var link: OggLink { packets.link }
    private(set) var isCutShort = false

    private let pages: OggPages
    /// The tags at the start of the file.
    private let tags: TrackMetadata
    /// The offset of the source in the file.
    private let base: Int64
    private var chain: OggChain
    /// The number of `link` in the chain; nil when the chain has no room for it.
    private var number: Int? = 0
    private var packets: OggLinkPackets
    /// The offset of the next link, when the last step found one.
    private var nextOffset: Int64?

    /// The most links that are searched when a file is opened, to learn its length.
    private static let mostSearchedLinks = 32
    /// The most links in a row that cannot be played, and are skipped.
    private static let mostUnusableLinks = 16

    /// - Parameters:
    ///   - source: begins with a page, or with bytes before one.
    ///   - tags: of the file's front; those of the stream override them.
    ///   - base: where `source` begins in the file.
    init(_ source: any ByteSource, tags: TrackMetadata, base: Int64 = 0) throws(Interruption) {
        pages = OggPages(source)
        self.tags = tags
        self.base = base
        guard let start = try Self.beginning(pages, from: 0) else {
            throw .damaged(what: "Ogg without the beginning of a stream")
        }
        let link = try OggLink(pages, at: start)
        packets = OggLinkPackets(link, pages)
        var chain = OggChain(link)
        if !source.isStreamed, let length = source.length {
            var last: OggLink? = link
            while !chain.isWhole, chain.count <= Self.mostSearchedLinks, let known = last {
                last = try Self.extend(&chain, known, pages, length)
            }
        }
        self.chain = chain
        track = Self.track(link, chain, tags.overridden(by: link.metadata, at: base))
    }

    private static func track(_ link: OggLink, _ chain: OggChain, _ tags: TrackMetadata) -> TrackDescription {
        var frameCount = chain.frameCount
        var bitRate: Int?
        switch link.content {
        case .vorbis(let setup): bitRate = setup.bitRate
        case .flac(let info): frameCount = frameCount ?? info.frameCount
        case .opus: break
        }
        let format = link.content.format
        if let end = chain[0].end, let count = chain[0].frameCount, count > 0 {
            let seconds = Double(count) / Double(format.sampleRate)
            bitRate = Int32(exactly: (Double(end - link.start.offset) * 8 / seconds).rounded(.down)).map { Int($0) }
        }
        var properties = AudioProperties(
            format: format, frameCount: frameCount, container: .ogg, codec: link.content.codec, bitRate: bitRate)
        if case .flac(let info) = link.content, chain.count == 1 { properties.sampleDigest = info.sampleDigest }
        return TrackDescription(properties: properties, metadata: tags)
    }

    /// The tags of the link; those of the file's front are of the first one.
    var metadata: TrackMetadata {
        (number == 0 ? tags : TrackMetadata()).overridden(by: link.metadata, at: base)
    }

    // MARK: Packets

    func nextPacket() throws(Interruption) -> Packet? {
        switch try packets.next() {
        case .packet(let packet): return packet
        case .link(let offset):
            nextOffset = offset
        case .end(let isCut):
            nextOffset = nil
            isCutShort = isCutShort || isCut
        }
        return nil
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        try packets.seek(toFrame: frame, number.map { chain[$0] })
    }

    // MARK: Links

    /// Begins the link after the one that has ended.
    /// - Returns: false when there is none.
    func nextLink() throws(Interruption) -> Bool {
        guard let offset = nextOffset, offset > link.offset else { return false }
        guard let next = try Self.usableLink(pages, from: offset) else {
            nextOffset = nil
            isCutShort = true
            return false
        }
        if let number {
            if number + 1 == chain.count {
                chain.close(number, frameCount: packets.frameCount, end: offset, endTime: packets.position.time)
                self.number = chain.add(next) ? number + 1 : nil
            } else {
                self.number = number + 1
            }
        }
        begin(next)
        return true
    }

    /// Makes the link that contains a frame of the chain the current one.
    /// - Returns: the frame of that link.
    func enterLink(ofFrame frame: Int64) throws(Interruption) -> Int64 {
        var wanted = chain.number(of: frame)
        while wanted == chain.count - 1, !chain.isWhole, !pages.source.isStreamed, let length = pages.source.length,
            chain.frame(after: wanted).map({ frame >= $0 }) ?? true
        {
            let known = wanted == number ? link : try OggLink(pages, at: chain[wanted].offset)
            guard try Self.extend(&chain, known, pages, length) != nil else { break }
            wanted = chain.number(of: frame)
        }
        if wanted != number {
            let other = try OggLink(pages, at: chain[wanted].offset)
            number = wanted
            begin(other)
        }
        return chain.frames(frame - chain[wanted].startFrame, of: wanted)
    }

    private func begin(_ link: OggLink) {
        packets = OggLinkPackets(link, pages)
        nextOffset = nil
    }

    /// Searches the end of the last known link, and the link after it.
    /// - Parameter known: the last known link.
    /// - Returns: the link after it; nil when there is none.
    private static func extend(
        _ chain: inout OggChain, _ known: OggLink, _ pages: OggPages, _ length: Int64
    ) throws(Interruption) -> OggLink? {
        let search = OggSearch(pages: pages, link: known)
        let offset = try search.nextLink(before: length)
        let endTime = try search.endTime(before: offset ?? length)
        let frameCount = max(0, (endTime ?? known.base) - known.base)
        let next: OggLink? = if let offset { try usableLink(pages, from: offset) } else { nil }
        chain.close(chain.count - 1, frameCount: frameCount, end: offset ?? length, endTime: endTime)
        guard let next, chain.add(next) else {
            chain.isWhole = next == nil
            return nil
        }
        return next
    }

    /// The first link from an offset on that can be played.
    private static func usableLink(_ pages: OggPages, from offset: Int64) throws(Interruption) -> OggLink? {
        var offset = offset
        for _ in 0..<mostUnusableLinks {
            guard let start = try beginning(pages, from: offset) else { return nil }
            do throws(Interruption) { return try OggLink(pages, at: start) } catch {
                if error.isOfSource { throw error }
            }
            offset = start
            while case .page(let page) = try pages.next(from: offset, upTo: offset + 1), page.isFirst {
                offset = page.end
            }
        }
        return nil
    }

    /// The first page from an offset on that begins a stream.
    private static func beginning(_ pages: OggPages, from start: Int64) throws(Interruption) -> Int64? {
        var offset = start
        while offset - start < OggPages.mostJunk, case .page(let page) = try pages.next(from: offset) {
            if page.isFirst { return page.offset }
            // The flag may be missing.
            switch OggStreamKind(pages.firstPacket(of: page).bytes) {
            case .other: break
            default: return page.offset
            }
            offset = page.end
        }
        return nil
    }
}
