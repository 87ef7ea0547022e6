import PCM

/// One link of a chain: the streams that begin together, of which the first one with audio is played (RFC 3533, 4).
struct OggLink {
    /// The offset of its first page.
    let offset: Int64
    let serial: UInt32
    /// The serials of all streams that begin with it.
    let serials: [UInt32]
    let content: OggContent
    let metadata: TrackMetadata
    /// The first packet of audio.
    let start: OggPlace
    /// The granule position of the first frame that is played.
    let base: Int64

    private static let mostStreams = 64
    private static let largestHeader: Int64 = 1_048_576
    private static let mostBlocks = 128
    private static let mostVorbisHeaders = 4
    /// The most packets that are read for the first granule position, and after a gap for the next one.
    private static let mostPackets = 4096

    /// Reads the headers.
    /// - Parameter offset: of a page that begins a stream.
    init(_ pages: OggPages, at offset: Int64) throws(Interruption) {
        var serials: [UInt32] = []
        var first: (kind: OggStreamKind, packet: [UInt8], page: OggPage, segments: Int)?
        var other: String?
        var end = offset
        while serials.count < Self.mostStreams, case .page(let page) = try pages.next(from: end),
            page.isFirst || serials.isEmpty, !serials.contains(page.serial)
        {
            serials.append(page.serial)
            end = page.end
            guard first == nil else { continue }
            let packet = pages.firstPacket(of: page)
            switch OggStreamKind(packet.bytes) {
            case .other(let name): other = other ?? name
            case let kind: first = (kind, Array(packet.bytes), page, packet.segments)
            }
        }
        guard let first else { throw .unsupported(what: "Ogg with \(other ?? "a stream of an unknown kind")") }
        let page = first.page
        var headers = OggHeaders(
            pages, serial: page.serial,
            at: OggPlace(offset: page.offset, segment: first.segments, sequence: page.sequence &+ 1))
        let found: (content: OggContent, metadata: TrackMetadata)
        switch first.kind {
        case .opus: found = try Self.opus(first.packet, &headers)
        case .vorbis: found = try Self.vorbis(first.packet, &headers)
        case .flac: found = try Self.flac(first.packet, &headers)
        case .other: throw Self.damage(first.kind)
        }
        self.offset = offset
        self.serials = serials
        serial = page.serial
        content = found.content
        metadata = found.metadata
        let walk = OggWalk(pages, serial: serial)
        // Packets of headers may be missing.
        var position = headers.place
        if position.offset < end { (position.offset, position.segment) = (end, 0) }
        start = try Self.start(position, walk, found.content)
        let isCutAtFront = if case .vorbis = found.content { start.time < 0 } else { false }
        base = (isCutAtFront ? 0 : start.time) + found.content.preSkip
    }

    /// The first packet of audio, with its time: the first granule position, less the frames up to there. It is above 0
    /// in a stream that was cut out of a longer one. It is below 0 when the beginning is cut, or when the encoder
    /// counted wrongly (RFC 7845, 4.5).
    private static func start(
        _ position: OggPlace, _ walk: OggWalk, _ content: OggContent
    ) throws(Interruption) -> OggPlace {
        var start = position
        start.time = 0
        var here = start
        for _ in 0..<mostPackets {
            switch try walk.step(&here) {
            case .packet(let bytes, let page, let isLastInPage):
                here.time += content.frameCount(of: bytes, after: &here.block)
                guard isLastInPage, let granule = page.granule else { continue }
                start.time = page.isLast && granule < here.time ? 0 : granule - here.time
                return start
            case .gap:
                // A station first sends the headers of a stream that has run for hours.
                here.time = 0
                here.block = 0
                start = here
            case .link, .end: return start
            }
        }
        return start
    }

    /// The place of a packet whose time is not known, with the time that the next page gives.
    /// - Returns: nil when that cannot be known. `isExact`: false when the page may cut packets.
    static func timed(
        _ position: OggPlace, _ walk: OggWalk, _ content: OggContent
    ) throws(Interruption) -> (position: OggPlace, isExact: Bool)? {
        var found = position
        (found.time, found.block) = (0, 0)
        var here = found
        for _ in 0..<mostPackets {
            guard case .packet(let bytes, let page, let isLastInPage) = try walk.step(&here) else { return nil }
            here.time += content.frameCount(of: bytes, after: &here.block)
            guard isLastInPage, let granule = page.granule else { continue }
            found.time = granule - here.time
            return (found, !page.isLast)
        }
        return nil
    }

