import Testing

@testable import Manifests

@Suite("Lines of playlists that are written")
struct PlaylistLineTests {
    private let folder = "/music/lists"

    private func line(_ entry: String) -> String? {
        PlaylistLine.bytes(of: entry, in: folder).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "A path beside the folder is relative, another one absolute, and one that no line can have an address",
        arguments: [
            ("/music/Joni/blue.flac", "../Joni/blue.flac"), ("/music/lists/a.flac", "../lists/a.flac"),
            ("/media/stick/a b.flac", "/media/stick/a b.flac"), ("/musical/a.flac", "/musical/a.flac"),
            ("/music/album.cue/track0003", "../album.cue/track0003"), ("/music/100%.flac", "../100%.flac"),
            ("/music/#1.flac", "../#1.flac"), ("/music/a\\b.flac", "../a\\b.flac"),
            ("/music/a.flac ", "file:///music/a.flac%20"), ("/music/a\nb.flac", "file:///music/a%0Ab.flac"),
            ("/music/caf\u{EFE9}.flac", "file:///music/caf%E9.flac"), ("/music/Jóga.flac", "../Jóga.flac"),
            ("tonearm:track/7", "tonearm:track/7"), ("https://h/a.flac", "https://h/a.flac"),
        ])
    func lines(entry: String, expected: String) {
        #expect(line(entry) == expected)
        // It is read as it was written.
        var entries: [PlaylistEntry] = []
        PlaylistFile.eachLine(of: Array("#EXTM3U\n\(line(entry) ?? "")\n".utf8), in: folder) { line in
            if let entry = line.entry(in: folder) { entries.append(entry) }
        }
        #expect(entries.count == 1)
        #expect(entries.first.map { $0.webAddress ?? $0.serviceAddress ?? $0.path } == entry)
    }

    @Test(
        "Other texts are no entries",
        arguments: [
            "", "a.flac", "ftp://h/a", "http://h/a\nb", " https://h", "https://h ", "tonearm:track/1\n", "/a\0b",
            "/" + String(repeating: "x", count: 4096),
        ])
    func refused(entry: String) { #expect(line(entry) == nil) }

    @Test("A folder of the root has no relative paths")
    func root() { #expect(PlaylistLine.bytes(of: "/music/a", in: "/lists").map { $0.count } == 8) }

    @Test("Products of the content service are entries of any playlist, and no files")
    func products() {
        let list = PlaylistFile(parsing: Array("tonearm:track/7\na.flac\n".utf8), in: folder)
        #expect(list.entries.map(\.serviceAddress) == ["tonearm:track/7", nil])
        #expect(list.paths == ["/music/lists/a.flac"] && list.otherAddressCount == 0)
    }
}
