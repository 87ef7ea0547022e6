import Database
import Media
import PCM
import Platform

/// The index of the music folder in SQLite: the properties of each file, and its number.
///
/// Thread: any. Reading and writing have a connection each, so that a scan does not delay a request.
/// `@unchecked Sendable` is safe because `reading` and `writing` guard the two connections.
final class MusicIndex: @unchecked Sendable {
    private let reading = Lock()
    private let reader: Database
    private let writing = Lock()
    private let writer: Database

    /// Opens the index in a folder, and creates missing parts.
    init(in folder: String) throws(DatabaseError) {
        let path = "\(folder)/index.db"
        writer = try Database(path: path)
        try writer.migrate([Self.schema])
        reader = try Database(path: path)
    }

    func read<Result>(_ body: (Database) throws(DatabaseError) -> Result) throws(DatabaseError) -> Result {
        try reading.withLock { () throws(DatabaseError) in try body(reader) }
    }

    /// Runs `body` as one transaction.
    func write<Result>(_ body: (Database) throws(DatabaseError) -> Result) throws(DatabaseError) -> Result {
        try writing.withLock { () throws(DatabaseError) in
            try writer.transaction { () throws(DatabaseError) in try body(writer) }
        }
    }
}

// MARK: Tracks

extension MusicIndex {
    static let columns = """
        id, path, size, modified, container, sample_rate, channels, bit_depth, frames, title, artist, album,
        track_number, disc_number, album_id, coalesce(tag_track_gain, track_gain), coalesce(tag_track_peak, track_peak),
        coalesce(tag_album_gain, album_gain), coalesce(tag_album_peak, album_peak), name, album_artist,
        codec, aac_object_type
        """

    /// Returns the track with this number whose file is there.
    func track(_ id: Int64) throws(DatabaseError) -> Track? {
        try tracks("WHERE id = ? AND is_present", [.integer(id)]).first
    }

    /// Returns the tracks that the SQL clauses select and sort. The clauses follow FROM.
    func tracks(_ clauses: String, _ values: [DatabaseValue] = []) throws(DatabaseError) -> [Track] {
        try read { (database) throws(DatabaseError) in
            var statement = try database.prepare("SELECT \(Self.columns) FROM track \(clauses)")
            try statement.bind(values)
            var tracks: [Track] = []
            while try statement.step() { if let track = Self.track(statement) { tracks.append(track) } }
            return tracks
        }
    }

    private static func track(_ row: borrowing Statement) -> Track? {
        func number(_ column: Int) -> Int { Int(row.integer(column) ?? 0) }
        guard let id = row.integer(0), let path = row.text(1), let size = row.integer(2), let modified = row.integer(3),
            let container = row.text(4).flatMap(AudioProperties.Container.init(rawValue:)),
            let codec = row.text(21).flatMap(AudioProperties.Codec.init(rawValue:))
        else { return nil }
        var metadata = TrackMetadata()
        metadata.title = row.text(9)
        metadata.artist = row.text(10)
        metadata.album = row.text(11)
        metadata.albumArtist = row.text(20)
        metadata.trackNumber = row.integer(12).map { Int($0) }
        metadata.discNumber = row.integer(13).map { Int($0) }
        return Track(
            id: id, path: path, name: row.text(19) ?? "", stamp: FileStamp(size: size, modified: modified),
            container: container, codec: codec, aacObjectType: row.integer(22).map { Int($0) },
            format: PCMFormat(sampleRate: number(5), channelCount: number(6), bitDepth: number(7)),
            frameCount: row.integer(8), metadata: metadata,
            replayGain: ReplayGain(
                trackGain: row.real(15), trackPeak: row.real(16), albumGain: row.real(17), albumPeak: row.real(18)),
            albumId: row.integer(14))
    }

}

extension DatabaseValue {
    init(_ value: Int64?) { self = value.map { .integer($0) } ?? .null }
    init(_ value: Int?) { self = value.map { .integer(Int64($0)) } ?? .null }
    init(_ value: Double?) { self = value.map { .real($0) } ?? .null }
    init(_ value: String?) { self = value.map { .text($0) } ?? .null }
}
