import Testing

@testable import Library

@Suite("Search in the library")
struct SearchTests {
    @Test(
        "All words, in any order and also inside of words, in titles, artists, composers and albums",
        arguments: [
            ("brot", ["Das Brötchen"]), ("ANNA", ["Das Brötchen", "Song"]), ("works", ["Song"]), ("an son", ["Song"]),
            ("rötch", ["Das Brötchen"]), ("zzz", []), ("-song", ["Song"]), ("\"song", ["Song"]), ("song OR brot", []),
            ("!! song", ["Song"]), ("bach", ["Das Brötchen"]), ("das works", []), ("nna ork", ["Song"]),
        ])
    func words(words: String, found: [String]) throws {
        let music = try MusicFolder()
        try music.add("a.flac", "TITLE=Das Brötchen", "ARTIST=Anna", "COMPOSER=J. S. Bach")
        try music.add("b.flac", "TITLE=Song", "ARTIST=Änna", "ALBUM=Works")
        try music.scan()
        #expect(try music.titles(matching: words) == found)
    }

    @Test("No words are refused, and so is a text that is too long")
    func refused() {
        for text in ["", "!", " - ", String(repeating: "a ", count: 17), String(repeating: "a", count: 257)] {
            #expect(SearchWords(text) == nil)
        }
    }

    @Test("Beginnings of words in the title come first, then those of other fields, then the insides of words")
    func order() throws {
        let music = try MusicFolder()
        try music.add("1.flac", "TITLE=Evensong")
        try music.add("2.flac", "TITLE=A", "ALBUM=Songs")
        try music.add("3.flac", "TITLE=The Song")
        try music.scan()
        #expect(try music.titles(matching: "song") == ["The Song", "A", "Evensong"])
        let words = try #require(SearchWords("song"))
        let second = try music.index.tracks(matching: words, ListPage(limit: 1, offset: 1))
        #expect(second.total == 3 && second.entries.map(\.name) == ["A"])
    }

    @Test("Albums, artists and playlists are found by their names")
    func others() throws {
        let music = try MusicFolder()
        try music.add("a.flac", "TITLE=x", "ARTIST=Jónsi", "ALBUM=Go Quiet", "GENRE=Pop")
        try music.write(.init("a.flac\n".utf8), to: "Évening.m3u8")
        try music.scan()
        let index = music.index
        func search(_ text: String) throws -> [String] {
            let words = try #require(SearchWords(text))
            return try index.albums(matching: words, MusicFolder.all).entries.map(\.title)
                + index.names(.artist, matching: words, MusicFolder.all).entries.map(\.text)
                + index.playlists(matching: words, MusicFolder.all).entries.map(\.title)
        }
        #expect(try search("quiet jonsi") == ["Go Quiet"])
        #expect(try search("jonsi") == ["Go Quiet", "Jónsi"])
        #expect(try search("evening") == ["Évening"])
    }

    @Test("The number of a track in its block, and the bounds of its text")
    func block() {
        var block = SearchBlock()
        for place in 0..<64 { block.append(place, title: Array("t\(place)x".utf8), rest: Array("r".utf8)) }
        for place in 0..<64 {
            var found: [Int] = []
            block.search([Array("t\(place)x".utf8)]) { place, match in
                #expect(match == .title)
                found.append(place)
            }
            #expect(found == [place])
        }
        var count = 0
        block.search([Array("r".utf8), Array("t".utf8)]) { _, match in
            #expect(match == .beginnings)
            count += 1
        }
        #expect(count == 64)
        // Words of two neighbours.
        block.search([Array("t1x".utf8), Array("t2x".utf8)]) { _, _ in Issue.record("found") }
        SearchBlock([]).search([Array("a".utf8)]) { _, _ in Issue.record("found") }
    }
}
