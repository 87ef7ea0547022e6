import PCM
import Testing

@testable import Media

@Suite("Fields of tags", Tool.needsFLAC, Tool.needsFFmpeg)
struct TagFieldTests {
    @Test(
        "Dates",
        arguments: [
            ("2004", "2004"), ("2004-05", "2004-05"), ("2004-05-31", "2004-05-31"), ("2004-5-3", "2004-05-03"),
            ("2004-05-31T07:00:00Z", "2004-05-31"), ("2004/05/31", "2004-05-31"), ("2004.05.31", "2004-05-31"),
            ("20040531", "2004-05-31"), (" 2004 ", "2004"), ("2004-00-00", "2004"), ("2004-05-00", "2004-05"),
            ("2004-13-01", "2004"), ("31.05.2004", "2004"), ("May 2004", "2004"), ("2004 (remaster)", "2004"),
            ("2004-2006", "2004"), ("20041", nil), ("0000", nil), ("", nil), ("04", nil), ("soon", nil),
            ("20049999", "2004"), ("3000", nil), ("2004-", "2004"), ("(P) 1998, 2004", "1998"),
        ] as [(String, String?)])
    func dates(text: String, date: String?) {
        #expect(TagDate.normalised(text) == date)
    }

    @Test(
        "Genres",
        arguments: [
            ("Rock", ["Rock"]), ("17", ["Rock"]), ("(17)", ["Rock"]), ("(17)Rock", ["Rock", "Rock"]),
            ("(4)(8)Own", ["Disco", "Jazz", "Own"]), ("(RX)(CR)", ["Remix", "Cover"]), ("0", ["Blues"]),
            ("191", ["Psybient"]), ("192", []), ("255", []), ("999", []), ("(255)", []), ("", []),
            ("((Live) set", ["(Live) set"]), ("(Live)", ["(Live)"]), ("()", ["()"]), ("(17", ["(17"]),
            ("80", ["Folk"]), ("1980", ["1980"]), ("Rock/Pop", ["Rock/Pop"]), ("Folk, World", ["Folk, World"]),
        ])
    func genres(text: String, names: [String]) {
        #expect(TagGenre.names(in: text) == names)
    }

    @Test("Identifiers: one, several in any separation, and none")
    func identifiers() {
        let (one, two) = ("5B11F4CE-A62D-471E-81FC-A69A8278C7DA", "9c9f1380-2516-4fc9-a3e6-f9f61941d090")
        #expect(TagIdentifier.all(in: one) == ["5b11f4ce-a62d-471e-81fc-a69a8278c7da"])
        for separator in ["/", "; ", " ", "\0", ", "] {
            #expect(TagIdentifier.all(in: one + separator + two).count == 2)
        }
        for text in ["", "x", two + "0", String(two.dropLast()), "9c9f13802516-4fc9-a3e6-f9f61941d090-", "--"] {
            #expect(TagIdentifier.all(in: text).isEmpty)
        }
    }

    // MARK: Every field, in every tag

    private static let ids = (0..<6).map { "5b11f4ce-a62d-471e-81fc-a69a8278c7d\($0)" }

    /// The content of every tag below.
    private static var whole: TrackMetadata {
        var metadata = TrackMetadata()
        metadata[.title] = ["Größe"]
        metadata[.artist] = ["A", "B"]
        metadata[.album] = ["Album"]
        metadata[.albumArtist] = ["All"]
        metadata[.composer] = ["C", "D"]
        metadata[.genre] = ["Rock", "Own"]
        metadata[.date] = ["2004-05-31"]
        metadata[.trackNumber] = ["3"]
        metadata[.trackTotal] = ["12"]
        metadata[.discNumber] = ["1"]
        metadata[.discTotal] = ["2"]
        metadata[.recordingID] = [ids[0]]
        metadata[.releaseID] = [ids[1]]
        metadata[.releaseGroupID] = [ids[2]]
        metadata[.artistID] = [ids[3], ids[4]]
        metadata[.albumArtistID] = [ids[5]]
        metadata.replayGain = ReplayGain(trackGain: -6.5, trackPeak: 0.5, albumGain: -7, albumPeak: 1)
        return metadata
    }

