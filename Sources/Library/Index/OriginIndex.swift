import Database

/// The parts of the origin's index that use this module's tables, besides `MusicIndex.schema`, so that all SQL about
/// these tables is here (docs/decisions/origin-catalogue.md).
package enum OriginIndex {
    /// The tables of former versions, which had their own index. They are renamed, and `takeover` reads them.
    package static let formerSchema = SchemaModule(
        "origin",
        [
            Migration(
                1,
                """
                CREATE TABLE album (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, grouped_by TEXT NOT NULL, title TEXT NOT NULL,
                    artist TEXT NOT NULL DEFAULT '', track_count INTEGER NOT NULL DEFAULT 0, UNIQUE (grouped_by, title)
                );
                CREATE INDEX album_order ON album (artist COLLATE NOCASE, title COLLATE NOCASE, id)
                    WHERE track_count > 0;
                CREATE TABLE track (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
                    modified INTEGER NOT NULL, is_present INTEGER NOT NULL, container TEXT NOT NULL,
                    codec TEXT NOT NULL, sample_rate INTEGER NOT NULL, channels INTEGER NOT NULL,
                    bit_depth INTEGER NOT NULL, frames INTEGER, name TEXT NOT NULL, title TEXT, artist TEXT,
                    album TEXT, album_artist TEXT, track_number INTEGER, disc_number INTEGER,
                    album_id INTEGER REFERENCES album (id), tag_track_gain REAL, tag_track_peak REAL,
                    tag_album_gain REAL, tag_album_peak REAL, is_measured INTEGER NOT NULL DEFAULT 0, track_gain REAL,
                    track_peak REAL, album_gain REAL, album_peak REAL
                );
                CREATE INDEX track_present ON track (is_present);
                CREATE INDEX track_album ON track (album_id, is_present, disc_number, track_number, path);
                CREATE INDEX track_unmeasured ON track (is_measured) WHERE NOT is_measured;
                CREATE TABLE segments (
                    track INTEGER PRIMARY KEY REFERENCES track (id) ON DELETE CASCADE, version TEXT NOT NULL,
                    content BLOB NOT NULL
                );
                CREATE TABLE playlist (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
                    modified INTEGER NOT NULL, is_present INTEGER NOT NULL, title TEXT NOT NULL
                );
                CREATE INDEX playlist_order ON playlist (is_present, title COLLATE NOCASE);
                CREATE TABLE playlist_entry (
                    playlist INTEGER NOT NULL REFERENCES playlist (id), position INTEGER NOT NULL, path TEXT NOT NULL,
                    PRIMARY KEY (playlist, position)
                ) WITHOUT ROWID;
                CREATE TABLE track_words (word);
                CREATE TABLE album_words (word);
                CREATE TABLE playlist_words (word);
                """),
            Migration(2, "ALTER TABLE track ADD COLUMN aac_object_type INTEGER"),
            Migration(
                3,
                """
                ALTER TABLE album ADD COLUMN is_stale INTEGER NOT NULL DEFAULT 0;
                CREATE INDEX album_stale ON album (is_stale) WHERE is_stale > 0;
                ALTER TABLE track ADD COLUMN folded TEXT;
                CREATE INDEX track_folded ON track (folded);
                CREATE TABLE playlist_place (
                    playlist INTEGER NOT NULL REFERENCES playlist (id), position INTEGER NOT NULL,
                    rank INTEGER NOT NULL, path TEXT NOT NULL, folded TEXT NOT NULL, line TEXT,
                    PRIMARY KEY (playlist, position, rank)
                ) WITHOUT ROWID;
                """),
            Migration(
                4,
                """
                DROP TABLE track_words;
                DROP TABLE album_words;
                DROP TABLE playlist_words;
                DROP TABLE segments;
                DROP TABLE playlist_place;
                DROP TABLE playlist_entry;
                DROP INDEX album_order;
                DROP INDEX album_stale;
                DROP INDEX track_present;
                DROP INDEX track_album;
                DROP INDEX track_unmeasured;
                DROP INDEX track_folded;
                DROP INDEX playlist_order;
                ALTER TABLE track RENAME TO former_track;
                ALTER TABLE album RENAME TO former_album;
                ALTER TABLE playlist RENAME TO former_playlist;
                """),
        ])

    /// The index of the tracks that the origin has to measure.
    package static let unmeasured = "CREATE INDEX track_unmeasured ON track (is_measured) WHERE NOT is_measured;"

    /// The constraint of a column with the number of a track. The row is removed with the track.
    package static let track = "REFERENCES track (id) ON DELETE CASCADE"

    /// Takes over the rows of former versions. Their files are read again, and their numbers stay. It runs once, in a
    /// migration that was released. If a later migration of `MusicIndex.schema` renames a column, or adds one without a
    /// default, change it here too.
    package static let takeover = """
        -- rtrim removes the letters of the last name, and then the slash.
        INSERT INTO folder (path)
            SELECT DISTINCT rtrim(rtrim(path, replace(path, '/', '')), '/')
            FROM (SELECT path FROM former_track UNION ALL SELECT path FROM former_playlist);
        INSERT INTO album (id, grouped_by, title, folder) SELECT id, grouped_by, title, '' FROM former_album;
        INSERT INTO track (id, folder, file, size, modified, inode, is_present, content, added, container,
                codec, sample_rate, channels, bit_depth, name, is_titled, album_id, folded)
            SELECT former.id, folder.id,
                substr(former.path, length(rtrim(former.path, replace(former.path, '/', ''))) + 1), -1, -1, 0,
                0, 0, max(former.modified / 1000000000, 0), 0, 0, 44100, 2, 16, former.name, 0,
                former.album_id, 0
            FROM former_track AS former JOIN folder
                ON folder.path = rtrim(rtrim(former.path, replace(former.path, '/', '')), '/');
        INSERT INTO playlist (id, folder, file, size, modified, inode, is_present, title, folded)
            SELECT former.id, folder.id,
                substr(former.path, length(rtrim(former.path, replace(former.path, '/', ''))) + 1), -1, -1, 0,
                0, former.title, ''
            FROM former_playlist AS former JOIN folder
                ON folder.path = rtrim(rtrim(former.path, replace(former.path, '/', '')), '/');
        DROP TABLE former_playlist;
        DROP TABLE former_track;
        DROP TABLE former_album;
        """
}
