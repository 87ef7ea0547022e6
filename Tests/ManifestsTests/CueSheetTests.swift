import Foundation
import PCM
import Testing

@testable import Manifests

@Suite("Cue sheets")
struct CueSheetTests {
    private static let album = """
        REM GENRE Electronic
        REM DATE 1998
        REM DISCNUMBER 2
        REM REPLAYGAIN_ALBUM_GAIN -6.50 dB
        CATALOG 0602498678305
        PERFORMER "Various"
        TITLE "An Album"
        FILE "An Album.wav" WAVE
          TRACK 01 AUDIO
            TITLE "First"
            PERFORMER "Somebody"
            ISRC GBAAA9800001
            REM REPLAYGAIN_TRACK_GAIN -7.10 dB
            REM REPLAYGAIN_TRACK_PEAK 0.98
            PREGAP 00:02:00
            INDEX 01 00:00:33
          TRACK 02 AUDIO
            TITLE "Second"
            INDEX 00 04:10:00
            INDEX 01 04:12:74
            INDEX 02 05:00:00
          TRACK 03 AUDIO
            INDEX 01 120:00:00

        """

    private func sheet(_ text: String) -> CueSheet { CueSheet(parsing: Array(text.utf8)) }

    @Test("The tracks of one file, from INDEX 01 to the next INDEX 01, and their tags")
    func oneFile() throws {
        let sheet = sheet(Self.album)
        #expect(sheet.files == [Array("An Album.wav".utf8)])
        let places: [CueSheet.Place?] = [
            .init(file: 0, start: .sectors(33), end: .sectors(18_974)),
            .init(file: 0, start: .sectors(18_974), end: .sectors(540_000)),
            .init(file: 0, start: .sectors(540_000), end: nil),
        ]
        #expect(sheet.tracks.map(\.place) == places)
        #expect(sheet.tracks[0].isrc == "GBAAA9800001")
        let (first, second) = (sheet.tracks[0].metadata, sheet.tracks[1].metadata)
        #expect(first[.genre] == ["Electronic"] && second[.date] == ["1998"])
        #expect(first.title == "First" && first.artist == "Somebody" && first.albumArtist == "Various")
        #expect(first.album == "An Album" && first.trackNumber == 1 && first.discNumber == 2)
        #expect(first.replayGain == ReplayGain(trackGain: -7.1, trackPeak: 0.98, albumGain: -6.5, albumPeak: nil))
        #expect(second.title == "Second" && second.artist == "Various" && second.replayGain.trackGain == nil)
        #expect(sheet.tracks[2].metadata.title == nil && sheet.tracks[2].metadata.trackNumber == 3)
    }

