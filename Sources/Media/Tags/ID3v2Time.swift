// The time stamp at the beginning of a segment of HLS.
extension ID3v2 {
    private static let owner: StaticString = "com.apple.streaming.transportStreamTimestamp"
    private static let mostPrivateBytes: Int64 = 4096

    /// When the segment is played that begins with a tag at `offset`, in units of 1/90000 s: 33 bits in a frame `PRIV`
    /// (RFC 8216, 3.4).
    /// - Returns: nil when there is no such tag.
    static func transportTime(of source: any ByteSource, at offset: Int64) throws(Interruption) -> Int64? {
        let end = try end(of: source, at: offset)
        guard end > offset, end - offset <= mostPrivateBytes else { return nil }
        let tag = try SourceReader(source).bytes(Int(end - offset), at: offset)
        let name = owner.withUTF8Buffer { Array($0) } + [0]
        // Eight bytes follow the owner. The frame is not parsed otherwise: no other content has this text.
        guard tag.count >= name.count + 8 else { return nil }
        for start in 0...(tag.count - name.count - 8) where tag[start] == name[0] {
            guard tag[start..<(start + name.count)].elementsEqual(name) else { continue }
            let time = tag[(start + name.count)...].prefix(8)
            let value = time.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            return Int64(value & (1 << 33 - 1))
        }
        return nil
    }
}
