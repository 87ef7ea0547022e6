import ApplianceTestSupport
import Library
import Media
import Testing

@testable import Appliance
@testable import MPD

@Suite("Filters of MPD")
struct MPDFilterTests {
    private static func song(
        _ uri: String, _ fields: [(TagField, [String])] = [], modified: Int64 = 1000, bits: Int = 16
    ) -> MPDSong {
        var metadata = TrackMetadata()
        for (field, values) in fields { metadata[field] = values }
        var song = MPDSong(uri: uri)
        let details = MPDSong.Details(
            id: 1, modified: modified, format: MPDAudioFormat(rate: 44_100, samples: .bits(bits), channels: 2),
            milliseconds: 1000, part: 0)
        song.take(details) { bytes, tags in
            bytes += Array(uri.utf8)
            tags += TrackTags.bytes(of: metadata)
        }
        return song
    }

    private static let songs = [
        song("A/1.flac", [(.artist, ["Miles Davis", "Gil Evans"]), (.title, ["So What"]), (.genre, ["Jazz"])]),
        song("A/2.flac", [(.artist, ["Björk"]), (.albumArtist, ["Various"]), (.title, ["Jóga"])], modified: 3000),
        song("AB/3.flac", [(.artistSort, ["Davis, Miles"]), (.artist, ["Miles Davis"])], bits: 24),
        song("4.flac"),
    ]

    /// Returns the numbers of the songs that match.
    private func matches(_ arguments: [String], isSearch: Bool = false) throws -> [Int] {
        let filter = try MPDFilter(parsing: arguments, isSearch: isSearch)
        return Self.songs.indices.filter { Self.songs[$0].matches(filter) }.map { $0 + 1 }
    }

    @Test(
        "find compares whole texts by their bytes",
        arguments: [
            (["Artist", "Miles Davis"], [1, 3]), (["artist", "miles davis"], []), (["Artist", "Miles"], []),
            (["Artist", "Gil Evans"], [1]), (["AlbumArtist", "Various"], [2]), (["AlbumArtist", "Björk"], []),
            (["AlbumArtist", "Gil Evans"], [1]), (["AlbumArtistSort", "Davis, Miles"], [3]),
            (["AlbumArtistSort", "Various"], [2]), (["ArtistSort", "Gil Evans"], [1]),
            (["ArtistSort", "Miles Davis"], [1]),
            (["any", "Jazz"], [1]), (["any", ""], []), (["Artist", ""], [4]), (["Genre", ""], [2, 3, 4]),
            (["Mood", ""], []), (["file", "4.flac"], [4]), (["filename", "A/1.flac"], [1]), (["base", "A"], [1, 2]),
            (["modified-since", "2000"], [2]), (["Artist", "Miles Davis", "Genre", "Jazz"], [1]),
            (["Artist", "Miles Davis", "(Title == 'So What')"], [1]),
        ] as [([String], [Int])])
    func pairs(arguments: [String], expected: [Int]) {
        #expect((try? matches(arguments)) ?? [] == expected)
    }

    @Test(
        "Expressions have all operators",
        arguments: [
            ("(Artist == 'Miles Davis')", [1, 3]), ("(Artist != 'Miles Davis')", [2, 4]), ("(ARTIST==\"Björk\")", [2]),
            ("(Artist contains 'iles')", [1, 3]), ("(Artist CONTAINS  'iles' )", [1, 3]),
            ("(Artist !contains 'iles')", [2, 4]), ("(Artist =~ '^Mil.s')", [1, 3]), ("(Artist !~ '^Mil.s')", [2, 4]),
            ("(Artist == '')", [4]), ("(Artist != '')", [1, 2, 3]), ("(any contains 'a')", [1, 2, 3]),
            ("(any !contains 'J')", [3, 4]), ("(file != '4.flac')", [1, 2, 3]), ("(file contains 'A')", [1, 2, 3]),
            ("(base '')", [1, 2, 3, 4]), ("(base 'A')", [1, 2]), ("(!(base 'A'))", [3, 4]),
            ("((Artist == 'Miles Davis') AND (Genre == 'Jazz'))", [1]), ("((Artist == 'Björk'))", [2]),
            ("((base 'A') AND (!(Genre == 'Jazz')) AND (Title != ''))", [2]),
            ("(modified-since '1970-01-01T00:50:00Z')", [2]), ("(modified-since '3001')", []),
            ("(AudioFormat == '44100:24:2')", [3]), ("(AudioFormat =~ '*:16:*')", [1, 2, 4]), ("(prio >= 1)", []),
            ("(prio >= 0)", [1, 2, 3, 4]),
        ] as [(String, [Int])])
    func expressions(text: String, expected: [Int]) throws {
        #expect(try matches([text]) == expected)
    }