    @Test("Any set of characters, any end of line, any case, with a mark or without")
    func characters() {
        let text = Self.album.replacingLetters("Album", "Älbum")
        let expected = sheet(text)
        #expect(expected.tracks[0].metadata.album == "An Älbum")
        let wide = Array(text.utf16)
        let western = text.unicodeScalars.map { UInt8($0.value) }
        for bytes in [
            [0xEF, 0xBB, 0xBF] + Array(text.utf8), Array(text.utf8).flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] },
            Array(text.utf8).map { $0 == 0x0A ? 0x0D : $0 },
            [0xFF, 0xFE] + wide.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
            [0xFE, 0xFF] + wide.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] },
        ] as [[UInt8]] {
            #expect(CueSheet(parsing: bytes) == expected)
        }
        let old = CueSheet(parsing: western)
        #expect(old.tracks == expected.tracks)
        #expect(old.fileName(0) == "An Älbum.wav")
        #expect(old.entry(0, in: "/m")?.alternatives.contains("/m/An Älbum.wav") == true)
    }

    @Test(
        "Names of files, as programs and people write them",
        arguments: [
            ("FILE \"a b.wav\" WAVE", "a b.wav"), ("FILE a b.wav WAVE", "a b.wav"), ("file a.flac flac", "a.flac"),
            ("FILE \"a b.wav\"", "a b.wav"), ("FILE a b.wav", "a b.wav"), ("FILE \"a b.wav WAVE", "a b.wav"),
            ("FILE \"the \"best\".wav\" WAVE", "the \"best\".wav"), ("FILE\tx.mp3\tMP3", "x.mp3"),
            ("FILE \"C:\\Music\\x.wav\" WAVE", "C:\\Music\\x.wav"),
        ])
    func names(line: String, name: String) {
        let sheet = sheet(line + "\nTRACK 1 AUDIO\nINDEX 1 0:0:0")
        #expect(sheet.files == [Array(name.utf8)])
        #expect(sheet.tracks.first?.place == .init(file: 0, start: .sectors(0)))
    }

    @Test("Several files: a track is in the file of its INDEX 01, and one whose gap is there ends with its file")
    func severalFiles() {
        let sheet = sheet(
            """
            FILE "1.wav" WAVE
              TRACK 01 AUDIO
                INDEX 01 00:00:00
              TRACK 02 AUDIO
                INDEX 00 03:00:00
            FILE "2.wav" WAVE
                INDEX 01 00:00:00
              TRACK 03 AUDIO
                INDEX 01 02:00:00
            FILE "3.wav" WAVE
              TRACK 04 AUDIO
                INDEX 00 00:00:00
                INDEX 01 00:02:00
            """)
        #expect(
            sheet.tracks.map(\.place) == [
                .init(file: 0, start: .sectors(0)), .init(file: 1, start: .sectors(0), end: .sectors(9000)),
                .init(file: 1, start: .sectors(9000)), .init(file: 2, start: .sectors(150)),
            ])
        #expect(sheet.tracks.indices.map(sheet.tracksSharingFile) == [1, 2, 2, 1])
    }

    @Test("A track of data has no sound and ends the one before; one without an index has no place")
    func data() {
        let sheet = sheet(
            "FILE a WAVE\nTRACK 1 AUDIO\nINDEX 1 0:0:0\nTRACK 2 AUDIO\nTRACK 3 MODE1/2352\nINDEX 1 1:0:0\n"
                + "TRACK 4 AUDIO\nINDEX 0 2:0:0")
        #expect(sheet.tracks.map(\.isAudio) == [true, true, false, true])
        #expect(
            sheet.tracks.map(\.place) == [
                .init(file: 0, start: .sectors(0), end: .sectors(4500)), nil,
                .init(file: 0, start: .sectors(4500), end: .sectors(9000)), .init(file: 0, start: .sectors(9000)),
            ])
    }

    @Test(
        "Times are exact at each rate of which a sector is whole frames, else the nearest frame",
        arguments: [
            (1, 44_100, 588), (1, 48_000, 640), (1, 96_000, 1280), (1, 22_050, 294), (450_000, 44_100, 264_600_000),
            (1, 32_000, 427), (2, 32_000, 853), (3, 32_000, 1280), (1, 8000, 107), (0, 44_100, 0),
        ])
    func times(sectors: Int64, rate: Int, frame: Int64) {
        #expect(CueTime.sectors(sectors).frame(rate: rate) == frame)
    }

    @Test(
        "Times that are none",
        arguments: ["", "1", "1:2", "a:b:c", "00:60:00", "00:00:75", "-1:00:00", "0:0:0:0", "1234567:0:0", "::"])
    func noTimes(text: String) {
        #expect(CueTime(Array(text.utf8)) == nil)
        let sheet = sheet("FILE a WAVE\nTRACK 1 AUDIO\nINDEX 01 \(text)\n")
        #expect(sheet.tracks.map(\.place) == [nil])
    }

    @Test("A sheet of another kind of text has no tracks, and one of 2000 has 999")
    func limits() {
        #expect(sheet("Ein Brief\nan niemand").tracks.isEmpty && sheet("").tracks.isEmpty)
        #expect(sheet("INDEX 01 0:0:0\nTITLE x\nISRC y").tracks.isEmpty)
        let many = (0..<2000).map { "TRACK \($0) AUDIO\nINDEX 01 \($0):00:00\n" }.joined()
        let sheet = sheet("FILE a WAVE\n" + many)
        #expect(sheet.tracks.count == 999 && sheet.tracks[998].place?.end == .sectors(999 * 4500))
    }

    // MARK: Embedded
}

extension String {
    fileprivate func replacingLetters(_ one: String, _ other: String) -> String {
        components(separatedBy: one).joined(separator: other)
    }
}
