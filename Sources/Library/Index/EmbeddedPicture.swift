import Database
import Media

/// The front cover in the file of a track, according to the index.
package struct EmbeddedPicture: Equatable, Sendable {
    /// The music file.
    package var path: String
    package var picture: TagPicture

    /// Whether the bytes of the file are those of the picture, without gaps.
    package var isPlain: Bool { picture.encoding == .plain && picture.page == nil }

    /// Finds the picture of the music at a path, or of the first track in a folder.
    /// - Parameter path: the path of a music file, a track of a cue sheet, or a folder.
    /// - Returns: nil without a picture, and when the file has changed since the scan.
    package init?(ofMusicAt path: String, _ index: MusicIndex) throws(DatabaseError) {
        let found = try index.readTables { (database) throws(DatabaseError) -> EmbeddedPicture? in
            let place = FilePlace(path)
            let sheet = FilePlace(place.folder)
            var row = try database.prepare(
                """
                SELECT id FROM track WHERE is_present = 1 AND (
                    folder = (SELECT id FROM folder WHERE path = ?1) AND file = ?2
                    OR folder = (SELECT id FROM folder WHERE path = ?3) AND file = ?4
                    OR folder = (SELECT id FROM folder WHERE path = ?5))
                ORDER BY picture_offset IS NULL, id LIMIT 1
                """)
            try row.bind([
                .text(place.folder), .text(place.file), .text(sheet.folder), .text(sheet.file), .text(path),
            ])
            guard try row.step() else { return nil }
            return try EmbeddedPicture(ofTrack: row.number(0), database)
        }
        guard let found else { return nil }
        self = found
    }

    /// Finds the picture in the first track of an album that has one.
    /// - Returns: nil without a picture, and when the file has changed since the scan.
    package init?(ofAlbum id: Int64, _ index: MusicIndex) throws(DatabaseError) {
        let found = try index.readTables { (database) throws(DatabaseError) -> EmbeddedPicture? in
            var row = try database.prepare(
                """
                SELECT id FROM track WHERE album_id = ? AND is_present = 1 AND picture_offset IS NOT NULL
                ORDER BY coalesce(disc_number, 1), track_number, folder, file LIMIT 1
                """)
            try row.bind([.integer(id)])
            return try row.step() ? EmbeddedPicture(ofTrack: row.number(0), database) : nil
        }
        guard let found else { return nil }
        self = found
    }

    /// Returns nil without a picture, and when the file has changed since the scan.
    package init?(ofTrack id: Int64, _ reader: IndexReader) throws(DatabaseError) {
        try self.init(ofTrack: id, reader.database)
    }

    private init?(ofTrack id: Int64, _ database: Database) throws(DatabaseError) {
        var row = try database.prepare(
            """
            SELECT picture_offset, picture_length, picture_page, picture_form, picture_type, part, file, size,
                modified, (SELECT path FROM folder WHERE folder.id = track.folder), folder, inode
            FROM track WHERE id = ? AND is_present > 0
            """)
        try row.bind([.integer(id)])
        guard try row.step(), let offset = row.integer(0), let length = row.integer(1), var file = row.text(6),
            let folder = row.text(9)
        else { return nil }
        let encoding: TagPicture.Encoding =
            switch row.number(3) {
            case 0: .plain
            case 1: .unsynchronised
            case let form: .base64(dropped: Int(clamping: form - 2))
            }
        if row.number(5) > 0, let music = try Self.music(ofSheet: file, in: row.number(10), database) {
            file = music
        } else {
            // If the file has changed, the offset belongs to another content.
            let stamp = FileStamp(of: FilePlace(folder: folder, file: file).path)
            // In an index of an earlier version, the state is -1 until the files are read again.
            guard let stamp, stamp.size == row.integer(7), stamp.modified == row.integer(8),
                stamp.state == row.integer(11) || row.integer(11) == -1
            else { return nil }
        }
        path = FilePlace(folder: folder, file: file).path
        picture = TagPicture(
            offset: offset, length: length, mediaType: row.text(4), kind: .frontCover, encoding: encoding,
            page: row.integer(2))
    }

    /// Returns the only music file of a cue sheet; nil when the sheet is in the music file itself.
    private static func music(
        ofSheet sheet: String, in folder: Int64, _ database: Database
    ) throws(DatabaseError) -> String? {
        var row = try database.prepare(
            "SELECT max(music) FROM sheet_file WHERE folder = ? AND sheet = ? HAVING count(*) = 1")
        try row.bind([.integer(folder), .text(sheet)])
        return try row.step() ? row.text(0) : nil
    }
}