    @Test(
        "search ignores case and accents, and looks for parts of texts",
        arguments: [
            (["Artist", "ILES d"], [1, 3]), (["Artist", "bjo"], [2]), (["any", "BJÖRK"], [2]),
            (["any", "davis, m"], [3]),
            (["(Artist == 'bjork')"], [2]), (["(Artist == 'bjor')"], []), (["(Title contains 'JOGA')"], [2]),
            (["(Artist =~ '^MILES')"], [1, 3]), (["file", "ab/3"], [3]), (["Title", ""], [1, 2, 3, 4]),
            (["any", ""], [1, 2, 3]),
        ] as [([String], [Int])])
    func search(arguments: [String], expected: [Int]) throws {
        #expect(try matches(arguments, isSearch: true) == expected)
    }

    @Test("Quotation marks and backslashes in texts")
    func quoting() throws {
        let song = Self.song("a", [(.artist, ["It's \"A\""]), (.album, ["B\\C"])])
        for text in [#"(Artist == 'It\'s "A"')"#, #"(Artist == "It's \"A\"")"#, #"(Album == 'B\\C')"#] {
            #expect(song.matches(try MPDFilter(parsing: [text], isSearch: false)), "\(text)")
        }
    }

    @Test(
        "Formats of DSD have a short name; numbers without sense are refused", arguments: ["dsd9999999999:2", "dsd:2"])
    func dsd(text: String) throws {
        var line: [UInt8] = []
        let format = try MPDAudioFormat(parsing: "dsd64:2", allowsAny: false)
        line.lines(atMost: MPDAudioFormat.lineSize) { format.write(to: &$0) }
        #expect(String(decoding: line, as: UTF8.self) == "Format: dsd64:2\n")
        #expect(format == MPDAudioFormat(rate: 352_800, samples: .dsd, channels: 2))
        #expect(throws: MPDFailure(.argument, "Failed to parse the sample rate")) {
            _ = try MPDAudioFormat(parsing: text, allowsAny: false)
        }
    }

    @Test("Deep nesting is refused, not followed")
    func nesting() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "(!", count: depth) + "(Artist == 'a')" + String(repeating: ")", count: depth)
        }
        _ = try MPDFilter(parsing: [nested(30)], isSearch: false)
        #expect(throws: MPDFailure(.argument, "Too many nested expressions")) {
            _ = try MPDFilter(parsing: [nested(2000)], isSearch: false)
        }
    }

    @Test(
        "Windows",
        arguments: [
            ("0:1", 0..<1), ("5", 5..<6), ("3:", 3..<Int.max), ("-1", 0..<Int.max), ("1:1", 1..<1),
        ])
    func windows(text: String, range: Range<Int>) throws {
        #expect(try MPDSelection.range(text) == range)
    }

    @Test("The tail of find: an order, then a window")
    func selection() throws {
        let selection = try MPDSelection(
            parsing: ["Artist", "A", "sort", "-last-modified", "window", "1:2"], isSearch: false)
        #expect(selection.order == .lastModified && selection.isDescending && selection.window == 1..<2)
        let plain = try MPDSelection(parsing: ["Artist", "sort", "sort", "track"], isSearch: false)
        #expect(plain.order == .tag(.track) && !plain.isDescending && plain.window == 0..<Int.max)
    }

    @Test("The names of tags, in the order of tagtypes: those of MusicBrainz are the last ones")
    func tags() {
        let names = MPDTags.all.list.map { "\($0.text)" }
        #expect(names.prefix(6) == ["Artist", "ArtistSort", "Album", "AlbumSort", "AlbumArtist", "AlbumArtistSort"])
        let first = names.firstIndex { $0.hasPrefix("MUSICBRAINZ") } ?? 0
        #expect(names[first...].allSatisfy { $0.hasPrefix("MUSICBRAINZ") } && names.count - first == 4)
        #expect(MPDTags.parse("albumARTIST") == MPDTags(.albumArtist))
        #expect(MPDTags.parse("Mood") == nil)
    }
}
