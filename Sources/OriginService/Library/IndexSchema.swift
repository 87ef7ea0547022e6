import Database

extension MusicIndex {
    /// The row of a removed file stays, and its number is used again when the file returns. Code that changes a track
    /// calls `CatalogueRows` afterwards, which updates albums and the words of the search. SQLite does not let triggers
    /// write into FTS5 tables while the schema is not trusted.
    static let schema = SchemaModule(
        "origin",
        [
            Migration(
                1,
                """
                CREATE TABLE album (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    -- The album artist of the tags, or else the folder, says which albums of one title are one.
                    grouped_by TEXT NOT NULL,
                    title TEXT NOT NULL,
                    artist TEXT NOT NULL DEFAULT '',
                    track_count INTEGER NOT NULL DEFAULT 0,
                    UNIQUE (grouped_by, title)
                );
                CREATE INDEX album_order ON album (artist COLLATE NOCASE, title COLLATE NOCASE, id)
                    WHERE track_count > 0;
                CREATE TABLE track (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    path TEXT NOT NULL UNIQUE,
                    size INTEGER NOT NULL,
                    modified INTEGER NOT NULL,
                    is_present INTEGER NOT NULL,
                    container TEXT NOT NULL,
                    codec TEXT NOT NULL,
                    sample_rate INTEGER NOT NULL,
                    channels INTEGER NOT NULL,
                    bit_depth INTEGER NOT NULL,
                    frames INTEGER,
                    -- The title, or else the name of the file.
                    name TEXT NOT NULL,
                    title TEXT,
                    artist TEXT,
                    album TEXT,
                    album_artist TEXT,
                    track_number INTEGER,
                    disc_number INTEGER,
                    album_id INTEGER REFERENCES album (id),
                    tag_track_gain REAL,
                    tag_track_peak REAL,
                    tag_album_gain REAL,
                    tag_album_peak REAL,
                    is_measured INTEGER NOT NULL DEFAULT 0,
                    track_gain REAL,
                    track_peak REAL,
                    album_gain REAL,
                    album_peak REAL
                );
                CREATE INDEX track_present ON track (is_present);
                CREATE INDEX track_album ON track (album_id, is_present, disc_number, track_number, path);
                CREATE INDEX track_unmeasured ON track (is_measured) WHERE NOT is_measured;
                CREATE TABLE segments (
                    track INTEGER PRIMARY KEY REFERENCES track (id) ON DELETE CASCADE,
                    version TEXT NOT NULL,
                    content BLOB NOT NULL
                );
                CREATE TABLE playlist (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    path TEXT NOT NULL UNIQUE,
                    size INTEGER NOT NULL,
                    modified INTEGER NOT NULL,
                    is_present INTEGER NOT NULL,
                    title TEXT NOT NULL
                );
                CREATE INDEX playlist_order ON playlist (is_present, title COLLATE NOCASE);
                -- By path: a file may come after the playlist that names it.
                CREATE TABLE playlist_entry (
                    playlist INTEGER NOT NULL REFERENCES playlist (id),
                    position INTEGER NOT NULL,
                    path TEXT NOT NULL,
                    PRIMARY KEY (playlist, position)
                ) WITHOUT ROWID;
                CREATE VIRTUAL TABLE track_words USING fts5 (
                    name, artist, album, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
                );
                CREATE VIRTUAL TABLE album_words USING fts5 (
                    title, artist, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
                );
                CREATE VIRTUAL TABLE playlist_words USING fts5 (
                    title, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
                );
                """),
            // The object type of AAC, which was not in the index before.
            Migration(2, "ALTER TABLE track ADD COLUMN aac_object_type INTEGER"),
            Migration(
                3,
                """
                -- 1: its description is not up to date; 2: nor is its loudness.
                ALTER TABLE album ADD COLUMN is_stale INTEGER NOT NULL DEFAULT 0;
                CREATE INDEX album_stale ON album (is_stale) WHERE is_stale > 0;
                -- The path in one spelling for all cases and normal forms.
                ALTER TABLE track ADD COLUMN folded TEXT;
                CREATE INDEX track_folded ON track (folded);
                -- What an entry may mean, the likely paths first. The first one has the line of the file.
                CREATE TABLE playlist_place (
                    playlist INTEGER NOT NULL REFERENCES playlist (id),
                    position INTEGER NOT NULL,
                    rank INTEGER NOT NULL,
                    path TEXT NOT NULL,
                    folded TEXT NOT NULL,
                    line TEXT,
                    PRIMARY KEY (playlist, position, rank)
                ) WITHOUT ROWID;
                -- They are read again.
                UPDATE playlist SET modified = -1;
                """),
        ])
}