    private static func opus(
        _ packet: [UInt8], _ headers: inout OggHeaders
    ) throws(Interruption) -> (OggContent, TrackMetadata) {
        let head = try OpusHead(packet)
        var rest = headers
        guard let tags = try rest.next(), try begins(tags, "OpusTags") else { return (.opus(head), TrackMetadata()) }
        headers = rest
        return (.opus(head), try comments(tags, from: 8, prefersR128: true))
    }

    private static func vorbis(
        _ packet: [UInt8], _ headers: inout OggHeaders
    ) throws(Interruption) -> (OggContent, TrackMetadata) {
        var tags = TrackMetadata()
        // Pages with the comments, or with a part of them, may be missing.
        for _ in 0..<mostVorbisHeaders {
            guard let header = try headers.next() else { break }
            if try begins(header, "\u{3}vorbis") { tags = try comments(header, from: 7) }
            guard try begins(header, "\u{5}vorbis"), header.count <= largestHeader else { continue }
            let content = try VorbisSetup(
                identification: packet, setup: SourceReader(header).bytes(Int(header.count), at: 0))
            return (.vorbis(content), tags)
        }
        throw damage(.vorbis)
    }

    /// `0x7F FLAC`, a version, the number of packets that follow, then the native marker and STREAMINFO (RFC 9639,
    /// 10.1).
    private static func flac(
        _ packet: [UInt8], _ headers: inout OggHeaders
    ) throws(Interruption) -> (OggContent, TrackMetadata) {
        guard packet.count == 17 + FLACStreamInfo.byteCount, packet[5] == 1,
            Array(packet[9..<13]) == FLACHeader.marker, packet[13] & 0x7F == FLACHeader.BlockType.streamInfo
        else { throw damage(.flac) }
        let info = try FLACStreamInfo(Array(packet[17...]))
        var metadata = TrackMetadata()
        var isLast = packet[13] & 0x80 != 0
        for _ in 0..<mostBlocks where !isLast {
            var rest = headers
            guard let block = try rest.next(), let type = try SourceReader(block).bytes(1, at: 0).first, type != 0xFF
            else { break }
            headers = rest
            isLast = type & 0x80 != 0
            switch type & 0x7F {
            case FLACHeader.BlockType.vorbisComment:
                metadata = metadata.overridden(by: try comments(block, from: 4))
            case FLACHeader.BlockType.picture where metadata.pictures.count < TagPicture.most:
                let head = try SourceReader(block).bytes(TagPicture.blockHead, at: 4)
                guard var picture = TagPicture(blockHead: head, size: block.count - 4) else { continue }
                picture.move(by: 4)
                if let picture = block.located(picture) { metadata.pictures.append(picture) }
            default: continue
            }
        }
        return (.flac(info), metadata)
    }

    /// The comments in a packet, with their pictures in the file.
    private static func comments(
        _ packet: OggPacketSource, from start: Int64, prefersR128: Bool = false
    ) throws(Interruption) -> TrackMetadata {
        var metadata = try VorbisComments.read(
            from: packet, in: start..<max(start, packet.count), prefersR128: prefersR128)
        metadata.pictures = metadata.pictures.compactMap(packet.located)
        return metadata
    }

    private static func begins(_ packet: OggPacketSource, _ text: StaticString) throws(Interruption) -> Bool {
        let head = try SourceReader(packet).bytes(text.utf8CodeUnitCount, at: 0)
        return text.withUTF8Buffer { $0.elementsEqual(head) }
    }

    private static func damage(_ kind: OggStreamKind) -> Interruption {
        switch kind {
        case .opus: .damaged(what: "Ogg Opus without its headers")
        case .vorbis: .damaged(what: "Ogg Vorbis without its headers")
        case .flac: .damaged(what: "Ogg FLAC without its headers")
        case .other: .damaged(what: "Ogg without its headers")
        }
    }
}
