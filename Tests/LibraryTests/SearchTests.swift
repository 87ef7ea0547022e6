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

    @Test(
        "Names are found in other spellings",
        arguments: [
            ("acdc", "AC/DC"), ("ac/dc", "AC/DC"), ("ac dc", "AC/DC"), ("fuer", "Für Elise"), ("für", "Fuer Elise"),
            ("mueller", "Müller"), ("muller", "Mu\u{308}ller"), ("müller", "Mueller"), ("aarhus", "Århus"),
            ("wide", "Ｗｉｄｅ １９"), ("19", "Ｗｉｄｅ １９"), ("final", "ﬁnal"), ("waffle", "waﬄe"), ("!!!", "!!!"),
            ("dont", "Don't"), ("pnk", "P!nk"),
        ])
    func spellings(words: String, title: String) throws {
        let music = try MusicFolder()
        try music.add("a.flac", "TITLE=\(title)")
        try music.add("b.flac", "TITLE=Zz", "ARTIST=\(title)", "ALBUM=\(title)")
        try music.add("c.flac", "TITLE=Other")
        try music.scan()
        #expect(try music.titles(matching: words) == [title, "Zz"])
        let search = try #require(SearchWords(words))
        #expect(try music.index.albums(matching: search, MusicFolder.all).total == 1)
        #expect(try music.index.names(.artist, matching: search, MusicFolder.all).total == 1)
    }

    @Test("Years are found, of tracks and of albums")
    func years() throws {
        let music = try MusicFolder()
        try music.add("a.flac", "TITLE=A", "ALBUM=One", "DATE=1977-05-01")
        try music.add("b.flac", "TITLE=B", "ALBUM=Two", "DATE=1978")
        try music.scan()
        #expect(try music.titles(matching: "1977") == ["A"])
        let words = try #require(SearchWords("two 1978"))
        #expect(try music.index.albums(matching: words, MusicFolder.all).entries.map(\.title) == ["Two"])
    }

    @Test("No words are refused, and so is a text that is too long")
    func refused() {
        for text in ["", "  ", String(repeating: "a ", count: 17), String(repeating: "a", count: 257)] {
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
        func word(_ text: String) -> SearchWords.Word { SearchWords.Word(bytes: Array(text.utf8), other: nil) }
        var block = SearchBlock()
        for place in 0..<64 { block.append(place, title: Array("t\(place)x".utf8), rest: Array("r".utf8)) }
        for place in 0..<64 {
            var found: [Int] = []
            block.search([word("t\(place)x")]) { place, match in
                #expect(match == .title)
                found.append(place)
            }
            #expect(found == [place])
        }
        var count = 0
        block.search([word("r"), word("t")]) { _, match in
            #expect(match == .beginnings)
            count += 1
        }
        #expect(count == 64)
        // Words of two neighbours.
        block.search([word("t1x"), word("t2x")]) { _, _ in Issue.record("found") }
        SearchBlock([]).search([word("a")]) { _, _ in Issue.record("found") }
    }
}
