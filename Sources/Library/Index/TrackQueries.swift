import Database
import Media
import PCM

extension IndexReader {
    /// The columns of a `Track`, for `FROM track`.
    static let trackColumns = """
        id, (SELECT path FROM folder WHERE folder.id = track.folder) || '/' || file AS path, part, size, modified,
        inode, container, codec, sample_rate, channels, bit_depth, frames, aac_object_type, name, is_titled, artist,
        album, album_artist, track_number, disc_number, date, album_id, coalesce(tag_track_gain, track_gain),
        coalesce(tag_track_peak, track_peak), coalesce(tag_album_gain, album_gain),
        coalesce(tag_album_peak, album_peak), content
        """

    /// Returns the tracks of a query.
    package func tracks(_ query: TrackQuery) throws(DatabaseError) -> [Track] { try tracks(query.clauses) }

    /// Returns the tracks that the clauses after `FROM track` select and sort.
    func tracks(_ clauses: BoundSQL) throws(DatabaseError) -> [Track] {
        try rows("SELECT \(Self.trackColumns) FROM track \(clauses.text)", clauses.values, Self.track)
    }

    private static func track(_ row: borrowing Statement) -> Track? {
        func number(_ column: Int) -> Int { Int(clamping: row.integer(column) ?? 0) }
        guard let id = row.integer(0), let path = row.text(1), let size = row.integer(3), let modified = row.integer(4),
            let container = FormatTable.all.container(number: number(6)),
            let codec = FormatTable.all.codec(number: number(7))
        else { return nil }
        let name = row.text(13) ?? ""
        var metadata = TrackMetadata()
        if number(14) == 1 { metadata.title = name }
        metadata.artist = row.text(15)
        metadata.album = row.text(16)
        metadata.albumArtist = row.text(17)
        metadata.trackNumber = row.integer(18).map { Int(clamping: $0) }
        metadata.discNumber = row.integer(19).map { Int(clamping: $0) }
        if let date = row.text(20) { metadata[.date] = [date] }
        return Track(
            id: id, path: path, part: number(2), name: name,
            stamp: FileStamp(size: size, modified: modified, state: row.integer(5) ?? 0),
            content: row.integer(26) ?? 0, container: container, codec: codec,
            aacObjectType: row.integer(12).map { Int(clamping: $0) },
            format: PCMFormat(sampleRate: number(8), channelCount: number(9), bitDepth: number(10)),
            frameCount: row.integer(11), metadata: metadata,
            replayGain: ReplayGain(
                trackGain: row.real(22), trackPeak: row.real(23), albumGain: row.real(24), albumPeak: row.real(25)),
            albumId: row.integer(21))
    }
}

extension MusicIndex {
    /// Returns the tracks of a query.
    package func tracks(_ query: TrackQuery) throws(DatabaseError) -> [Track] {
        try read { (reader) throws(DatabaseError) in try reader.tracks(query) }
    }

    /// Returns the track with this number if its file exists.
    package func track(_ id: Int64) throws(DatabaseError) -> Track? { try tracks(TrackQuery(.id(id))).first }

    /// Returns `Artist: Title` of a track, even if its file is gone; nil when the track is not in the index.
    package func title(ofTrack id: Int64) throws(DatabaseError) -> String? {
        try rows("SELECT name, artist FROM track WHERE id = ?", [.integer(id)]) { row in
            row.text(0).map { name in row.text(1).map { "\($0): \(name)" } ?? name }
        }.first
    }

    /// Returns the tracks with these numbers, in their order, without those whose file is gone.
    package func tracks(numbered numbers: [Int64]) throws(DatabaseError) -> [Track] {
        var tracks: [Track] = []
        for number in numbers { if let track = try track(number) { tracks.append(track) } }
        return tracks
    }

    /// Returns the track at a path, if its file exists.
    /// - Parameter part: the number in a cue sheet; 0 for a whole file.
    package func track(at path: String, part: Int) throws(DatabaseError) -> Track? {
        try tracks(TrackQuery(.file(FilePlace(path), part: Int64(part)), presence: .withHidden)).first
    }

    /// Returns the content of the track at a path; nil when it is not in the index.
    /// - Parameter part: the number in a cue sheet; 0 for a whole file.
    package func content(of path: String, part: Int) throws(DatabaseError) -> Int64? {
        let place = FilePlace(path)
        return try rows(
            """
            SELECT content FROM track WHERE folder = (SELECT id FROM folder WHERE path = ?) AND file = ? AND part = ?
            """, [.text(place.folder), .text(place.file), .integer(Int64(part))]
        ) { $0.integer(0) }.first
    }

    /// Returns the content of a whole file with this stamp; nil when it is not in the index.
    package func content(of path: String, in stamp: FileStamp) throws(DatabaseError) -> Int64? {
        let place = FilePlace(path)
        return try rows(
            """
            SELECT content, part FROM track WHERE folder = (SELECT id FROM folder WHERE path = ?) AND file = ?
                AND size = ? AND modified = ? AND is_present > 0 LIMIT 1
            """, [.text(place.folder), .text(place.file), .integer(stamp.size), .integer(stamp.modified)]
        ) { row in row.integer(0).map { $0 &- (row.integer(1) ?? 0) } }.first
    }
}
