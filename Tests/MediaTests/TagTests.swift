import PCM
import Testing

@testable import Media

@Suite("Tags")
struct TagTests {
    // MARK: - Numbers

    @Test(
        "Track and disc numbers",
        arguments: [
            ("3", 3), ("3/12", 3), ("03", 3), (" 7 ", 7), ("99999", 99999), ("100000", nil), ("0", nil), ("", nil),
            ("A3", nil), ("-1", nil), ("12 of 13", 12),
        ] as [(String, Int?)])
    func ordinals(text: String, number: Int?) {
        #expect(TagNumber.ordinal(text) == number)
    }

    @Test(
        "Gains and peaks",
        arguments: [
            ("-7.30 dB", -7.3), ("-7,30 dB", -7.3), ("+1.5dB", 1.5), ("0 DB", 0), (" 0.988235 ", 0.988235), (".5", 0.5),
            ("5.", 5), ("-0.00", 0), ("0.1234567890123456789012345", 0.12345678901234568), ("1e3", nil), ("nan", nil),
            ("inf", nil), ("", nil), ("dB", nil), ("-", nil), ("1.2.3", nil), ("1,234.5", nil), ("--1", nil),
            ("99999999999999999999", nil), ("0.0000000000000000000000001 dB", 0), ("-0.00000000000000000001", 0),
            ("0.000000000000000001", 1e-18), ("0.00000000000000000123456", 0), ("1.00000000000000000000000001", 1),
            ("00000000000000000000000000000000000000002.5", 2.5),
        ] as [(String, Double?)])
    func decimals(text: String, number: Double?) {
        let value = TagNumber.decimal(text)
        #expect((value == nil) == (number == nil))
        // 14 digits are exact.
        if let value, let number { #expect(abs(value - number) <= 1e-14) }
    }

    // MARK: - Vorbis comments

    private func comments(_ texts: [[UInt8]], count: Int? = nil) -> [UInt8] {
        Chunks.little(4, 4) + Array("test".utf8) + Chunks.little(count ?? texts.count, 4)
            + texts.flatMap { Chunks.little($0.count, 4) + $0 }
    }

    private func read(_ bytes: [UInt8]) throws -> TrackMetadata {
        try VorbisComments.read(from: MemorySource(bytes), in: 0..<Int64(bytes.count))
    }

    private func read(_ texts: String...) throws -> TrackMetadata {
        try read(comments(texts.map { Array($0.utf8) }))
    }

    @Test(
        "R128 gains are 5 dB higher, and replay gain overrides them",
        arguments: [
            (["R128_TRACK_GAIN=-256"], 4.0), (["R128_TRACK_GAIN=0"], 5), (["R128_TRACK_GAIN=-32768"], -123),
            (["R128_TRACK_GAIN=640", "REPLAYGAIN_TRACK_GAIN=1 dB"], 1),
            (["REPLAYGAIN_TRACK_GAIN=1 dB", "R128_TRACK_GAIN=640"], 1),
            (["REPLAYGAIN_TRACK_GAIN=loud", "R128_TRACK_GAIN=640"], 7.5),
            (["R128_TRACK_GAIN=32768"], nil), (["R128_TRACK_GAIN=1.5"], nil),
        ] as [([String], Double?)])
    func r128(texts: [String], gain: Double?) throws {
        #expect(try read(comments(texts.map { Array($0.utf8) })).replayGain.trackGain == gain)
        let album = texts.map { Array($0.utf8) }.map { text in
            Array(String(decoding: text, as: UTF8.self).split(separator: "TRACK").joined(separator: "ALBUM").utf8)
        }
        #expect(try read(comments(album)).replayGain.albumGain == gain)
    }

    @Test("With an R128 gain and no peak the peak counts as 1")
    func r128Peak() throws {
        let both = try read("R128_TRACK_GAIN=-256", "R128_ALBUM_GAIN=0").replayGain
        #expect(both == ReplayGain(trackGain: 4, trackPeak: 1, albumGain: 5, albumPeak: 1))
        let track = try read("R128_TRACK_GAIN=-256", "REPLAYGAIN_TRACK_PEAK=0.5").replayGain
        #expect(track == ReplayGain(trackGain: 4, trackPeak: 0.5))
        // Replay gain without a peak stays incomplete.
        #expect(try read("REPLAYGAIN_TRACK_GAIN=4", "R128_TRACK_GAIN=0").replayGain == ReplayGain(trackGain: 4))
        #expect(try read("REPLAYGAIN_TRACK_GAIN=4").replayGain == ReplayGain(trackGain: 4))
    }

    @Test("In Opus, replay gain counts where R128 is missing, for the track and for the album")
    func opusGains() throws {
        func opus(_ texts: String...) throws -> ReplayGain {
            let bytes = comments(texts.map { Array($0.utf8) })
            return try VorbisComments.read(
                from: MemorySource(bytes), in: 0..<Int64(bytes.count), prefersR128: true
            ).replayGain.filled
        }
        #expect(
            try opus("REPLAYGAIN_TRACK_GAIN=-7 dB")
                == ReplayGain(trackGain: -7, trackPeak: 1, albumGain: -7, albumPeak: 1))
        #expect(
            try opus("R128_TRACK_GAIN=-256", "REPLAYGAIN_TRACK_GAIN=-7 dB", "REPLAYGAIN_ALBUM_GAIN=-6 dB")
                == ReplayGain(trackGain: 4, trackPeak: 1, albumGain: -6, albumPeak: 1))
    }

    @Test(
        "Nonsense is missing",
        arguments: [
            "REPLAYGAIN_TRACK_GAIN=900 dB", "REPLAYGAIN_TRACK_PEAK=0", "REPLAYGAIN_TRACK_PEAK=-1",
            "REPLAYGAIN_TRACK_PEAK=1000", "TITLE=", "TITLE=   ", "TITLE", "=x", "", "TITLEX=x",
        ])
    func nonsense(text: String) throws {
        #expect(try read(text) == TrackMetadata())
    }

    @Test("Artists are listed as far as clients can take them")
    func manyArtists() throws {
        let names = (0..<9000).map { Array("ARTIST=Artist \($0)".utf8) }
        let artist = try #require(try read(comments(names)).artist)
        #expect(artist.hasPrefix("Artist 0, Artist 1, "))
        #expect((4000...4200).contains(artist.utf8.count))
    }

    @Test("The first of several titles stands")
    func duplicates() throws {
        #expect(try read("TITLE=One", "title=Two").title == "One")
    }

    @Test("Invalid UTF-8 is repaired")
    func repair() throws {
        #expect(try read(comments([Array("TITLE=a".utf8) + [0xFF] + Array("b".utf8)])).title == "a\u{FFFD}b")
    }

    @Test("Lengths that lie end the reading and allocate nothing", arguments: [0, 3, 100, 0x7FFF_FFFF, 0xFFFF_FFFF])
    func lyingLengths(length: Int) throws {
        let good = Chunks.little(7, 4) + Array("TITLE=x".utf8)
        let head = Chunks.little(0, 4) + Chunks.little(0xFFFF_FFFF, 4)
        let source = MemorySource(head + good + Chunks.little(length, 4) + Array("ALBUM=y".utf8))
        let metadata = try VorbisComments.read(from: source, in: 0..<Int64(source.bytes.count))
        #expect(metadata.title == "x")
        #expect(metadata.album == nil)
        #expect(source.largestRequest <= 4096)
        #expect(try read(Chunks.little(length, 4)) == TrackMetadata())
    }

    @Test("A comment of a megabyte is skipped unread")
    func longComment() throws {
        let long = Array("LYRICS=".utf8) + [UInt8](repeating: 0x61, count: 1_000_000)
        let bytes = comments([long, Array("TITLE=x".utf8)])
        let source = MemorySource(bytes)
        #expect(try VorbisComments.read(from: source, in: 0..<Int64(bytes.count)).title == "x")
        #expect(source.bytesRead < 20_000)
    }
}
