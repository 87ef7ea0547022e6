import Testing

@testable import Media

@Suite("ID3v2")
struct ID3v2Tests {
    private func synchsafe(_ value: Int) -> [UInt8] {
        [21, 14, 7, 0].map { UInt8(value >> $0 & 0x7F) }
    }

    func frame(_ name: String, _ content: [UInt8], version: Int, flags: UInt8 = 0) -> [UInt8] {
        let size =
            switch version {
            case 2: Chunks.big(content.count, 3)
            case 3: Chunks.big(content.count, 4)
            default: synchsafe(content.count)
            }
        return Array(name.utf8) + size + (version == 2 ? [] : [0, flags]) + content
    }

    func tag(_ content: [UInt8], version: Int, flags: UInt8 = 0, size: Int? = nil) -> [UInt8] {
        Array("ID3".utf8) + [UInt8(version), 0, flags] + synchsafe(size ?? content.count) + content
    }

    private func read(_ bytes: [UInt8]) throws -> TrackMetadata {
        try ID3v2.read(from: MemorySource(bytes), at: 0)
    }

    private func utf16(_ text: String, bigEndian: Bool) -> [UInt8] {
        text.utf16.flatMap { bigEndian ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }

    @Test("All versions", arguments: [2, 3, 4])
    func versions(version: Int) throws {
        let names =
            version == 2
            ? ["TT2", "TP1", "TAL", "TP2", "TRK", "TPA", "TXX"]
            : ["TIT2", "TPE1", "TALB", "TPE2", "TRCK", "TPOS", "TXXX"]
        let texts = ["Title", "Artist", "Album", "All", "4/10", "2/2", "replaygain_track_gain\0-3.5 dB"]
        let frames = zip(names, texts).flatMap { frame($0, [0] + Array($1.utf8), version: version) }
        var expected = TrackMetadata()
        expected.title = "Title"
        expected.artist = "Artist"
        expected.album = "Album"
        expected.albumArtist = "All"
        expected.trackNumber = 4
        expected.discNumber = 2
        expected[.trackTotal] = ["10"]
        expected[.discTotal] = ["2"]
        expected.replayGain.trackGain = -3.5
        #expect(try read(tag(frames + [UInt8](repeating: 0, count: 50), version: version)) == expected)
    }

    @Test("Text encodings")
    func encodings() throws {
        let text = "Grüße \u{1F3B5}"
        let contents: [([UInt8], String)] = [
            ([0] + [0x47, 0x72, 0xFC, 0xDF, 0x65, 0], "Grüße"),
            ([1, 0xFF, 0xFE] + utf16(text, bigEndian: false) + [0, 0], text),
            ([1, 0xFE, 0xFF] + utf16(text, bigEndian: true), text),
            ([2] + utf16(text, bigEndian: true) + [0, 0], text),
            ([3] + Array(text.utf8) + [0], text),
            ([3, 0x61, 0xC3, 0x28], "a\u{FFFD}("),
            ([1, 0xFF, 0xFE] + utf16("odd", bigEndian: false) + [0x41], "odd"),
        ]
        for (content, expected) in contents {
            #expect(try read(tag(frame("TIT2", content, version: 4), version: 4)).title == expected)
        }
    }

    @Test("User texts in UTF-16 have a byte order mark for each string")
    func userText() throws {
        let content =
            [1, 0xFF, 0xFE] + utf16("REPLAYGAIN_ALBUM_PEAK", bigEndian: false) + [0, 0, 0xFF, 0xFE]
            + utf16("0.75", bigEndian: false)
        #expect(try read(tag(frame("TXXX", content, version: 3), version: 3)).replayGain.albumPeak == 0.75)
    }

    @Test("Several artists are listed; of several titles the first stands")
    func lists() throws {
        let frames =
            frame("TPE1", [3] + Array("A\0B\0".utf8), version: 4)
            + frame("TIT2", [3] + Array("One\0Two".utf8), version: 4)
        let metadata = try read(tag(frames, version: 4))
        #expect(metadata.artist == "A, B")
        #expect(metadata.title == "One")
    }

    @Test("Unsynchronisation of the tag (2.3) and of a frame (2.4) is undone")
    func unsynchronisation() throws {
        // U+FF00 U+00E0: the bytes FF 00 and FF E0 cannot stand as they are.
        let text: [UInt8] = [1, 0xFF, 0xFE, 0x00, 0xFF, 0xE0, 0x00]
        let coded: [UInt8] = [1, 0xFF, 0x00, 0xFE, 0x00, 0xFF, 0x00, 0xE0, 0x00]
        let album = frame("TALB", [0] + Array("x".utf8), version: 3)
        let header = frame("TIT2", text, version: 3).dropLast(text.count)
        #expect(try read(tag(header + coded + album, version: 3, flags: 0x80)).title == "\u{FF00}\u{E0}")
        #expect(try read(tag(header + coded + album, version: 3, flags: 0x80)).album == "x")
        #expect(
            try read(tag(frame("TIT2", coded, version: 4, flags: 0x02), version: 4)).title == "\u{FF00}\u{E0}")
    }

