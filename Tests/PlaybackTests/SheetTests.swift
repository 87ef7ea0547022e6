import Foundation
import Manifests
import Media
import PCM
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("Tracks of cue sheets", SheetFixture.needsFLAC)
struct SheetTests {
    private let fixture: SheetFixture
    private var folder: ScratchFolder { fixture.folder }

    init() throws { fixture = try SheetFixture() }

    /// Four tracks with pre-gaps; the first one begins at the beginning.
    private func sheet(_ file: String) -> String {
        """
        PERFORMER "Band"
        TITLE "Album"
        REM REPLAYGAIN_ALBUM_GAIN -5.00 dB
        FILE "\(file)" WAVE
          TRACK 01 AUDIO
            TITLE "One"
            INDEX 01 00:00:00
          TRACK 02 AUDIO
            TITLE "Two"
            PERFORMER "Guest"
            REM REPLAYGAIN_TRACK_GAIN -6.00 dB
            PREGAP 00:02:00
            INDEX 00 00:01:00
            INDEX 01 00:01:13
          TRACK 03 AUDIO
            INDEX 01 00:01:14
          TRACK 04 AUDIO
            INDEX 00 00:02:01
            INDEX 01 00:02:74

        """
    }

    @Test(
        "The tracks of a file, joined, are the file to the sample, in any order of opening",
        SheetFixture.needsFFmpeg,
        arguments: [
            ("album.flac", 44_100, []), ("album.wav", 48_000, []), ("album.mp3", 44_100, ["-q:a", "4"]),
            ("album.mp3", 44_100, ["-b:a", "128k", "-write_xing", "0"]), ("album.flac", 32_000, []),
            ("album.wav", 11_025, ["-ac", "1"]),
        ] as [(String, Int, [String])])
    func joined(file: String, rate: Int, options: [String]) throws {
        _ = try Track("source", frames: rate * 4 + 17, rate: rate, in: folder)
        try fixture.encode("source.flac", options, to: file)
        try fixture.write(sheet(file), to: "album.cue")
        let whole = try fixture.samples(file)
        #expect(whole.count > rate * 4)
        let paths = (1...4).map { "album.cue/track000\($0)" }
        var tracks: [String: [Int32]] = [:]
        for path in paths.reversed() { tracks[path] = try fixture.samples(path) }
        let joined = paths.flatMap { tracks[$0] ?? [] }
        #expect(joined == whole, "\(joined.count) and \(whole.count) samples")
        let channels = try fixture.open(file).decoder.properties.format.channelCount
        #expect(tracks[paths[0]]?.count == (88 * rate * 2 + 75) / 150 * channels)
    }

    @Test("Title, artists, album, number, loudness and length are those of the sheet")
    func tags() throws {
        let source = try Track(
            "album", frames: 8000 * 4,
            tags: [
                "TITLE=Whole", "ARTIST=Nobody", "TRACKNUMBER=9", "DISCNUMBER=2", "REPLAYGAIN_TRACK_GAIN=-3.00 dB",
                "REPLAYGAIN_ALBUM_GAIN=-4.00 dB",
            ], in: folder)
        try fixture.write(sheet("album.flac"), to: "album.cue")
        let (first, second) = (try fixture.open("album.cue/track0001"), try fixture.open("album.cue/track0002"))
        let tags = second.decoder.metadata
        #expect(tags.title == "Two" && tags.artist == "Guest" && tags.album == "Album" && tags.albumArtist == "Band")
        #expect(tags.trackNumber == 2 && tags.discNumber == 2)
        #expect(second.replayGain == ReplayGain(trackGain: -6, albumGain: -5).filled)
        #expect(second.productId == folder["album.cue/track0002"])
        #expect(second.decoder.properties.frameCount == 106)
        #expect(first.decoder.metadata.title == "One" && first.decoder.metadata.artist == "Band")
        #expect(first.replayGain == ReplayGain(albumGain: -5).filled, "the file's gain is not the track's")
        let last = try fixture.open("album.cue/track0004").decoder
        #expect(last.metadata.title == nil && last.properties.frameCount == Int64(source.frames) - 23_893)
    }

