/// Lyrics3, versions 1 and 2 (id3.org): texts between frames of audio, which this player passes over.
enum Lyrics3 {
    private static let beginSize: Int64 = 11
    private static let mostFields = 64
    /// The most bytes of a text of version 1.
    private static let longestText = 5120

    /// The offset after the tag at `offset`; `offset` itself when it does not end.
    static func end(of source: any ByteSource, at offset: Int64) throws(Interruption) -> Int64 {
        let reader = SourceReader(source)
        var place = offset + beginSize
        // Version 2: fields with three letters and five digits, then the size of all, and the end.
        for _ in 0..<mostFields {
            let head = try reader.bytes(15, at: place)
            if head.count == 15, number(head[..<6]) != nil, MPEGTags.begins(head[6...], with: "LYRICS200") {
                return place + 15
            }
            guard head.count >= 8, head[..<3].allSatisfy({ (0x41...0x5A).contains($0) }),
                let size = number(head[3..<8])
            else { break }
            place += 8 + size
        }
        let text = try reader.bytes(longestText, at: offset + beginSize)
        for index in text.indices where MPEGTags.begins(text[index...], with: "LYRICSEND") {
            return offset + beginSize + Int64(index) + 9
        }
        return offset
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
