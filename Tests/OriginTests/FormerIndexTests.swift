import Database
import Foundation
import Library
import Platform
import TestSupport
import Testing

@testable import OriginService

@Suite("The index of an earlier version")
struct FormerIndexTests {
    /// The tables as version 0.3 made them.
    private static let schema = SchemaModule(
        "origin",
        [
            Migration(
                1,
                """
                CREATE TABLE album (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
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
            Migration(2, "ALTER TABLE track ADD COLUMN aac_object_type INTEGER"),
            Migration(
                3,
                """
                ALTER TABLE album ADD COLUMN is_stale INTEGER NOT NULL DEFAULT 0;
                CREATE INDEX album_stale ON album (is_stale) WHERE is_stale > 0;
                ALTER TABLE track ADD COLUMN folded TEXT;
                CREATE INDEX track_folded ON track (folded);
                CREATE TABLE playlist_place (
                    playlist INTEGER NOT NULL REFERENCES playlist (id),
                    position INTEGER NOT NULL,
                    rank INTEGER NOT NULL,
                    path TEXT NOT NULL,
                    folded TEXT NOT NULL,
                    line TEXT,
                    PRIMARY KEY (playlist, position, rank)
                ) WITHOUT ROWID;
                UPDATE playlist SET modified = -1;
                """),
        ])

    @Test("Its tracks, albums and playlists keep their numbers")
    func numbers() throws {
        let folder = try ScratchFolder()
        for (number, name) in ["b/a.flac", "a.flac"].enumerated() {
            let path = folder["music/\(name)"]
            try FileManager.default.createDirectory(atPath: Folder.containing(path), withIntermediateDirectories: true)
            try Music(frames: 2000).writeFLAC(
                to: path, ["--tag=TITLE=\(number)", "--tag=ALBUM=One", "--tag=ALBUMARTIST=A", "--tag=DATE=2004"])
        }
        try Data("b/a.flac\n".utf8).write(to: URL(fileURLWithPath: folder["music/l.m3u8"]))
        try Folder.create(folder["state"])
        do {
            let database = try Database(path: folder["state/index.db"])
            try database.migrate([Self.schema])
            try database.execute(
                script: """
                    INSERT INTO album (id, grouped_by, title, artist, track_count)
                        VALUES (5, 'artist:A', 'One', 'A', 2);
                    INSERT INTO track (id, path, size, modified, is_present, container, codec, sample_rate, channels,
                        bit_depth, name, album_id)
                        VALUES (7, '\(folder.path)/music/b/a.flac', 1, 1, 1, 'flac', 'flac', 44100, 2, 16, 'a', 5),
                        (9, '\(folder.path)/music/a.flac', 1, 1, 0, 'flac', 'flac', 44100, 2, 16, 'a', 5);
                    INSERT INTO track_words (rowid, name) VALUES (7, 'a');
                    INSERT INTO segments VALUES (7, '1-1', x'00');
                    INSERT INTO playlist (id, path, size, modified, is_present, title)
                        VALUES (3, '\(folder.path)/music/l.m3u8', 1, 1, 1, 'l');
                    INSERT INTO playlist_entry VALUES (3, 0, '\(folder.path)/music/b/a.flac');
                    """)
        }
        let origin = try ContentOrigin(musicFolder: folder["music"], stateFolder: folder["state"])
        #expect(try origin.scan().tracks == 2)
        let index = try MusicIndex(in: folder["state"])
        let page = ListPage(limit: 10)
        let tracks = try index.tracks(page).entries
        #expect(tracks.map(\.id) == [7, 9] && tracks.map(\.name) == ["0", "1"] && tracks.map(\.albumId) == [5, 5])
        #expect(try index.albums(page).entries.map(\.id) == [5])
        #expect(try index.playlists(page).entries == [Playlist(id: 3, title: "l", trackCount: 1)])
        // The years are in the texts, too.
        let words = try #require(SearchWords("one 0 2004"))
        #expect(try index.tracks(matching: words, page).entries.map(\.id) == [7, 9])
        #expect(try index.tracks(matching: try #require(SearchWords("one 1 2004")), page).entries.map(\.id) == [9])
    }
}
