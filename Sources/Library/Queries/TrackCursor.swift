import Database
import Media

/// The rows of tracks, one at a time, for answers with many of them: Rows are not collected, and texts are copied as
/// raw bytes only where they are needed.
///
///     var tracks = try index.cursor(TrackQuery(.every))
///     while try tracks.next() { count += tracks.frames ?? 0 }
///
/// Thread: within one `read` of the index.
public struct TrackCursor: ~Copyable {
    /// A position in a folder, after a track.
    package struct Place: Sendable {
        fileprivate var position: Int64 = -1
        fileprivate var id: Int64 = 0

        /// The position before the first track.
        package init() {}
    }

    static let columns =
        "folder, file, part, modified, sample_rate, bit_depth, channels, codec, frames, tags, id, folder_position"

    private var row: Statement

    init(_ row: consuming Statement) { self.row = row }

    /// Moves to the next track; the first call moves to the first track.
    /// - Returns: false at the end.
    package mutating func next() throws(DatabaseError) -> Bool { try row.step() }

    // MARK: The present track

    /// The number of the folder.
    package var folder: Int64 { row.number(0) }
    /// The number in a cue sheet; 0 for a whole file.
    package var part: Int64 { row.number(2) }
    /// Seconds since 1970.
    package var modified: Int64 { row.number(3) / 1_000_000_000 }
    package var sampleRate: Int64 { row.number(4) }
    package var bitDepth: Int64 { row.number(5) }
    package var channels: Int64 { row.number(6) }
    package var codec: AudioProperties.Codec? { FormatTable.all.codec(number: Int(clamping: row.number(7))) }
    package var frames: Int64? { row.integer(8) }
    package var id: Int64 { row.number(10) }
    /// The position after the current track.
    package var place: Place {
        var place = Place()
        (place.position, place.id) = (row.number(11), row.number(10))
        return place
    }

    /// Appends the name of the file.
    package func appendFile(to bytes: inout [UInt8]) { row.append(1, to: &bytes) }

    /// Appends all tags, in the form of `TrackTags`.
    package func appendTags(to bytes: inout [UInt8]) { row.append(9, to: &bytes) }

    /// Returns whether the file has this name.
    package func isFile(_ name: UnsafeRawBufferPointer) -> Bool { row.isText(1, name) }

    // MARK: Folders

    static let inFolder = StatementText(
        """
        SELECT \(columns) FROM track
        WHERE folder = ?1 AND (folder_position, id) > (?2, ?3) AND +is_present = 1 ORDER BY folder_position, id
        """)

    /// Continues with the tracks of a folder after a position, in order; tracks of cue sheets come last. Only for a
    /// cursor of `IndexReader.folderCursor`.
    package mutating func begin(inFolder folder: Int64, after place: Place) throws(DatabaseError) {
        try row.bind([.integer(folder), .integer(place.position), .integer(place.id)])
    }
}
