/// Recognises the format of a file by its content, never by its name: by its first bytes, or else by what follows tags
/// and other bytes.
struct FormatRecognition {
    let table: FormatTable

    struct Finding {
        var format: AudioFormat
        /// The offset of the end of the tags before the container.
        var tagsEnd: Int64
        /// The offset of the container.
        var start: Int64
    }

    /// Finds the format of some bytes, and where it begins in them.
    /// - Throws: `.empty`, `.notAudio`, or `.unsupported` for a format of audio that is not played.
    func finding(in source: any ByteSource) throws(Interruption) -> Finding {
        let tagsEnd = try ID3v2.end(of: source, at: 0)
        var start = tagsEnd
        var head = try SourceReader(source).bytes(AudioFormat.headSize, at: start)
        if start == 0, head.isEmpty { throw .failed(.empty) }
        if APETag(head)?.isHeader == true {
            start = try MPEGTags.end(of: source, at: start)
            head = try SourceReader(source).bytes(AudioFormat.headSize, at: start)
        }
        if let format = table.format(beginning: head) {
            if format.container == .wav, let data = try WAVHeader.startOfMPEG(in: source, at: start, head),
                try MPEGSync(PagePairSource(source)).stream(at: data) != nil
            {
                return Finding(format: .mp3, tagsEnd: tagsEnd, start: data)
            }
            return Finding(format: format, tagsEnd: tagsEnd, start: start)
        }
        let name = Signature.name(of: head)
        if try ADTSHeader.begins(source, at: start) {
            return Finding(format: .adts, tagsEnd: tagsEnd, start: start)
        }
        if try MPEGSync(PagePairSource(source)).stream(at: start) != nil {
            return Finding(format: .mp3, tagsEnd: tagsEnd, start: start)
        }
        guard Signature.mayHideAudio(name) else { throw try refusal(head, name, source, start) }
        if let found = try FLACSearch.start(in: source, from: start) {
            // Ogg has FLAC's marker in its first page.
            if let page = try OggPages.start(in: source, from: max(start, found.offset - 64), upTo: found.offset) {
                return Finding(format: .ogg, tagsEnd: tagsEnd, start: page)
            }
            return Finding(format: .flac, tagsEnd: tagsEnd, start: found.offset)
        }
        let blocks = WavPackBlocks(source: PagePairSource(source), end: nil)
        if let found = try blocks.search(from: start, upTo: start + MPEGSync.mostJunk) {
            return Finding(format: .wavpack, tagsEnd: tagsEnd, start: found)
        }
        // A tag whose size is larger than the file is damaged, and does not show where the frames begin.
        let isBeyond = head.isEmpty
        // A recording may begin inside of a packet.
        let paged = PagePairSource(source)
        if let found = try ADTSHeader.search(
            paged, from: isBeyond ? 0 : start, limit: ADTSHeader.mostJunk, headers: ADTSHeader.testedHeaders + 1)
        {
            return Finding(format: .adts, tagsEnd: min(tagsEnd, found), start: found)
        }
        let sync = MPEGSync(PagePairSource(source))
        if let found = try sync.search(
            from: isBeyond ? 0 : start, limit: isBeyond ? MPEGWalk.mostJunk : MPEGSync.mostJunk)
        {
            return Finding(format: .mp3, tagsEnd: min(tagsEnd, found.offset), start: found.offset)
        }
        if let page = try OggPages.start(in: source, from: start, upTo: start + MPEGSync.mostJunk) {
            return Finding(format: .ogg, tagsEnd: tagsEnd, start: page)
        }
        throw try refusal(head, name, source, start)
    }

    /// Why bytes after tags, if there are any, are not played.
    private func refusal(
        _ head: [UInt8], _ name: String?, _ source: any ByteSource, _ start: Int64
    ) throws(Interruption) -> Interruption {
        if let name = Signature.unplayed(head) { return .unsupported(what: name) }
        // Tags of other kinds may follow, and a tag may end in zeros.
        let end = try MPEGTags.end(of: source, at: start)
        if end > 0, try SourceReader(source).bytes(AudioFormat.headSize, at: end).allSatisfy({ $0 == 0 }) {
            return .failed(.notAudio(looksLike: "tags without audio"))
        }
        return .failed(.notAudio(looksLike: name ?? (start > 0 ? "MP3" : nil)))
    }
}
