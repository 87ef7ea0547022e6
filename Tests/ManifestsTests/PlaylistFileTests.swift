import Testing

@testable import Manifests

@Suite("Playlist files")
struct PlaylistFileTests {
    private func paths(_ text: String) -> [String] { PlaylistFile(parsing: Array(text.utf8), in: "/m/lists").paths }

    @Test(
        "Paths",
        arguments: [
            ("a.flac\r\nb.flac\n", ["/m/lists/a.flac", "/m/lists/b.flac"]),
            ("a.flac\rb.flac", ["/m/lists/a.flac", "/m/lists/b.flac"]),
            ("\u{FEFF}#EXTM3U\n#EXTINF:12,A - B\n  /x/a b.flac \n\n", ["/x/a b.flac"]),
            ("../a.flac\n./b/../c.flac\n../../../d.flac", ["/m/a.flac", "/m/lists/c.flac"]),
            ("sub\\c.flac", ["/m/lists/sub/c.flac"]), ("sub/c\\d.flac", ["/m/lists/sub/c\\d.flac"]),
            ("file:///x/%C3%A4%20+.flac", ["/x/ä +.flac"]), ("file://localhost/x.flac", ["/x.flac"]),
            ("file://nas/x.flac\nfile:///%zz\nfile:///a%00b\nhttps://h/x.flac\n..\n/", ["/m"]),
            ("50%.flac", ["/m/lists/50%.flac"]),
        ])
    func paths(text: String, expected: [String]) {
        #expect(paths(text) == expected)
    }

    @Test("The first title counts")
    func title() {
        let file = PlaylistFile(parsing: Array("#PLAYLIST: Evening \n#PLAYLIST:No\na".utf8), in: "/m")
        #expect(file.title == "Evening" && file.paths == ["/m/a"])
        #expect(PlaylistFile(parsing: Array("#PLAYLIST:\n".utf8), in: "/m").title == nil)
    }

    @Test("Names that are not UTF-8 are those of the files")
    func otherBytes() {
        let file = PlaylistFile(parsing: [0x61, 0xE4, 0x0A], in: "/m")
        #expect(file.paths == ["/m/a\u{EFE4}"])
    }

    @Test("A last line that is torn is no entry, and one of another program is")
    func torn() throws {
        for (text, expected) in [
            ("a.flac\n#+14\nb.flac\nc.fl", ["a.flac", "b.flac"]), ("a.flac\n#+6\nb.flac", ["a.flac", "b.flac"]),
            ("#+7\nc\u{E9}", []), ("a.flac\nb.fl", ["a.flac", "b.fl"]),
        ] {
            // Also in the middle of a letter.
            let bytes = Array(text.utf8.dropLast(text.hasSuffix("\u{E9}") ? 1 : 0))
            let files = [
                PlaylistFile(parsing: bytes, in: "/m"), try PlaylistFile(recognising: bytes, in: "/m"),
            ]
            for file in files { #expect(file.paths == expected.map { "/m/\($0)" }, "\(text)") }
            var lines: [String] = []
            PlaylistFile.eachLine(of: bytes, in: "/m") { lines.append(String(decoding: $0.bytes, as: UTF8.self)) }
            #expect(lines == expected)
        }
    }

    @Test("A line from the root of the music is the first of the other paths, in every kind of playlist")
    func musicPath() throws {
        for text in ["A/1.flac\n", "[playlist]\nFile1=A/1.flac\n"] {
            let file = try PlaylistFile(recognising: Array(text.utf8), in: "/m/lists") { "/music/\($0)" }
            #expect(file.entries.map { $0.path } == ["/m/lists/A/1.flac"], "\(text)")
            #expect(file.entries.first?.alternatives.first == "/music/A/1.flac", "\(text)")
        }
        let beside = PlaylistFile(parsing: Array("A/1.flac".utf8), in: "/m") { "/m/\($0)" }
        #expect(beside.entries.first?.alternatives == [])
        #expect(PlaylistFile(parsing: Array("A/1.flac".utf8), in: "/m").entries.first?.alternatives == [])
    }
}
