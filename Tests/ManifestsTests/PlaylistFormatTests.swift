import Testing

@testable import Manifests

@Suite("Playlists of other programs")
struct PlaylistFormatTests {
    private func read(_ bytes: [UInt8]) throws -> PlaylistFile {
        try PlaylistFile(recognising: bytes, in: "/m/lists")
    }

    private func read(_ text: String) throws -> PlaylistFile { try read(Array(text.utf8)) }

    @Test("PLS: in the order of the numbers, whatever the count says")
    func pls() throws {
        let text = """
            [Playlist]
            NumberOfEntries=99
            file10=c.flac
            File2 = /x/b.flac
            Title2=No
            Length2=-1
            FILE1=Sub\\a.flac
            File3=http://radio.example/stream
            Filex=no
            File0=no
            File4=
            Version=2

            """
        let wide: [UInt8] = text.utf16.flatMap { unit -> [UInt8] in [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        for bytes in [Array(text.utf8), [0xFF, 0xFE] + wide] {
            let list = try read(bytes)
            #expect(list.paths == ["/m/lists/Sub/a.flac", "/x/b.flac", "/m/lists/c.flac"])
            #expect(list.entries.map(\.webAddress) == [nil, nil, "http://radio.example/stream", nil])
            #expect(list.otherAddressCount == 0)
        }
    }

    @Test("XSPF: locations are URIs")
    func xspf() throws {
        let list = try read(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <playlist version="1" xmlns="http://xspf.org/ns/0/"><title>Evening</title><trackList>
            <track><location>file:///x/%C3%A4%20b.flac</location><location>file:///other</location></track>
            <track><title>Without a place</title></track>
            <track><location> Sub/a%20&amp;%20b.flac
            </location><extension application="x"><location>no</location></extension></track>
            <track><location>https://h/x.flac</location></track>
            <track><location>file:/one/slash.flac</location></track>
            </trackList></playlist>
            """)
        #expect(list.paths == ["/x/ä b.flac", "/m/lists/Sub/a%20&%20b.flac", "/one/slash.flac"])
        #expect(list.entries[1].alternatives.contains("/m/lists/Sub/a & b.flac"))
        #expect(list.entries.map(\.webAddress) == [nil, nil, "https://h/x.flac", nil])
    }

    @Test(
        "XML that is no XSPF names its problem",
        arguments: [
            ("<html></html>", "XML that is no XSPF"), ("<playlist/>", "XML that is no XSPF"),
            ("<playlist><trackList>", "line 1: no element found"),
        ])
    func malformed(text: String, what: String) {
        #expect(throws: ManifestError.malformed(what: what)) { try read(text) }
    }

    @Test("M3U is all else; a playlist of HLS is known as one")
    func m3u() throws {
        let list = try read("#EXTM3U\n#EXTINF:1,x\na.flac\nHTTP://h/1\nrtsp://h/2\nmms://h/3\nb.flac\n")
        #expect(list.paths == ["/m/lists/a.flac", "/m/lists/b.flac"] && !list.isStream)
        #expect(list.entries.map(\.webAddress) == [nil, "HTTP://h/1", nil])
        #expect(list.otherAddress == "rtsp://h/2" && list.otherAddressCount == 2)
        #expect(try read("#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:1,\n1.ts\n").isStream)
        #expect(try read("").entries.isEmpty)
    }
}
