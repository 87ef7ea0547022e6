import Database

/// A number of things in the index.
package enum MusicCount: Sendable {
    /// The tracks that are listed.
    case tracks
    /// The albums that have tracks.
    case albums
    /// The titles of these albums, each one once.
    case albumTitles
    /// The names of a kind that tracks have.
    case names(NameKind)
    case playlists
    /// The duration of all tracks, in seconds.
    case seconds
    /// The bytes of the index itself.
    case bytes
}

extension IndexReader {
    package func count(_ count: MusicCount) throws(DatabaseError) -> Int64 {
        switch count {
        case .tracks: try number(ListQuery.tracks.count)
        case .albums: try number(ListQuery.albums.count)
        case .albumTitles: try number("SELECT count(DISTINCT title) FROM album WHERE track_count > 0")
        case .names(let kind): try number(ListQuery.names.count, [.integer(kind.rawValue)])
        case .playlists: try number(ListQuery.playlists.count)
        case .seconds:
            try number(
                "SELECT sum(frames * 1000 / sample_rate) / 1000 FROM track WHERE is_present = 1 AND sample_rate > 0")
        case .bytes: try number("PRAGMA page_count") * number("PRAGMA page_size")
        }
    }
}

extension MusicIndex {
    package func count(_ count: MusicCount) throws(DatabaseError) -> Int64 {
        try read { (reader) throws(DatabaseError) in try reader.count(count) }
    }
}
