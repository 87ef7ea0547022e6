import Testing

@testable import Media

@Suite("Tags as some programs write them")
struct UnusualTagTests {
    // MARK: - ID3v2

    @Test(
        "Names of three letters in ID3v2.3 and 2.4, with a NUL or a blank after them", arguments: [3, 4], ["\0", " "])
    func shortNames(version: Int, end: String) throws {
        let tests = ID3v2Tests()
        let texts = [
            ("TT2", "Title"), ("TP1", "Artist"), ("TAL", "Album"), ("TRK", "3/9"), ("TYE", "2001"), ("TCO", "(17)"),
            ("TXX", "REPLAYGAIN_TRACK_GAIN\0-3 dB"),
        ]
        let frames = texts.flatMap { tests.frame($0 + end, [0] + Array($1.utf8), version: version) }
        let metadata = try ID3v2.read(from: MemorySource(tests.tag(frames, version: version)), at: 0)
        #expect(metadata.title == "Title" && metadata.artist == "Artist" && metadata.album == "Album")
        #expect(metadata.trackNumber == 3 && metadata[.trackTotal] == ["9"])
        #expect(metadata[.date] == ["2001"] && metadata[.genre] == ["Rock"])
        #expect(metadata.replayGain.trackGain == -3)
    }

    // MARK: - Long texts

    /// Texts longer than a field may be: with characters of two bytes at any offset from the limit.
    private static let longTexts = ["", "a"].map { $0 + String(repeating: "ä", count: 3000) }

    /// The title is the beginning, of whole characters and at most 4,096 bytes. The artist after it is there.
    private func expectBeginning(_ metadata: TrackMetadata, of text: String, least: Int = 4070) {
        let title = metadata.title ?? ""
        #expect(text.hasPrefix(title) && !title.contains("\u{FFFD}"))
        #expect((least...4096).contains(title.utf8.count), "\(title.utf8.count)")
        #expect(metadata.artist == "x")
    }

    @Test("Of a text that is too long the beginning counts: Vorbis comments", arguments: longTexts)
    func longVorbis(text: String) throws {
        let comments = ["TITLE=\(text)", "ARTIST=x"].map { Array($0.utf8) }
        let bytes =
            Chunks.little(0, 4) + Chunks.little(2, 4) + comments.flatMap { Chunks.little($0.count, 4) + $0 }
        let source = MemorySource(bytes)
        expectBeginning(try VorbisComments.read(from: source, in: 0..<Int64(bytes.count)), of: text)
        let artists = [Array("ARTIST=\(text)".utf8)]
        let list =
            Chunks.little(0, 4) + Chunks.little(1, 4) + artists.flatMap { Chunks.little($0.count, 4) + $0 }
        let metadata = try VorbisComments.read(from: MemorySource(list), in: 0..<Int64(list.count))
        #expect(text.hasPrefix(try #require(metadata.artist)), "a field that is a list")
    }

    @Test("The same in APE", arguments: longTexts)
    func longAPE(text: String) throws {
        let items = [("Title", Array(text.utf8), 0), ("Artist", Array("x".utf8), 0)]
        let bytes = MP3FileTests.ape(items, hasHeader: false)
        let trailing = try TrailingTags(of: MemorySource(bytes), length: Int64(bytes.count), base: 0)
        expectBeginning(try #require(trailing.ape), of: text)
    }

    @Test("The same in ID3v2, in each encoding", arguments: longTexts)
    func longID3v2(text: String) throws {
        let tests = ID3v2Tests()
        // A character outside of the plane of 16 bits may be cut in the middle.
        let wide = text + String(repeating: "\u{1F3B5}", count: 10)
        let contents: [([UInt8], String, Int)] = [
            ([3] + Array(text.utf8), text, 4070),
            ([0] + text.unicodeScalars.map { UInt8($0.value) }, text, 3000),
            ([2] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }, text, 3000),
            (
                [2]
                    + ("\u{1F3B5}" + String(repeating: "\u{1F3B5}", count: 1500)).utf16.flatMap {
                        [UInt8($0 >> 8), UInt8($0 & 0xFF)]
                    }, String(repeating: "\u{1F3B5}", count: 1501), 3000
            ),
            ([3] + Array(wide.utf8), wide, 4070),
        ]
        for (content, expected, least) in contents {
            let frames =
                tests.frame("TIT2", content, version: 3) + tests.frame("TPE1", [0] + Array("x".utf8), version: 3)
            let metadata = try ID3v2.read(from: MemorySource(tests.tag(frames, version: 3)), at: 0)
            expectBeginning(metadata, of: expected, least: least)
        }
    }

