import Database
import Foundation
import Media
import PCM
import TestSupport
import Testing

@testable import Library

@Suite("Lists of the library")
struct MusicListTests {
    private let music: MusicFolder

    init() throws { music = try MusicFolder() }

    private func albums() throws -> [String] {
        try music.index.albums(MusicFolder.all).entries.map { "\($0.artist): \($0.title) \($0.trackCount)" }
    }

    @Test("An album has its discs in whatever folders; without an album artist in one folder, with those of its discs")
    func discs() throws {
        try music.add("1/a.flac", "ALBUM=Works", "ALBUMARTIST=Anna", "ARTIST=A", "DISCNUMBER=1")
        try music.add("2/a.flac", "ALBUM=Works", "ALBUMARTIST=Anna", "ARTIST=B", "DISCNUMBER=2")
        try music.add("Mix/CD 1/a.flac", "ALBUM=Mix", "ARTIST=A")
        try music.add("Mix/disc-2/a.flac", "ALBUM=Mix", "ARTIST=B")
        try music.add("other/a.flac", "ALBUM=Mix", "ARTIST=Zoe")
        try music.scan()
        #expect(try albums() == [": Mix 2", "Anna: Works 2", "Zoe: Mix 1"])
        #expect(try music.index.albums(MusicFolder.all).entries.map(\.discCount) == [1, 2, 1])
    }

    @Test("Two albums of one name and one artist stay two by their releases, and by folders and years")
    func twoAlbums() throws {
        let names = ["ALBUM=Peter", "ALBUMARTIST=Peter"]
        try music.add("1/a.flac", names[0], names[1], "DATE=1977")
        try music.add("1/b.flac", names[0], names[1], "DATE=1978")
        try music.add("2/a.flac", names[0], names[1], "DATE=1980-05")
        try music.add("3/a.flac", names[0], names[1], "DATE=1980")
        let (one, two) = ("0b7a6c7e-0000-4000-8000-000000000001", "0b7a6c7e-0000-4000-8000-000000000002")
        try music.add("4/a.flac", "ALBUM=Live", "ALBUMARTIST=P", "MUSICBRAINZ_ALBUMID=\(one)")
        try music.add("4/b.flac", "ALBUM=Live", "ALBUMARTIST=P", "MUSICBRAINZ_ALBUMID=\(two)")
        try music.add("5/a.flac", "ALBUM=Live", "ALBUMARTIST=P", "MUSICBRAINZ_ALBUMID=\(two)", "DATE=1999")
        try music.scan()
        #expect(try albums() == ["P: Live 1", "P: Live 2", "Peter: Peter 2", "Peter: Peter 2"])
        try music.scan()
        #expect(try albums().count == 4)
    }

    @Test("Artists, genres, dates, and the albums and tracks of each")
    func names() throws {
        try music.add("1.flac", "TITLE=1", "ARTIST=Émile", "ARTIST=Bob", "ALBUM=B", "DATE=2001", "GENRE=Pop")
        try music.add("2.flac", "TITLE=2", "ARTIST=Zoe", "ALBUMARTIST=Emil", "ALBUM=A", "DATE=1999", "GENRE=Pop")
        try music.scan()
        let index = music.index
        func names(_ kind: NameKind) throws -> [String] { try index.names(kind, MusicFolder.all).entries.map(\.text) }
        #expect(try names(.artist) == ["Bob", "Émile", "Zoe"])
        #expect(try names(.albumArtist) == ["Bob", "Emil", "Émile"])
        #expect(try names(.date) == ["1999", "2001"] && names(.genre) == ["Pop"])
        let pop = try #require(try index.names(.genre, MusicFolder.all).entries.first)
        #expect(try index.albums(ofName: pop.id, MusicFolder.all).entries.map(\.title) == ["A", "B"])
        #expect(try index.tracks(ofName: pop.id, ListPage(limit: 1)).total == 2)
        let bob = try #require(try index.names(.artist, MusicFolder.all).entries.first)
        #expect(try index.tracks(ofName: bob.id, MusicFolder.all).entries.map(\.name) == ["1"])
    }

