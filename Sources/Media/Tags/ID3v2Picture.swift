// The pictures of a tag (ID3v2.2, 4.15; 2.3, 4.15; 2.4, 4.14).
extension ID3v2Frame {
    /// Media type, kind and description of a picture. Pictures with longer ones are left out.
    private static let longestHead: Int64 = 1024

    /// The location of the frame's picture. A frame that is compressed or encrypted has none.
    /// - Parameter content: at the first byte after the frame's header.
    func picture(_ content: ID3v2Content) throws(Interruption) -> TagPicture? {
        guard !isPacked, size > prefixSize else { return nil }
        let count = size - prefixSize
        var start = content
        guard try start.skip(prefixSize) else { return nil }
        let frameEnd = start.offset + count
        if isUnsynchronised { start.isUnsynchronised = true }
        var reading = start
        let head = try reading.prefix(Int(min(count, Self.longestHead)))
        guard let encoding = head.first, let (mediaType, place) = mediaType(in: head), place < head.count,
            let end = Self.terminator(in: head, from: place + 1, isWide: 1...2 ~= encoding),
            !TagPicture.isLink(mediaType)
        else { return nil }
        reading = start
        guard try reading.skip(Int64(end)) else { return nil }
        let offset = reading.offset
        // The sizes in an unsynchronised tag count the decoded bytes; those in other tags count the bytes in the file.
        if content.isUnsynchronised {
            guard try reading.skip(count - Int64(end)) else { return nil }
        }
        let length = (content.isUnsynchronised ? reading.offset : frameEnd) - offset
        guard length > 0 else { return nil }
        return TagPicture(
            offset: offset, length: length, mediaType: TagPicture.mediaType(named: mediaType),
            kind: .init(number: UInt32(head[place])), encoding: start.isUnsynchronised ? .unsynchronised : .plain)
    }

    /// The media type after the encoding of the text, and where it ends.
    private func mediaType(in head: [UInt8]) -> (name: ArraySlice<UInt8>, end: Int)? {
        if isVersion2 { return head.count > 4 ? (head[1..<4], 4) : nil }
        return head[1...].firstIndex(of: 0).map { (head[1..<$0], $0 + 1) }
    }

    /// The offset of the bytes after the NUL of a text.
    private static func terminator(in bytes: [UInt8], from start: Int, isWide: Bool) -> Int? {
        var place = start
        let step = isWide ? 2 : 1
        while place + step <= bytes.count {
            if bytes[place] == 0, !isWide || bytes[place + 1] == 0 { return place + step }
            place += step
        }
        return nil
    }
}
