import Database
import Foundation
import TestSupport
import Testing

@testable import Library

@Suite("Queries for tracks, as values")
struct TrackQueryTests {
    private static let listed = "WHERE +is_present = 1"
    private static let inFolder = "folder = (SELECT id FROM folder WHERE path = ?)"

    static let clauses: [(TrackQuery, text: String, values: [DatabaseValue])] = [
        (TrackQuery(.every), listed, []),
        (TrackQuery(.all([])), listed, []),
        (TrackQuery(.id(7), presence: .withHidden), "WHERE +is_present > 0 AND id = ?", [.integer(7)]),
        (
            TrackQuery(.content(7), order: .latestFirst, page: ListPage(limit: 1)),
            "\(listed) AND content = ? ORDER BY id DESC LIMIT ? OFFSET ?", [.integer(7), .integer(1), .integer(0)]
        ),
        (
            TrackQuery(.album(7), order: .album, page: ListPage(limit: 2, offset: 3)),
            """
            WHERE is_present = 1 AND album_id = ? ORDER BY coalesce(disc_number, 1), track_number, folder, file \
            LIMIT ? OFFSET ?
            """, [.integer(7), .integer(2), .integer(3)]
        ),
        (TrackQuery(.folder("/"), order: .file), "\(listed) AND \(inFolder) ORDER BY file, part", [.text("")]),
        (
            TrackQuery(.file(FilePlace("/a/b"), part: 2)), "\(listed) AND \(inFolder) AND file = ? AND part = ?",
            [.text("/a"), .text("b"), .integer(2)]
        ),
        (
            TrackQuery(.path("/a/b/c")), "\(listed) AND (\(inFolder) AND file = ? OR \(inFolder) AND file = ?)",
            [.text("/a/b"), .text("c"), .text("/a"), .text("b")]
        ),
        (
            TrackQuery(.all([.albumTitle("x"), .all([.text(.genre, "' OR 1 --")])])),
            """
            \(listed) AND album_id IN (SELECT id FROM album WHERE title = ?) AND id IN (SELECT track FROM track_name
                WHERE name = (SELECT id FROM name WHERE kind = 4 AND text = ?))
            """, [.text("x"), .text("' OR 1 --")]
        ),
    ]

    @Test("A query becomes SQL whose text depends on its cases alone, and all values are bound", arguments: clauses)
    func sql(query: TrackQuery, text: String, values: [DatabaseValue]) {
        #expect(query.clauses.text == text)
        #expect(query.clauses.values == values)
        if query.page == nil {
            #expect(query.count.values == values && query.count.text.hasPrefix("SELECT count(*) FROM track WHERE "))
        }
    }

    @Test("Each condition finds its tracks, listed and hidden ones, all at once and one at a time")
    func found() throws {
        let music = try MusicFolder()
        try music.add("A/1.flac", "TITLE=1", "ALBUM=One", "ARTIST=X", "GENRE=Rock", "TRACKNUMBER=2", frames: 3000)
        try music.add("A/2.flac", "TITLE=2", "ALBUM=One", "ARTIST=X", "GENRE=Pop", "TRACKNUMBER=1", frames: 4000)
        try music.add("B/x.flac", "TITLE=x", frames: 88_200)
        try music.write(
            Data("FILE \"x.flac\" WAVE\nTRACK 01 AUDIO\nTITLE \"s\"\nINDEX 01 00:00:00\n".utf8), to: "B/x.cue")
        try music.scan()
        func names(_ query: TrackQuery) throws -> [String] {
            let tracks = try music.index.tracks(query)
            let ids = try music.index.read { (index) throws(DatabaseError) in
                var ids: [Int64] = []
                var cursor = try index.cursor(query)
                while try cursor.next() { ids.append(cursor.id) }
                return ids
            }
            #expect(ids == tracks.map(\.id))
            return tracks.map(\.name)
        }
        let one = try #require(try music.index.track(at: music["A/1.flac"], part: 0))
        #expect(try names(TrackQuery(.every, order: .number)) == ["1", "2", "s"])
        #expect(try names(TrackQuery(.every, presence: .withHidden, order: .number)).sorted() == ["1", "2", "s", "x"])
        #expect(try names(TrackQuery(.id(one.id))) == ["1"] && names(TrackQuery(.content(one.content))) == ["1"])
        #expect(try names(TrackQuery(.album(try #require(one.albumId)), order: .album)) == ["2", "1"])
        #expect(try names(TrackQuery(.all([.albumTitle("One"), .text(.genre, "Rock")]))) == ["1"])
        #expect(try names(TrackQuery(.all([.albumTitle("One"), .text(.artist, "Rock")]))).isEmpty)
        #expect(try names(TrackQuery(.folder(music["A"]), order: .file)) == ["1", "2"])
        let second = TrackQuery(.folder(music["A"]), order: .file, page: ListPage(limit: 9, offset: 1))
        #expect(try names(second) == ["2"])
        #expect(try names(TrackQuery(.path(music["B/x.cue/track0001"]))) == ["s"])
        #expect(try names(TrackQuery(.path(music["B/x.flac"]))).isEmpty)
        #expect(try names(TrackQuery(.file(FilePlace(music["B/x.flac"]), part: 0), presence: .withHidden)) == ["x"])
        #expect(try names(TrackQuery(.unmeasured, order: .latestFirst, page: ListPage(limit: 1))) == ["s"])
        try music.index.storeLoudness([:], of: [one])
        #expect(try names(TrackQuery(.unmeasured, order: .number)) == ["2", "s"])
    }
}