    @Test(
        "A compilation is one album; two normal forms are one name; all album artists and dates count"
    )
    func unification() throws {
        for (number, artist) in ["A", "B", "C"].enumerated() {
            try music.add(
                "\(artist)/1.flac", "ALBUM=Hits", "ARTIST=\(artist)", "COMPILATION=1", "DATE=\(1970 + number)")
        }
        try music.add("d/1.flac", "ALBUM=Ea\u{301}u", "ALBUMARTIST=Zoe\u{308}", "ARTIST=Zoe\u{308}")
        try music.add("e/1.flac", "ALBUM=Eáu", "ALBUMARTIST=Zoë", "ARTIST=Zoë")
        try music.add("f/1.flac", "ALBUM=Hits", "ARTIST=D")
        try music.add("g/1.flac", "ALBUM=Duo", "ALBUMARTIST=X", "ALBUMARTIST=Y", "DATE=2001", "DATE=1999")
        try music.add("h/1.flac", "ARTIST=P feat. Q", "ARTISTS=P", "ARTISTS=Q", "TITLE=Song")
        try music.scan()
        #expect(try albums() == [": Hits 3", "D: Hits 1", "X, Y: Duo 1", "Zoë: Eáu 2"])
        let index = music.index
        func names(_ kind: NameKind) throws -> [String] { try index.names(kind, MusicFolder.all).entries.map(\.text) }
        #expect(try names(.artist) == ["A", "B", "C", "D", "P", "Q", "Zoë"])
        #expect(try names(.albumArtist) == ["A", "B", "C", "D", "P", "Q", "X", "Y", "Zoë"])
        #expect(try names(.date) == ["1970", "1971", "1972", "1999", "2001"])
        #expect(try music.titles(matching: "q song") == ["Song"])
        #expect(try index.albums(called: "hits").count == 2 && index.names(called: "zoe").count == 1)
    }

    @Test("Folders in a folder, also those that only have folders, and names around the slash")
    func folders() throws {
        for name in ["a/x/1", "a/1", "a b/1", "a-b/y/1", "a0/1", "b/c/d/1"] { try music.add("\(name).flac") }
        try music.scan()
        #expect(try music.index.folders(in: music.path) == ["a", "a b", "a-b", "a0", "b"])
        #expect(try music.index.folders(in: music["b"]) == ["c"])
        #expect(try music.index.folders(in: music["a"]) == ["x"])
        #expect(try music.index.folders(in: "/").count == 1)
    }

    @Test("Recently added albums: by the time of the scan, in a new index by the time of the files")
    func recent() throws {
        func add(_ name: String, _ time: Double) throws {
            try music.add("\(name)/a.flac", "ALBUM=\(name)", "ARTIST=x")
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: time)], ofItemAtPath: music["\(name)/a.flac"])
        }
        try add("Old", 1e9)
        try add("Newer", 1.2e9)
        try add("Oldest", 0.9e9)
        try music.scan(now: nil)
        try add("Copied", 0.5e9)
        try music.scan(now: 1_700_000_000)
        let albums = try music.index.recentAlbums(MusicFolder.all).entries
        #expect(albums.map(\.title) == ["Copied", "Newer", "Old", "Oldest"])
    }

    @Test("A track takes at most 1 KB of the index")
    func size() throws {
        let properties = AudioProperties(
            format: PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16), frameCount: 9_999_999,
            container: .flac, codec: .flac, bitRate: nil)
        let count = 3000
        try music.index.write { (database) throws(DatabaseError) in
            let rows = TrackRows(database)
            for number in 0..<count {
                let (artist, album) = (number / 120, number / 12)
                var metadata = TrackMetadata()
                metadata.title = "The title of number \(number)"
                metadata.artist = "Some Band \(artist)"
                metadata.albumArtist = "Some Band \(artist)"
                metadata.album = "The Long Album \(album)"
                (metadata.trackNumber, metadata.discNumber) = (number % 12 + 1, 1)
                metadata[.genre] = ["Rock"]
                metadata[.date] = ["\(1960 + album % 60)-05-31"]
                metadata[.composer] = ["Composer \(artist)"]
                for field in [TagField.recordingID, .releaseID, .releaseGroupID, .artistID, .albumArtistID] {
                    let owner = field == .recordingID ? number : field == .artistID ? artist : album
                    metadata[field] = ["0b7a6c7e-0000-4000-8000-\(String(format: "%012d", owner))"]
                }
                let gain = ReplayGain(trackGain: -7.1, trackPeak: 0.9, albumGain: -6.8, albumPeak: 1)
                metadata.replayGain = gain
                let place = FilePlace(
                    "/media/music/Some Band \(artist)/The Long Album \(album)/\(number) The title of number.flac")
                try rows.store(
                    place,
                    ScannedTrack(
                        FileStamp(size: 30_000_000, modified: 1_600_000_000_123_456_789, state: 12_345_678), properties,
                        metadata, content: Int64(number) &* 0x1234_5678_9ABC_DEF1), now: 1_700_000_000)
            }
            try rows.finish()
        }
        let bytes = try music.index.count(.bytes)
        #expect(bytes / Int64(count) <= 1024, "\(bytes / Int64(count))")
    }
}