    /// Comments by their names.
    private static let comments: [(String, [String])] = [
        ("TITLE", ["Größe"]), ("ARTIST", ["A", "B"]), ("ALBUM", ["Album"]), ("ALBUMARTIST", ["All"]),
        ("COMPOSER", ["C", "D"]), ("GENRE", ["17", "Own"]), ("DATE", ["2004-05-31"]), ("TRACKNUMBER", ["3"]),
        ("TRACKTOTAL", ["12"]), ("DISCNUMBER", ["1/2"]), ("MUSICBRAINZ_TRACKID", [ids[0]]),
        ("MUSICBRAINZ_ALBUMID", [ids[1]]), ("MUSICBRAINZ_RELEASEGROUPID", [ids[2]]),
        ("MUSICBRAINZ_ARTISTID", [ids[3], ids[4]]), ("MUSICBRAINZ_ALBUMARTISTID", [ids[5]]),
        ("REPLAYGAIN_TRACK_GAIN", ["-6.50 dB"]), ("REPLAYGAIN_TRACK_PEAK", ["0.5"]),
        ("REPLAYGAIN_ALBUM_GAIN", ["-7.00 dB"]), ("REPLAYGAIN_ALBUM_PEAK", ["1.000"]),
    ]

    @Test("Vorbis comments of FLAC, Opus and Vorbis")
    func vorbis() throws {
        let texts = Self.comments.flatMap { name, values in values.map { "\(name)=\($0)" } }
        let signal = Signal(frames: 3000)
        #expect(
            try AudioFile.open(MemorySource(signal.flac(texts.flatMap { ["-T", $0] }))).metadata == Self.whole)
        if Tool.oggenc.isInstalled {
            let file = try signal.oggenc(texts.flatMap { ["-c", $0] })
            #expect(try AudioFile.open(MemorySource(file)).metadata == Self.whole)
        }
        if Tool.opusenc.isInstalled {
            let file = try signal.opusenc(texts.flatMap { ["--comment", $0] })
            #expect(try AudioFile.open(MemorySource(file)).metadata == Self.whole)
        }
    }

    @Test("APE")
    func ape() throws {
        let names = [
            "TRACKNUMBER": "Track", "TRACKTOTAL": nil, "DISCNUMBER": "Disc", "DATE": "Year",
            "ALBUMARTIST": "Album Artist",
        ]
        let items = Self.comments.compactMap { name, values -> (String, [UInt8], Int)? in
            let values = name == "TRACKNUMBER" ? ["3/12"] : values
            guard let name = names[name] ?? name else { return nil }
            return (name, Array(values.joined(separator: "\0").utf8), 0)
        }
        let tag = MP3FileTests.ape(items)
        let tags = try TrailingTags(of: MemorySource(tag), length: Int64(tag.count), base: 0)
        #expect(tags.ape == Self.whole && tags.start == 0)
    }

    @Test("ID3v2 of each version", arguments: [2, 3, 4])
    func id3v2(version: Int) throws {
        let writer = ID3v2Tests()
        func frame(_ names: (String, String), _ text: String) -> [UInt8] {
            let name = version == 2 ? names.0 : names.1
            let wide = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            return writer.frame(name, version == 4 ? [3] + Array(text.utf8) : [1, 0xFF, 0xFE] + wide, version: version)
        }
        func user(_ name: String, _ text: String) -> [UInt8] { frame(("TXX", "TXXX"), "\(name)\0\(text)") }
        let separator = version == 4 ? "\0" : "/"
        var frames = frame(("TT2", "TIT2"), "Größe") + frame(("TAL", "TALB"), "Album")
        frames += frame(("TP1", "TPE1"), "A\0B") + frame(("TP2", "TPE2"), "All") + frame(("TCM", "TCOM"), "C\0D")
        frames += frame(("TCO", "TCON"), version == 4 ? "17\0Own" : "(17)Own")
        frames +=
            version == 4
            ? frame(("", "TDRC"), "2004-05-31T12:00")
            : frame(("TYE", "TYER"), "2004") + frame(("TDA", "TDAT"), "3105")
        frames += frame(("TRK", "TRCK"), "03/12") + frame(("TPA", "TPOS"), "1/2")
        let owner = Array("http://musicbrainz.org".utf8) + [0] + Array(Self.ids[0].utf8)
        frames += writer.frame(version == 2 ? "UFI" : "UFID", owner, version: version)
        frames += user("MusicBrainz Album Id", Self.ids[1]) + user("MusicBrainz Release Group Id", Self.ids[2])
        frames += user("MusicBrainz Artist Id", Self.ids[3] + separator + Self.ids[4])
        frames += user("MusicBrainz Album Artist Id", Self.ids[5])
        for (name, values) in Self.comments where name.hasPrefix("REPLAYGAIN") { frames += user(name, values[0]) }
        let tag = writer.tag(frames, version: version)
        #expect(try ID3v2.read(from: MemorySource(tag), at: 0) == Self.whole)
    }

    @Test("MP4")
    func mp4() throws {
        func data(_ type: UInt8, _ values: [[UInt8]]) -> [UInt8] {
            values.flatMap { Boxes.full("data", flags: Int(type), [0, 0, 0, 0] + $0) }
        }
        func item(_ name: String, _ values: [String]) -> [UInt8] {
            var box = Boxes.box(name, data(1, values.map { Array($0.utf8) }))
            if box[4] == 1 { box[4] = 0xA9 }
            return box
        }
        func freeform(_ name: String, _ values: [String]) -> [UInt8] {
            Boxes.box(
                "----",
                Boxes.full("mean", Array("com.apple.iTunes".utf8)) + Boxes.full("name", Array(name.utf8))
                    + data(1, values.map { Array($0.utf8) }))
        }
        var items = item("\u{1}nam", ["Größe"]) + item("\u{1}ART", ["A", "B"]) + item("\u{1}alb", ["Album"])
        items += item("aART", ["All"]) + item("\u{1}wrt", ["C", "D"]) + Boxes.box("gnre", data(0, [[0, 18]]))
        items += item("\u{1}gen", ["Own"]) + item("\u{1}day", ["2004-05-31T07:00:00Z"])
        items +=
            Boxes.box("trkn", data(0, [[0, 0, 0, 3, 0, 12, 0, 0]])) + Boxes.box("disk", data(0, [[0, 0, 0, 1, 0, 2]]))
        items += freeform("MusicBrainz Track Id", [Self.ids[0]]) + freeform("MusicBrainz Album Id", [Self.ids[1]])
        items += freeform("MusicBrainz Release Group Id", [Self.ids[2]])
        items += freeform("MusicBrainz Artist Id", [Self.ids[3], Self.ids[4]])
        items += freeform("MusicBrainz Album Artist Id", [Self.ids[5]])
        for (name, values) in Self.comments where name.hasPrefix("REPLAYGAIN") {
            items += freeform(name.lowercased(), values)
        }
        var file = try HandmadeMP4(FrameMap(Signal(frames: 3000).flac(["-b", "1000"])), blockSize: 1000, total: 3000)
        let handler = Boxes.full("hdlr", Boxes.big(0, 4) + Array("mdirappl".utf8) + Boxes.big(0, 9))
        file.userData = Boxes.box("udta", Boxes.full("meta", handler + Boxes.box("ilst", items)))
        #expect(try AudioFile.open(MemorySource(file.bytes)).metadata == Self.whole)
    }

    @Test("As ffmpeg writes them: ID3, INFO, MP4")
    func ffmpeg() throws {
        let tags = [
            "title=Title", "artist=Artist", "album=Album", "album_artist=All", "composer=C", "genre=Rock",
            "date=2004-05-31", "track=3/12", "disc=1/2",
        ]
        let options = tags.flatMap { ["-metadata", $0] }
        let signal = Signal(frames: 3000)
        let files: [(String, [String], Set<TagField>)] = [
            ("file.mp3", ["-c:a", "libmp3lame", "-id3v2_version", "3"], []),
            ("file.mp3", ["-c:a", "libmp3lame", "-id3v2_version", "4"], []),
            ("file.m4a", ["-c:a", "alac"], []), ("file.flac", [], []),
            ("file.wav", [], [.albumArtist, .composer, .discNumber, .discTotal]),
            ("file.aiff", ["-write_id3v2", "1"], []),
        ]
        for (name, encoder, missing) in files {
            let metadata = try AudioFile.open(MemorySource(signal.ffmpeg(encoder + options, to: name))).metadata
            var found: [TagField: String] = [:]
            for field in TagField.allCases { found[field] = metadata[field].first }
            var expected: [TagField: String] = [
                .title: "Title", .artist: "Artist", .album: "Album", .albumArtist: "All", .composer: "C",
                .genre: "Rock", .date: "2004-05-31", .trackNumber: "3", .trackTotal: "12", .discNumber: "1",
                .discTotal: "2",
            ]
            for field in missing { expected[field] = nil }
            #expect(found == expected, "\(name), \(encoder)")
        }
    }

    @Test("ID3v1 as lame writes it", Tool.needsLAME)
    func id3v1() throws {
        let bytes = try Signal(frames: 3000).lame(
            [
                "--id3v1-only", "--tt", "Title", "--ta", "Artist", "--tl", "Album", "--ty", "2004", "--tn", "3", "--tg",
                "Rock",
            ])
        var expected = TrackMetadata()
        (expected.title, expected.artist, expected.album) = ("Title", "Artist", "Album")
        (expected[.date], expected[.trackNumber], expected[.genre]) = (["2004"], ["3"], ["Rock"])
        #expect(try AudioFile.open(MemorySource(bytes)).metadata == expected)
    }

    @Test("A more precise date of the same year counts, wherever it is")
    func preciseDates() {
        // Dates that do not agree are listed.
        for (texts, others) in [
            (["2004", "2004-05-31"], []), (["2004-05-31", "2004"], []),
            (["2004", "2004-05", "1999", "2004-05-31", "1999"], ["1999"]),
        ] {
            var fields = TagFields()
            for text in texts { fields.add(.date, text) }
            #expect(fields.result[.date] == ["2004-05-31"] + others)
        }
        for (dayAndMonth, date) in [("3105", "2004-05-31"), ("0005", "2004"), ("315", "2004"), ("31/5", "2004")] {
            var fields = TagFields()
            fields.add(.dayAndMonth, dayAndMonth)
            fields.add(.date, "2004")
            #expect(fields.result[.date] == [date])
        }
    }

    @Test("One field fills the gap of another tag; lists, pictures and gains are replaced as a whole or by value")
    func merging() {
        var (front, own) = (TrackMetadata(), TrackMetadata())
        for field in TagField.allCases { front[field] = ["front"] }
        own[.genre] = ["own", "more"]
        front.replayGain = ReplayGain(trackGain: 1, trackPeak: 2)
        own.replayGain = ReplayGain(trackGain: 3)
        own.pictures = [TagPicture(offset: 5, length: 1, mediaType: nil, kind: .other)]
        let merged = front.overridden(by: own, at: 100)
        for field in TagField.allCases { #expect(merged[field] == (field == .genre ? ["own", "more"] : ["front"])) }
        #expect(merged.replayGain == ReplayGain(trackGain: 3, trackPeak: 2))
        #expect(merged.pictures.map(\.offset) == [105])
        #expect(own.overridden(by: front, at: 100).pictures.map(\.offset) == [5])
        #expect(front.overridden(by: nil) == front)
    }
}
