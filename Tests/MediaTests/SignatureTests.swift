import Testing

@testable import Media

@Suite("Files are recognised by their content")
struct SignatureTests {
    private static func transportPackets(_ count: Int) -> [UInt8] {
        (0..<count).flatMap { _ in [0x47, 0x40, 0, 0x10] + [UInt8](repeating: 0xFF, count: 184) }
    }

    @Test(
        "Files that are not audio are recognised",
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0], "JPEG"),
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "PNG"),
            (Array("GIF89a".utf8), "GIF"),
            (Array("%PDF-1.7".utf8), "PDF"),
            (Array("PK\u{3}\u{4}".utf8), "ZIP"),
            ([0xFF, 0xFB, 0x90, 0x64], "MP3"),
            ([0, 0, 1, 0xBA, 0x44], "MPEG-PS"), (Array("FLV".utf8) + [1, 5], "FLV"),
            ([0, 0, 0, 32] + Array("ftypheic".utf8), "HEIF or AVIF"),
            (Array("MAC addresses\n".utf8), "text"), ([0x0B, 0x77, 0, 0, 0xFF, 0x40], nil),
            ([0x7F] + Array("ELF".utf8), "ELF"),
            (Array("RIFF....AVI LIST".utf8), "AVI"),
            (Array("#EXTM3U\n".utf8), "playlist"),
            (Array("Dear diary,\n".utf8), "text"),
            (Array("Größe\n".utf8), "text"),
            (Array("fLa".utf8), "text"),
            (transportPackets(3), "MPEG-TS"),
            (transportPackets(1), nil),
            ([UInt8](repeating: 0x47, count: 600), "text"),
            ([0, 1, 2, 3], nil),
            ([UInt8](repeating: 0, count: 1000), nil),
        ] as [([UInt8], String?)])
    func names(bytes: [UInt8], name: String?) {
        #expect(throws: MediaError.notAudio(looksLike: name)) { try AudioFile.open(MemorySource(bytes)) }
    }

    @Test(
        "Formats of audio that are not played are called so, also after tags",
        arguments: [
            (Array("MAC ".utf8) + [0x96, 0x0F], "APE"), (Array("MPCK".utf8) + [0], "Musepack"),
            (Array("MP+".utf8) + [7], "Musepack"), (Array("TTA1".utf8) + [1, 0], "TTA"),
            (Array("tBaK".utf8) + [0], "TAK"), (Array("OFR ".utf8) + [0], "OptimFROG"),
            (Array("ajkg".utf8) + [2], "Shorten"), (Array("caff".utf8) + [0, 1], "CAF"),
            (Array(".snd".utf8) + [0, 0, 0, 24], "AU"), (Array(".RMF".utf8) + [0, 0], "RealAudio"),
            (Array(".ra".utf8) + [0xFD, 0], "RealAudio"), (Array("#!AMR\n".utf8) + [4], "AMR"),
            (Array("Creative Voice File".utf8) + [0x1A], "VOC"),
            (Array("FORM".utf8) + [0, 0, 1, 0] + Array("8SVX".utf8), "IFF 8SVX"),
            (Array("MThd".utf8) + [0, 0], "MIDI"), ([0x30, 0x26, 0xB2, 0x75, 0x8E], "WMA/ASF"),
            ([0x7F, 0xFE, 0x80, 0x01, 0xFC], "DTS"), ([0xFE, 0x7F, 0x01, 0x80], "DTS"), ([0xFF, 0x1F, 0, 0xE8], "DTS"),
            ([0x0B, 0x77, 0x12, 0x34, 0x1E, 0x40], "AC-3"), ([0x0B, 0x77, 0x01, 0x7F, 0x3F, 0x80], "E-AC-3"),
            ([0xFF, 0xFF, 0x90, 0x64], "MPEG audio of layer I"),
        ] as [([UInt8], String)])
    func unplayed(bytes: [UInt8], name: String) {
        let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]
        for front in [[], tag] {
            let source = MemorySource(front + bytes + [UInt8](repeating: 0, count: 2000))
            #expect(throws: MediaError.unsupported(what: name)) { try AudioFile.open(source) }
            #expect(throws: MediaError.unsupported(what: name)) { try AudioFile.container(of: source) }
        }
    }

    @Test("No bytes are their own error")
    func empty() {
        #expect(throws: MediaError.empty) { try AudioFile.open(MemorySource([])) }
    }

    @Test("An ID3 tag before nothing that is known looks like MP3, and tags alone are called so")
    func taggedMP3() {
        let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]
        for rest in [[0xFF, 0xFB, 0x90, 0x64], [1, 2, 0]] as [[UInt8]] {
            #expect(throws: MediaError.notAudio(looksLike: "MP3")) { try AudioFile.open(MemorySource(tag + rest)) }
        }
        let last = MP3FileTests.id3v1("Title", track: 1)
        let ape = MP3FileTests.ape([("Title", Array("x".utf8), 0)])
        for tags in [tag, tag + [0, 0], tag + last, last, ape, tag + ape + last] {
            #expect(throws: MediaError.notAudio(looksLike: "tags without audio")) {
                try AudioFile.open(MemorySource(tags))
            }
        }
    }

    @Test(
        "The container is recognised without reading further",
        arguments: [
            ("fLaC", .flac), ("RIFF....WAVE", .wav), ("FORM....AIFC", .aiff), ("OggS", .ogg), ("wvpk", .wavpack),
            ("DSD ", .dsf),
            ("FRM8........DSD ", .dff),
            ("\u{1A}E\u{DF}\u{A3}", .matroska),
        ] as [(String, AudioProperties.Container)])
    func container(head: String, container: AudioProperties.Container) throws {
        let bytes = head.unicodeScalars.map { UInt8($0.value) }
        let source = MemorySource(bytes + [UInt8](repeating: 0, count: 100_000))
        #expect(try AudioFile.container(of: source) == container)
        #expect(source.bytesRead < 1000)
    }

    @Test("A source that cannot be read is not mistaken for an empty file")
    func failingSource() {
        let source = MemorySource([1, 2, 3])
        source.failsFrom = 0
        #expect(throws: MediaError.source(MemorySource.failure)) { try AudioFile.open(source) }
    }
}
