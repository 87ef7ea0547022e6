import Media

/// All tags of a track in one run of bytes, which remote controls read as a whole: for each value the number of its
/// `TagField`, the text, and a line end.
///
/// Any thread.
package enum TrackTags {
    /// The order of the fields.
    private static let fields: [TagField] = [
        .artist, .artistSort, .album, .albumSort, .albumArtist, .albumArtistSort, .title, .trackNumber, .genre, .date,
        .originalDate, .composer, .composerSort, .performer, .conductor, .work, .grouping, .discNumber, .label,
        .artistID, .releaseID, .albumArtistID, .recordingID,
    ]
    package static let end = UInt8(ascii: "\n")
    /// The most bytes of one track. Further values are left out, because such long tags are mistakes.
    private static let most = 8192

    package static func bytes(of metadata: TrackMetadata) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in fields {
            for value in metadata[field] where bytes.count + value.utf8.count < most {
                bytes.append(UInt8(field.rawValue))
                for byte in value.utf8 { bytes.append(byte < 0x20 || byte == 0x7F ? UInt8(ascii: " ") : byte) }
                bytes.append(end)
            }
        }
        return bytes
    }
}