    @Test("The same in lists of RIFF and in AIFF, as UTF-8 and Latin-1", arguments: longTexts)
    func longChunks(text: String) throws {
        for bytes in [Array(text.utf8), text.unicodeScalars.map { UInt8($0.value) } + [0xE4, 0xE4]] {
            let info =
                Array("INFO".utf8) + Chunks.riff("INAM", bytes) + Chunks.riff("IART", Array("x".utf8))
            let list = try RIFFInfo.read(from: MemorySource(info), in: 0..<Int64(info.count))
            let least = 2990
            expectBeginning(list, of: text + "ää", least: least)
            let chunks = Chunks.iff("NAME", bytes) + Chunks.iff("AUTH", Array("x".utf8))
            expectBeginning(try AIFFHeader(MemorySource(Chunks.aiff(chunks))).tags, of: text + "ää", least: least)
        }
    }

    // MARK: - Wrong sizes in FLAC

    /// FLAC of which `blocks` follow STREAMINFO, with comments and padding after them.
    private func flac(_ blocks: [UInt8], comments: (Int) -> Int = { $0 }) throws -> TrackMetadata {
        let bytes = try Signal(frames: 5000).flac(["--no-seektable", "--no-padding"])
        let audio = try #require((42..<bytes.count).first { bytes[$0] == 0xFF && bytes[$0 + 1] & 0xFE == 0xF8 })
        let texts = ["TITLE=Title", "ARTIST=A", "ALBUM=Album"].map { Array($0.utf8) }
        let content =
            Chunks.little(4, 4) + Array("test".utf8) + Chunks.little(3, 4)
            + texts.flatMap { Chunks.little($0.count, 4) + $0 }
        let header = Array(bytes[..<4] + [0] + bytes[5..<42])
        let own = [4] + Chunks.big(comments(content.count), 3) + content
        let file = header + blocks + own + [0x81] + Chunks.big(100, 3) + [UInt8](repeating: 0, count: 100)
        let decoder = try AudioFile.open(MemorySource(file + bytes[audio...]))
        #expect(difference(decoder.decodeAll().samples, Signal(frames: 5000).samples) == nil)
        return decoder.metadata
    }

    private static func picture(_ size: Int) -> [UInt8] {
        Chunks.big(3, 4) + Chunks.big(10, 4) + Array("image/jpeg".utf8) + Chunks.big(0, 4)
            + [UInt8](repeating: 0, count: 16) + Chunks.big(size, 4)
            + [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0x5A, count: size - 3)
    }

    @Test(
        "Comments are found after a picture whose length is wrong, and the picture too", Tool.needsFLAC,
        arguments: [(5000, -4000), (5000, 700), (5000, -1), (200_000, -150_000), (200_000, 3_000_000)])
    func wrongPicture(size: Int, error: Int) throws {
        let content = Self.picture(size)
        let metadata = try flac([6] + Chunks.big(content.count + error, 3) + content)
        #expect(metadata.title == "Title" && metadata.artist == "A" && metadata.album == "Album")
        #expect(metadata.pictures.map(\.length) == [Int64(size)])
    }

    @Test("The same after a block without lengths of its own", Tool.needsFLAC, arguments: [-4000, -1, 1, 900])
    func wrongApplication(error: Int) throws {
        let content = Array("test".utf8) + (0..<5000).map { UInt8(truncatingIfNeeded: $0 * 7 | 0x80) }
        let metadata = try flac([2] + Chunks.big(content.count + error, 3) + content)
        #expect(metadata.title == "Title" && metadata.album == "Album")
    }

    @Test("Comments with a wrong length themselves are whole", Tool.needsFLAC, arguments: [-40, -1, 1, 3, 60, 90_000])
    func wrongComments(error: Int) throws {
        let metadata = try flac([]) { max(0, $0 + error) }
        #expect(metadata.title == "Title" && metadata.artist == "A" && metadata.album == "Album")
    }
}
