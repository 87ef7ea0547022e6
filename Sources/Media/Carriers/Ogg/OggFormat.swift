extension AudioProperties.Container {
    public static var ogg: Self { Self(6, "ogg", mediaType: "audio/ogg") }
}

extension AudioFormat {
    static let ogg = AudioFormat(
        .ogg, suffixes: ["ogg", "oga", "opus"],
        mediaTypes: ["audio/ogg", "application/ogg", "audio/vorbis", "audio/opus"], begins: { $0.has("OggS") }
    ) { input throws(Interruption) in
        let container = try OggContainer(input.source, tags: input.tags, base: input.start)
        return TrackDecoder(container.track, container, try OggCodec(container), input.steps)
    } encodedBytes: { input throws(Interruption) in
        let pages = OggPages(input.file)
        let limit = input.start + MPEGSync.mostJunk
        guard let first = try OggPages.start(in: input.file, from: input.start, upTo: limit) else { return nil }
        let place = try OggLink(pages, at: first).start
        var found = input.bytes(from: place.offset)
        // The place before the first packet may be the end of the headers, which have pages of their own.
        if place.segment > 0, case .page(let page) = try pages.next(from: place.offset), page.offset == place.offset,
            place.segment >= page.segmentCount
        {
            found = input.bytes(from: page.end)
        }
        found.isOgg = true
        return found
    }
}