    @Test("Extended headers are skipped")
    func extendedHeader() throws {
        let title3 = frame("TIT2", [0] + Array("x".utf8), version: 3)
        #expect(try read(tag(Chunks.big(6, 4) + [0, 0, 0, 0, 0, 0] + title3, version: 3, flags: 0x40)).title == "x")
        let title4 = frame("TIT2", [0] + Array("x".utf8), version: 4)
        #expect(try read(tag(synchsafe(6) + [1, 0] + title4, version: 4, flags: 0x40)).title == "x")
    }

    @Test("Frames with a group or a data length, compressed ones, plain sizes in 2.4")
    func frameFlags() throws {
        let text: [UInt8] = [0] + Array("x".utf8)
        #expect(try read(tag(frame("TIT2", [7] + text, version: 3, flags: 0x20), version: 3)).title == "x")
        #expect(try read(tag(frame("TIT2", [0, 0, 0, 2] + text, version: 4, flags: 0x01), version: 4)).title == "x")
        #expect(try read(tag(frame("TIT2", text, version: 3, flags: 0x80), version: 3)).title == nil)
        #expect(try read(tag(frame("TIT2", text, version: 4, flags: 0x08), version: 4)).title == nil)
        let picture = Array("APIC".utf8) + Chunks.big(200, 4) + [0, 0] + [UInt8](repeating: 1, count: 200)
        #expect(try read(tag(picture + frame("TIT2", text, version: 4), version: 4)).title == "x")
    }

    @Test(
        "Plain sizes in 2.4, as old iTunes wrote them, also where each byte would fit seven bits",
        arguments: [100, 127, 128, 200, 255, 256, 257, 300, 336, 1000, 4000, 20_000])
    func plainSizes(size: Int) throws {
        let text: [UInt8] = [0] + Array("x".utf8)
        func plain(_ name: String, _ content: [UInt8]) -> [UInt8] {
            Array(name.utf8) + Chunks.big(content.count, 4) + [0, 0] + content
        }
        for (first, padding) in [("APIC", 0), ("APIC", 40), ("COMM", 10)] {
            let blank = [UInt8](repeating: 0, count: padding)
            let content = [UInt8](repeating: 0x41, count: size)
            let iTunes = plain(first, content) + plain("TIT2", text)
            #expect(try read(tag(iTunes + blank, version: 4)).title == "x", "plain, \(padding) padding")
            let standard = frame(first, content, version: 4) + frame("TIT2", text, version: 4)
            #expect(try read(tag(standard + blank, version: 4)).title == "x", "synchsafe, \(padding) padding")
            // As the last frame.
            let album = frame("TALB", text, version: 4)
            #expect(try read(tag(album + plain(first, content) + blank, version: 4)).album == "x")
        }
        let title = [0] + [UInt8](repeating: 0x42, count: size)
        // The beginning of a long text counts.
        let expected = String(repeating: "B", count: min(size, 4095))
        for content in [plain("TIT2", title), frame("TIT2", title, version: 4)] {
            let album = frame("TALB", text, version: 4)
            let metadata = try read(tag(content + album, version: 4))
            #expect(metadata.title == expected)
            #expect(metadata.album == "x")
        }
    }

    @Test("A picture of 20 MB before the title is not read")
    func picture() throws {
        let frames =
            frame("APIC", [UInt8](repeating: 1, count: 20_000_000), version: 3)
            + frame("TIT2", [0] + Array("x".utf8), version: 3)
        let source = MemorySource(tag(frames, version: 3))
        #expect(try ID3v2.read(from: source, at: 0).title == "x")
        #expect(source.bytesRead < 20_000)
        #expect(source.largestRequest <= 4096)
    }

    @Test("Sizes that lie end the reading")
    func lyingSizes() throws {
        let title = frame("TIT2", [0] + Array("x".utf8), version: 3)
        let huge = Array("TALB".utf8) + [0x7F, 0xFF, 0xFF, 0xFF, 0, 0]
        #expect(try read(tag(title + huge, version: 3, size: 0xFFF_FFFF)).title == "x")
        #expect(try read(tag(huge + title, version: 3, size: 0xFFF_FFFF)).title == nil)
        for end in 0..<(10 + title.count) {
            #expect(try read(Array(tag(title, version: 3)[..<end])).title == nil)
        }
    }

    @Test(
        "The end of tags",
        arguments: [
            ([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 1, 5], 143), ([0x49, 0x44, 0x33, 4, 0, 0x10, 0, 0, 1, 5], 153),
            ([0x49, 0x44, 0x33, 0xFF, 0, 0, 0, 0, 1, 5], 0), ([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0x80, 5], 0),
            ([0x49, 0x44, 0x33], 0),
        ] as [([UInt8], Int64)])
    func end(bytes: [UInt8], end: Int64) throws {
        #expect(try ID3v2.end(of: MemorySource(bytes), at: 0) == end)
    }
}
