import Media
import TestSupport
import Testing

@testable import Library

@Suite("Tags and folders of the index, for remote controls")
struct TrackTagsTests {
    @Test("All values of all fields, in one order, without control characters")
    func tags() {
        var metadata = TrackMetadata()
        metadata[.genre] = ["Jazz", "Hard\nBop"]
        metadata[.artist] = ["B", "A"]
        metadata[.trackTotal] = ["9"]
        #expect(
            String(decoding: TrackTags.bytes(of: metadata), as: UTF8.self)
                == "\u{3}B\n\u{3}A\n\u{5}Jazz\n\u{5}Hard Bop\n")
    }

    @Test("A tag without an end is cut at the next value")
    func longTags() {
        var metadata = TrackMetadata()
        metadata.title = String(repeating: "t", count: 9000)
        metadata.album = "A"
        #expect(TrackTags.bytes(of: metadata) == [1, 0x41, 0x0A])
    }

    @Test("Text without case and accents keeps its punctuation, and bytes that are no UTF-8")
    func letters() {
        func folded(_ text: [UInt8]) -> [UInt8] {
            var letters: [UInt8] = []
            FoldedText.append(text[...], to: &letters)
            return letters
        }
        #expect(folded(Array("Don't STOP – Bjo\u{308}rk, Ærø".utf8)) == Array("don't stop – bjork, aero".utf8))
        #expect(folded([0x41, 0xFF, 0x80, 0xC3]) == [0x61, 0xFF, 0x80, 0xC3])
        #expect(folded([1, 0x0A, 0xF0, 0x9F, 0x8E, 0xB5]) == [1, 0x0A, 0xF0, 0x9F, 0x8E, 0xB5])
    }

    @Test("A folder is followed by its contents; case and accents do not matter unless names are the same")
    func order() {
        let paths = ["/", "/a", "/a/z", "/A", "/A/b", "/ä", "/a b", "/a-b", "/ab", "/Äc", "/b", "/B/x", "/Z"]
        let sorted = paths.reversed().sorted {
            FolderOrder.place(of: $0).lexicographicallyPrecedes(FolderOrder.place(of: $1))
        }
        #expect(sorted == paths)
        #expect(FolderOrder.place(of: "/A/b").starts(with: FolderOrder.place(of: "/A")))
        #expect(!FolderOrder.place(of: "/ab").starts(with: FolderOrder.place(of: "/a")))
    }

    @Test("A scan stores the tags, and the place of the folder")
    func scan() throws {
        let music = try MusicFolder()
        try music.add(
            "Album/1.flac", "PERFORMER=P", "PERFORMER=Q", "ARTISTSORT=Davis, Miles", "ORIGINALDATE=1959", "LABEL=L",
            "CONDUCTOR=C", "WORK=W", "GROUPING=G", "COMPOSERSORT=cs", "ALBUMSORT=als", "ALBUMARTISTSORT=aas")
        try music.scan()
        let rows = try music.index.rows("SELECT tags, place FROM track JOIN folder ON folder.id = folder", []) { row in
            (row.bytes(0) ?? [], row.bytes(1) ?? [])
        }
        var expected = TrackMetadata()
        (expected[.performer], expected[.artistSort], expected[.originalDate]) = (
            ["P", "Q"], ["Davis, Miles"], ["1959"]
        )
        (expected[.label], expected[.conductor], expected[.work]) = (["L"], ["C"], ["W"])
        (expected[.grouping], expected[.composerSort], expected[.albumSort]) = (["G"], ["cs"], ["als"])
        expected[.albumArtistSort] = ["aas"]
        #expect(rows.map(\.0) == [TrackTags.bytes(of: expected)])
        #expect(rows.map(\.1) == [FolderOrder.place(of: music["Album"])])
    }
}
