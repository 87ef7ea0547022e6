import Testing

@testable import Manifests

@Suite("Playlists that come from elsewhere")
struct PlaylistEntryTests {
    private func entry(_ bytes: [UInt8]) throws -> PlaylistEntry {
        let file = PlaylistFile(parsing: bytes, in: "/m/lists", below: "/m")
        #expect(file.entries.count == 1)
        return try #require(file.entries.first)
    }

    @Test(
        "The paths that a line may mean, beside the one that it has",
        arguments: [
            ("C:\\Music\\A\\1.flac", ["/m/Music/A/1.flac", "/m/A/1.flac", "/m/1.flac", "/m/lists/1.flac"]),
            ("d:/A/1.flac", ["/A/1.flac", "/m/A/1.flac"]), ("\\\\nas\\music\\A\\1.flac", ["/m/A/1.flac"]),
            ("file:///C:/Music/A/%C3%A4.flac", ["/m/A/ä.flac"]), ("FILE://nas/A/1.flac", ["/m/A/1.flac"]),
            ("A/B\\1.flac", ["/m/lists/A/B/1.flac"]), ("..\\A%20B\\1.flac", ["/m/A B/1.flac"]),
            ("/home/me/Music/A/1.flac", ["/m/A/1.flac"]), ("C:1.flac", ["/m/lists/1.flac"]),
        ])
    func places(line: String, expected: [String]) throws {
        let entry = try entry(Array(line.utf8))
        #expect(entry.line == line)
        for path in expected { #expect(entry.alternatives.contains(path), "\(path) of \(entry.alternatives)") }
    }

    @Test("Sets of characters: UTF-16 in both orders, with and without a mark, and Windows-1252")
    func characters() throws {
        let line = "Björk/Dvořák – 🎵.flac"
        let (little, big) = (
            Array(line.utf16).flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] },
            Array(line.utf16).flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        )
        for bytes in [little, [0xFF, 0xFE] + little, big, [0xFE, 0xFF] + big] {
            #expect(try entry(bytes).path == "/m/lists/\(line)")
        }
        let western = try entry([0x42, 0xE9, 0x20, 0x96, 0x20, 0x80])
        #expect(western.line == "Bé – €" && western.alternatives == ["/m/lists/Bé – €"])
        #expect(western.path == "/m/lists/B\u{EFE9} \u{EF96} \u{EF80}")
        let title = PlaylistFile(parsing: Array("#PLAYLIST:".utf8) + [0xC9, 0x74, 0xE9, 0x0A], in: "/m")
        #expect(title.title == "Été")
    }

    @Test("Few paths, whatever the line is")
    func bounds() throws {
        let deep = try entry(Array(("C:" + String(repeating: "\\a", count: 500)).utf8))
        #expect(deep.alternatives.count <= 64)
        #expect(
            PlaylistFile(parsing: Array("ftp://a/b.flac\nfile://\nfile:///%00\n\u{0}\n".utf8), in: "/m").entries
                .isEmpty)
    }
}
