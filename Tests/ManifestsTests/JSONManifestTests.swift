import Testing

@testable import Manifests

@Suite("The service's manifests in JSON")
struct JSONManifestTests {
    static func manifest(_ text: String, _ format: ManifestFormat = .bts) throws(ManifestError) -> Manifest {
        try Manifest(Array(text.utf8), format: format, url: "")
    }

    @Test("BTS: the first URL of one file")
    func bts() throws {
        let full = """
            {"mimeType":"audio/mpeg","codecs":"mp3","encryptionType":"NONE",
             "urls":["https://c/a.mp3?token=1~YQ==","https://c/b"]}
            """
        let short =
            "{\"mimeType\":\"audio/mp4\",\"codecs\":\"mp4a.40.5\",\"urls\":[\"https://c/a.mp4\"],\"keyId\":null}"
        let representation = try DASHTests.first(try Self.manifest(full))
        #expect(representation.segments == .file(IndexedFile(url: "https://c/a.mp3?token=1~YQ==")))
        #expect(representation.codecs == ["mp3"] && representation.mimeType == "audio/mpeg")
        #expect(try DASHTests.first(try Self.manifest(short)).codecs == ["mp4a.40.5"])
    }

    @Test("EMU: a playlist, also in the manifest itself")
    func emu() throws {
        let plain = "{\"mimeType\":\"application/vnd.apple.mpegurl\",\"urls\":[\"https://c/a.m3u8\"]}"
        #expect(try DASHTests.first(try Self.manifest(plain, .emu)).segments == .playlist(url: "https://c/a.m3u8"))
        let playlist = SampleText.base64("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nhttps://c/1\n#EXT-X-ENDLIST")
        let inside = "{\"urls\":[\"data:application/vnd.apple.mpegurl;base64,\(playlist)\"]}"
        guard case .list(let list) = try DASHTests.first(try Self.manifest(inside, .emu)).segments else {
            Issue.record("no list")
            return
        }
        #expect(list.segments.map(\.resource.url) == ["https://c/1"])
    }

    @Test("Mistakes are named")
    func errors() {
        let cases: [(String, ManifestError)] = [
            ("[]", .malformed(what: "BTS that is not an object")),
            ("{}", .malformed(what: "BTS without urls")), ("{\"urls\":[]}", .malformed(what: "BTS without urls")),
            ("{\"urls\":[1]}", .malformed(what: "BTS with a URL that is not text")),
            ("{\"urls\":[\"x\"],\"encryptionType\":\"OLD_AES\"}", .unsupported(what: "BTS with encryption “OLD_AES”")),
        ]
        for (text, error) in cases {
            #expect(throws: error) { try Self.manifest(text) }
        }
        #expect {
            try Self.manifest("{\n\"urls\"")
        } throws: { error in
            guard case ManifestError.malformed(let what) = error else { return false }
            return what.hasPrefix("BTS, line 2, column ")
        }
        #expect(throws: ManifestError.unsupported(what: "EMU with “audio/mp4”")) {
            try Self.manifest("{\"mimeType\":\"audio/mp4\",\"urls\":[\"x\"]}", .emu)
        }
    }

    @Test("The media types of manifests")
    func types() {
        let cases: [(String, ManifestFormat?)] = [
            ("application/vnd.tidal.bts", .bts), ("application/vnd.tidal.emu", .emu),
            ("Application/DASH+xml; charset=utf-8", .dash),
            ("application/vnd.apple.mpegurl", .hls), ("audio/mpegurl", .hls), ("application/x-mpegURL", .hls),
            ("text/html", nil),
            ("", nil),
        ]
        for (type, format) in cases { #expect(ManifestFormat(mimeType: type) == format, "\(type)") }
    }
}
