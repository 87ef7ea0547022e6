/// ID3v1 and 1.1: the last 128 bytes of a file (id3.org). The texts have no encoding and at most 30 bytes.
enum ID3v1 {
    static let size: Int64 = 128
    /// The size of the extension `TAG+` before it.
    static let extensionSize: Int64 = 227

    /// - Parameter bytes: `size` of them, with `TAG` at the front.
    static func read(_ bytes: [UInt8]) -> TrackMetadata {
        var fields = TagFields()
        let texts: [(Range<Int>, TagField)] = [
            (3..<33, .title), (33..<63, .artist), (63..<93, .album), (93..<97, .date),
        ]
        for (range, field) in texts {
            if let text = TagText.guessed(bytes[range].prefix { $0 != 0 }) { fields.add(field, text) }
        }
        // The last two bytes of the comment, from 1.1 on.
        if bytes[125] == 0, bytes[126] != 0 { fields.add(.trackNumber, "\(bytes[126])") }
        fields.add(.genre, "\(bytes[127])")
        return fields.result
    }
}