    @Test("A file of one track has its own tags where the sheet has none")
    func oneTrack() throws {
        _ = try Track("1", frames: 8000, tags: ["TITLE=Own", "REPLAYGAIN_TRACK_GAIN=-3.00 dB"], in: folder)
        try fixture.write("FILE 1.flac WAVE\nTRACK 5 AUDIO\nINDEX 01 0:0:0\n", to: "a.cue")
        let opened = try fixture.open("a.cue/track0001")
        #expect(opened.decoder.metadata.title == "Own" && opened.decoder.metadata.trackNumber == 5)
        #expect(opened.replayGain.trackGain == -3)
    }

    @Test("Seeks are in the track, and end with it")
    func seeks() throws {
        let source = try Track("album", frames: 8000 * 4, in: folder)
        try fixture.write(sheet("album.flac"), to: "album.cue")
        let decoder = try fixture.open("album.cue/track0003").decoder
        let (start, end) = (Int(CueTime.sectors(89).frame(rate: 8000)), Int(CueTime.sectors(224).frame(rate: 8000)))
        for frame in [5000, 0, end - start - 1, 100, end - start, 1_000_000] {
            try decoder.seek(toFrame: Int64(frame))
            #expect(
                try SheetFixture.samples(of: decoder) == source.samples(min(start + frame, end)..<end), "\(frame)")
        }
    }

    @Test("Frames before the first INDEX 01 are not played; several files play one after the other")
    func severalFiles() throws {
        let (one, two) = (try Track("1", frames: 16_000, in: folder), try Track("2", frames: 12_000, in: folder))
        try fixture.write(
            """
            FILE "1.wav" WAVE
              TRACK 01 AUDIO
                INDEX 00 00:00:00
                INDEX 01 00:00:15
              TRACK 02 AUDIO
                INDEX 00 00:01:60
            FILE "2.wav" WAVE
                INDEX 01 00:00:00
              TRACK 03 AUDIO
                INDEX 01 00:01:00
            """, to: "a.cue")
        let tracks = try (1...3).map { try fixture.samples("a.cue/track000\($0)") }
        #expect(tracks == [one.samples(from: 1600), two.samples(0..<8000), two.samples(from: 8000)])
    }

    @Test("The sheet inside of a FLAC file, as block and as comment", arguments: [false, true])
    func embedded(isComment: Bool) throws {
        try fixture.write(sheet("x.wav"), to: "sheet")
        let option = isComment ? "--tag-from-file=CUESHEET=" : "--cuesheet="
        let source = try Track(
            "album", frames: 44_100 * 4, rate: 44_100, arguments: [option + folder["sheet"]], in: folder)
        let tracks = try (1...4).map { try fixture.samples("album.flac/track000\($0)") }
        #expect(tracks.flatMap { $0 } == source.samples && tracks.allSatisfy { !$0.isEmpty })
        #expect(try fixture.open("album.flac/track0001").decoder.metadata.title == (isComment ? "One" : nil))
        #expect(
            try MusicFolder.contents(of: folder["album.flac/"]).files
                == (1...4).map {
                    folder["album.flac/track000\($0)"]
                })
        #expect(fixture.error("album.flac/track0005")?.code == "l1")
        #expect(try MusicFolder.contents(of: folder["album.flac"]).files == [folder["album.flac"]])
    }

    @Test(
        "A wrong ending, another case, and another name of the only music in the folder",
        arguments: [
            ("album.wav", "album.flac"), ("ALBUM.WAV", "album.flac"), ("C:\\rips\\album.wav", "album.flac"),
            ("other.wav", "album.flac"), ("Sub\\album.wav", "Sub/album.flac"), ("album.bin", "album.flac"),
        ])
    func otherNames(name: String, file: String) throws {
        _ = try Track("source", frames: 4000, in: folder)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder["source.flac"]))
        try fixture.write(bytes, to: "music/\(file)")
        try fixture.write("no sound", to: "music/album.bin")
        try fixture.write("FILE \"\(name)\" BINARY\nTRACK 1 AUDIO\nINDEX 1 0:0:0", to: "music/a.cue")
        #expect(try fixture.samples("music/a.cue/track0001").count == 8000)
    }

    @Test("Errors name the sheet, the track and the reason; the other tracks play")
    func errors() throws {
        _ = try Track("1", frames: 8000, in: folder)
        _ = try Track("2", frames: 80, in: folder)
        try fixture.write(
            "FILE 1.wav WAVE\nTRACK 1 AUDIO\nINDEX 1 0:0:0\nTRACK 2 AUDIO\nINDEX 1 0:5:0\nFILE gone.wav WAVE\n"
                + "TRACK 3 AUDIO\nINDEX 1 0:0:0\nFILE 1.flac WAVE\nTRACK 4 MODE1/2352\nINDEX 1 0:0:0\n"
                + "TRACK 5 AUDIO\nTRACK 6 AUDIO\nINDEX 1 0:0:10\nTRACK 7 AUDIO\nINDEX 1 0:0:5\n", to: "a.cue")
        try fixture.write("a letter", to: "empty.cue")
        #expect(try fixture.samples("a.cue/track0001").count == 16_000)
        #expect(try fixture.samples("a.cue/track0007").count == 2 * (8000 - 533))
        let expected: [(String, String, String)] = [
            ("a.cue/track0002", "l1", "track 2 begins after the end of its music file."),
            ("a.cue/track0003", "s2", "its music file \"gone.wav\" does not exist."),
            ("a.cue/track0004", "l1", "track 4 is data, not music."),
            ("a.cue/track0005", "l1", "track 5 has no INDEX 01 in the cue sheet."),
            ("a.cue/track0006", "l1", "track 6 does not begin before the next one."),
            ("a.cue/track0008", "l1", "no track 8: its cue sheet has 7."),
            ("empty.cue/track0001", "l1", "a cue sheet without tracks of audio."),
            ("1.flac/track0001", "l1", "no cue sheet in this file."),
            ("gone.cue/track0001", "s2", "No such file or directory"),
        ]
        for (name, code, reason) in expected {
            let error = fixture.error(name)
            #expect(error?.code == code && error?.message == "\(folder[name]): \(reason)", "\(name)")
        }
    }

    @Test("Paths of tracks; a folder with such a name is a folder")
    func paths() throws {
        for (path, sheet, number) in [
            ("/a/b.cue/track0003", "/a/b.cue", 3), ("b.FLAC/track0999", "b.FLAC", 999), ("/.cue/track0001", "/.cue", 1),
        ] {
            let track = try #require(SheetTrack(path))
            #expect(track.sheet == sheet && track.number == number && track.path == path)
            #expect(SheetTrack.file(of: path) == sheet)
        }
        for path in [
            "/a/b.cue/track003", "/a/b.cue/track00003", "/a/b.cue/track0000", "/a/b.cue/track000x", "/a/b/track0001",
            "/a/b.cue/Track0001", "/track0001", "track0001", "/a/b.m3u/track0001", "/a/b.cue", "",
        ] {
            #expect(SheetTrack(path) == nil && SheetTrack.file(of: path) == path, "\(path)")
        }
        _ = try Track("x", frames: 100, in: folder)
        try fixture.write(try Data(contentsOf: URL(fileURLWithPath: folder["x.flac"])), to: "live.cue/track0001")
        #expect(SheetTrack(folder["live.cue/track0001"]) == nil)
        #expect(try fixture.samples("live.cue/track0001").count == 200)
    }

    @Test("The player plays a sheet's tracks one after the other as one sound, with their tags")
    func played() throws {
        let source = try Track("album", frames: 8000 * 4, in: folder)
        try fixture.write(sheet("album.flac"), to: "album.cue")
        let player = try PlayerFixture()
        let tracks = (1...4).map {
            MediaProduct(productType: .track, productId: folder["album.cue/track000\($0)"], referenceId: "\($0)")
        }
        let frames = try tracks.map { product in
            Int(try fixture.open("album.cue/track000\(product.referenceId)").decoder.properties.frameCount ?? 0)
        }
        try player.play(zip(tracks, frames).map { ($0, $1) })
        try player.wait(for: .idle)
        #expect(player.card.recordings.map(\.samples) == [source.samples])
        #expect(player.messages == ["NOT_PLAYING", "- > 1", "PLAYING", "1 > 2", "2 > 3", "3 > 4", "4 > -", "IDLE"])
    }
}
