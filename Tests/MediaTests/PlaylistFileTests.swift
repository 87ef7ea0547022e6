import Testing

@testable import Media

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
}
