import PCM

/// The packets of one link, in order and with their times, and the seeking in it.
///
/// A step that is interrupted has no effect.
struct OggLinkPackets {
    let link: OggLink
    /// The place of the next packet.
    private(set) var position: OggPlace
    private let walk: OggWalk

    enum Step {
        /// A packet. It has no bytes if it stands for missing ones.
        case packet(Packet)
        /// Another link begins at this offset.
        case link(Int64)
        /// The source ends.
        case end(isCut: Bool)
    }

    /// The most searches for a page where Vorbis can begin.
    private static let mostSearches = 16
    /// The longest silence in seconds, as for FLAC: a granule position that asks for more is itself damaged.
    private static let longestSilence: Int64 = 600

    init(_ link: OggLink, _ pages: OggPages) {
        self.link = link
        walk = OggWalk(pages, serial: link.serial)
        position = link.start
    }

    /// Frames of the link before the next packet.
    var frameCount: Int64 { max(0, position.time - link.base) }

    mutating func next() throws(Interruption) -> Step {
        while true {
            var next = position
            switch try walk.step(&next) {
            case .packet(let bytes, let page, let isLastInPage):
                let duration = link.content.frameCount(of: bytes, after: &next.block)
                next.time = position.time + duration
                var packet = Packet(bytes: bytes, timeStamp: position.time - link.base, duration: duration)
                packet.trim.leading = Int(min(duration, max(0, link.base - position.time)))
                if let granule = page.granule {
                    if page.isLast {
                        packet.trim.trailing = Int(min(duration, max(0, next.time - granule)))
                    } else if isLastInPage {
                        next.time = granule
                    }
                }
                position = next
                if !bytes.isEmpty { return .packet(packet) }
            case .gap:
                let packet = try gap(&next)
                position = next
                return .packet(packet)
            case .link(let offset):
                position = next
                return .link(offset)
            case .end(let isCut):
                position = next
                return .end(isCut: isCut || !next.isInLastPage)
            }
        }
    }

    /// A packet without bytes that stands for the missing packets before a place.
    private func gap(_ next: inout OggPlace) throws(Interruption) -> Packet {
        (next.time, next.block) = (position.time, 0)
        if let timed = try OggLink.timed(next, walk, link.content) {
            next.time = max(position.time, timed.position.time)
        }
        let missing = next.time - position.time
        let isPlausible = missing <= Self.longestSilence * Int64(link.content.format.sampleRate)
        var packet = Packet(
            bytes: UnsafeRawBufferPointer(start: nil, count: 0), timeStamp: position.time - link.base,
            duration: isPlausible ? missing : 0)
        if isPlausible { packet.trim.leading = Int(min(missing, max(0, link.base - position.time))) }
        return packet
    }

    // MARK: Seeking

    /// Moves to a packet from which a frame can be decoded.
    /// - Parameter entry: the link's entry in the chain, if there is one.
    /// - Returns: the first frame of that packet.
    mutating func seek(toFrame frame: Int64, _ entry: OggChain.Entry?) throws(Interruption) -> Int64 {
        let content = link.content
        let time = min(max(0, frame), AudioLimits.largestData) + link.base
        var wanted = time - content.preroll
        for _ in 0..<Self.mostSearches {
            guard wanted >= link.start.time, let page = try page(upTo: wanted, entry), let granule = page.granule
            else { break }
            var found = walk.position(after: page)
            if content.needsPacketBefore {
                guard let timed = try OggLink.timed(found, walk, content), timed.isExact, timed.position.time <= time
                else {
                    wanted = granule - 1
                    continue
                }
                found = timed.position
            }
            position = found
            return max(0, found.time - link.base)
        }
        position = link.start
        return 0
    }

    private func page(upTo time: Int64, _ entry: OggChain.Entry?) throws(Interruption) -> OggPage? {
        let search = OggSearch(pages: walk.pages, link: link)
        if let end = entry?.end ?? walk.pages.source.length {
            return try search.page(upTo: time, from: link.start.offset, to: end, endTime: entry?.endTime)
        }
        // Without a length the pages are read one after the other, from here on if the time is later.
        let start = time > position.time ? position.offset : link.start.offset
        if let page = try search.page(upTo: time, from: start, to: nil, endTime: nil) { return page }
        return try search.page(upTo: time, from: link.start.offset, to: nil, endTime: nil)
    }
}
