import Database

/// The kinds of values that several tracks share. The raw values are stored in the index.
package enum NameKind: Int64, CaseIterable, Sendable {
    case artist = 1
    /// The album artist, or else the artists.
    case albumArtist = 2
    case composer = 3
    case genre = 4
    case date = 5
}

extension MusicIndex {
    /// The tables of the library. The row of a removed file stays, and its number is used again when the file returns.
    /// Code that changes a track calls `TrackRows`, which also updates albums, names and the search.
    package static let schema = SchemaModule(
        "library",
        [
            Migration(
                1,
                """
                -- Folders with files of the index. The folder / is empty.
                CREATE TABLE folder (
                    id INTEGER PRIMARY KEY,
                    path TEXT NOT NULL UNIQUE,
                    -- Sorts it after the folder that contains it, and before the next one there (`FolderOrder`).
                    place BLOB NOT NULL DEFAULT x'',
                    -- Whether the positions of its tracks are up to date.
                    is_sorted INTEGER NOT NULL DEFAULT 0
                );
                CREATE INDEX folder_place ON folder (place);
                CREATE INDEX folder_unsorted ON folder (is_sorted) WHERE is_sorted = 0;
                CREATE TABLE album (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    -- The album artist, or else the folder, of which a folder of a disc is not a part.
                    grouped_by TEXT NOT NULL,
                    title TEXT NOT NULL,
                    -- Albums with the same two values are still two if they contradict each other here.
                    folder TEXT NOT NULL,
                    release TEXT,
                    year TEXT,
                    artist TEXT NOT NULL DEFAULT '',
                    date TEXT,
                    track_count INTEGER NOT NULL DEFAULT 0,
                    disc_count INTEGER NOT NULL DEFAULT 1,
                    added INTEGER NOT NULL DEFAULT 0,
                    -- The words of title and artist.
                    folded TEXT NOT NULL DEFAULT '',
                    -- 1: its description is not up to date; 2: nor is its loudness.
                    is_stale INTEGER NOT NULL DEFAULT 0
                );
                CREATE INDEX album_group ON album (title, grouped_by);
                CREATE INDEX album_order ON album (artist COLLATE NOCASE, title COLLATE NOCASE, id)
                    WHERE track_count > 0;
                CREATE INDEX album_added ON album (added, id) WHERE track_count > 0;
                -- A search reads this index, and not the wide rows.
                CREATE INDEX album_folded ON album (folded, id) WHERE track_count > 0;
                CREATE INDEX album_stale ON album (is_stale) WHERE is_stale > 0;
                CREATE TABLE track (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    folder INTEGER NOT NULL REFERENCES folder (id),
                    file TEXT NOT NULL,
                    -- The number of a track of a cue sheet, which `file` is or contains; 0 for a whole file.
                    part INTEGER NOT NULL DEFAULT 0,
                    size INTEGER NOT NULL,
                    modified INTEGER NOT NULL,
                    -- The state of `FileStamp`.
                    inode INTEGER NOT NULL,
                    -- 0: gone; 1: there; 2: there, but listed as the tracks of another cue sheet.
                    is_present INTEGER NOT NULL,
                    -- Identifies the sound (`AudioIdentity`), and a track of a cue sheet in it.
                    content INTEGER NOT NULL,
                    -- Seconds since 1970.
                    added INTEGER NOT NULL,
                    container INTEGER NOT NULL,
                    codec INTEGER NOT NULL,
                    sample_rate INTEGER NOT NULL,
                    channels INTEGER NOT NULL,
                    bit_depth INTEGER NOT NULL,
                    frames INTEGER,
                    aac_object_type INTEGER,
                    -- The title, or else the name of the file.
                    name TEXT NOT NULL,
                    is_titled INTEGER NOT NULL,
                    artist TEXT,
                    album TEXT,
                    album_artist TEXT,
                    track_number INTEGER,
                    disc_number INTEGER,
                    date TEXT,
                    album_id INTEGER REFERENCES album (id),
                    -- The front cover in the file: its offset and length, and the form of its bytes.
                    picture_offset INTEGER,
                    picture_length INTEGER,
                    picture_page INTEGER,
                    picture_form INTEGER,
                    picture_type TEXT,
                    tag_track_gain REAL,
                    tag_track_peak REAL,
                    tag_album_gain REAL,
                    tag_album_peak REAL,
                    is_measured INTEGER NOT NULL DEFAULT 0,
                    track_gain REAL,
                    track_peak REAL,
                    album_gain REAL,
                    album_peak REAL,
                    -- A hash of the path in one spelling for all cases and normal forms.
                    folded INTEGER NOT NULL,
                    -- Its place among the tracks of its folder (`FolderTracks`).
                    folder_position INTEGER NOT NULL DEFAULT 0,
                    -- All tags with all values (`TrackTags`).
                    tags BLOB NOT NULL DEFAULT x'',
                    UNIQUE (folder, file, part)
                );
                CREATE INDEX track_present ON track (is_present);
                CREATE INDEX track_position ON track (folder, folder_position);
                CREATE INDEX track_album ON track (album_id, is_present, disc_number, track_number, folder, file);
                CREATE INDEX track_content ON track (content);
                CREATE INDEX track_folded ON track (folded);
                CREATE TABLE name (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    kind INTEGER NOT NULL,
                    text TEXT NOT NULL,
                    folded TEXT NOT NULL,
                    UNIQUE (kind, text)
                );
                CREATE INDEX name_order ON name (kind, folded);
                CREATE TABLE track_name (
                    name INTEGER NOT NULL REFERENCES name (id),
                    track INTEGER NOT NULL REFERENCES track (id),
                    PRIMARY KEY (name, track)
                ) WITHOUT ROWID;
                CREATE INDEX track_name_track ON track_name (track);
                -- The texts of 64 tracks each; NULL: outdated.
                CREATE TABLE search_block (number INTEGER PRIMARY KEY, bytes BLOB);
                CREATE INDEX search_block_outdated ON search_block (number) WHERE bytes IS NULL;
                CREATE TABLE playlist (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    folder INTEGER NOT NULL REFERENCES folder (id),
                    file TEXT NOT NULL,
                    size INTEGER NOT NULL,
                    modified INTEGER NOT NULL,
                    inode INTEGER NOT NULL,
                    is_present INTEGER NOT NULL,
                    title TEXT NOT NULL,
                    folded TEXT NOT NULL,
                    UNIQUE (folder, file)
                );
                CREATE INDEX playlist_order ON playlist (is_present, title COLLATE NOCASE);
                CREATE TABLE playlist_entry (
                    playlist INTEGER NOT NULL REFERENCES playlist (id),
                    position INTEGER NOT NULL,
                    -- The line of the file.
                    line TEXT NOT NULL,
                    -- NULL until it is found: a file may come after the playlist that names it.
                    track INTEGER REFERENCES track (id),
                    PRIMARY KEY (playlist, position)
                ) WITHOUT ROWID;
                CREATE INDEX playlist_entry_track ON playlist_entry (track);
                -- The paths that an entry may mean, the likely ones first.
                CREATE TABLE playlist_place (
                    playlist INTEGER NOT NULL REFERENCES playlist (id),
                    position INTEGER NOT NULL,
                    rank INTEGER NOT NULL,
                    path TEXT NOT NULL,
                    folded INTEGER NOT NULL,
                    PRIMARY KEY (playlist, position, rank)
                ) WITHOUT ROWID;
                -- The music files that a cue sheet names.
                CREATE TABLE sheet_file (
                    folder INTEGER NOT NULL REFERENCES folder (id),
                    sheet TEXT NOT NULL,
                    music TEXT NOT NULL,
                    PRIMARY KEY (folder, sheet, music)
                ) WITHOUT ROWID;
                """),
            // Contents identify only the sound from now on, and stamps contain more values. All files are read again,
            // and data of a former content moves to the new one (`ContentChangeRows`). -1 is a state that no file has.
            Migration(
                2,
                """
                UPDATE track SET inode = -1;
                UPDATE playlist SET inode = -1;
                -- A track without a disc is one of the first disc, as in `TrackQuery.Order.album`.
                DROP INDEX track_album;
                CREATE INDEX track_album
                    ON track (album_id, is_present, coalesce(disc_number, 1), track_number, folder, file);
                CREATE TABLE content_change (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    former INTEGER NOT NULL,
                    present INTEGER NOT NULL,
                    -- The track, until the end of the scan confirms the change; then 0.
                    track INTEGER NOT NULL
                );
                """),
        ])
}
