import ApplianceTestSupport
import Foundation
import TestSupport
import Testing

@testable import Appliance
@testable import MPD

/// The same commands to MPD 0.23 and to this program, about the same folder. Each difference stands in `meant`, and in
/// docs/mpd.md with its reason.
@Suite("The database commands against MPD", MPDPeer.isInstalled, MPDMusic.needsEncoders)
struct MPDDifferentialTests {
    /// A folder with all that the commands look at.
    private static func makeMusic() throws -> MPDMusic {
        let music = try MPDMusic()
        let ids = ["MUSICBRAINZ_ALBUMID=11111111-1111-4111-8111-111111111111"]
        try music.add(
            "A/Kind of Blue/01 So What.flac", "TITLE=So What", "ARTIST=Miles Davis", "ALBUM=Kind of Blue",
            "TRACKNUMBER=01", "DATE=1959-08-17", "GENRE=Jazz", "COMPOSER=Miles Davis", "DISCNUMBER=1",
            "PERFORMER=Bill Evans (piano)", "PERFORMER=John Coltrane", ids[0], "ARTISTSORT=Davis, Miles",
            "LABEL=Columbia", "COMMENT=hello", "ORIGINALDATE=1959", "CONDUCTOR=C", "GROUPING=G", "WORK=W",
            "ALBUMARTISTSORT=aas", "ALBUMSORT=als", "COMPOSERSORT=cs")
        try music.add(
            "A/Kind of Blue/02 Freddie.flac", "TITLE=Freddie Freeloader", "ARTIST=Miles Davis", "ARTIST=Wynton Kelly",
            "ALBUM=Kind of Blue", "TRACKNUMBER=2", "DATE=1959", "GENRE=Jazz", "GENRE=Blues", "ALBUMARTIST=Miles Davis",
            "DISCNUMBER=1", frames: 66_150)
        try music.add("A/Zeta/b.flac", "TITLE=Über", "ARTIST=Björk", "ALBUM=Post", "TRACKNUMBER=10", "DISCNUMBER=2")
        try music.add("A/alpha/a.flac", "TITLE=It's \"Q\"", "ARTIST=It's \"A\"", "ALBUM=A\\B", "TRACKNUMBER=9")
        try music.add("B.flac")
        try music.add("a untagged.flac", frames: 22_050)
        try music.add("Ärzte/z.flac", "ALBUM=Zed", "DATE=2001", "ARTIST=Ärzte")
        try music.add("Bach/Deep/Er/1.flac", "ARTIST=Bach", "TRACKNUMBER=1")
        try music.add("CD/x.flac", "ALBUM=Img", "ARTIST=Art")
        let sheet = """
            PERFORMER "Art"
            TITLE "Img"
            FILE "x.flac" WAVE
              TRACK 01 AUDIO
                TITLE "One"
                INDEX 01 00:00:00
              TRACK 02 AUDIO
                TITLE "Two"
                INDEX 01 00:00:30

            """
        try music.write(Data(sheet.utf8), to: "CD/x.cue")
        try music.write(Data("#EXTM3U\na.flac\n".utf8), to: "A/alpha/list.m3u")
        try music.encode(
            "Lame/m.mp3", "/usr/bin/lame",
            [
                "--quiet", "-r", "-s", "44.1", "--id3v2-only", "--tt", "Em Pe Three", "--ta", "Björk", "--tl", "Post",
                "--tn", "3", "--ty", "1995", "in", "out",
            ])
        try music.encode(
            "Ogg/v.ogg", "/usr/bin/oggenc",
            ["-Q", "-r", "-t", "Vorbis", "-a", "Art", "-c", "GENRE=Pop", "-o", "out", "in"])
        try music.scan()
        return music
    }

    /// Commands whose answers are the same, but for the order of the tags of one song.
    private static let commands = [
        // Folders.
        "lsinfo", #"lsinfo """#, #"lsinfo "/""#, #"lsinfo "A""#, #"lsinfo "A/Kind of Blue""#, #"lsinfo "A/alpha""#,
        #"lsinfo "CD""#, #"lsinfo "CD/x.cue""#, #"lsinfo "B.flac""#, #"lsinfo "Bach""#, #"lsinfo "A/""#,
        #"lsinfo "A//Zeta""#, #"lsinfo "../x""#, #"lsinfo "A/..""#, #"lsinfo "nope""#, #"lsinfo "A/alpha/list.m3u""#,
        #"lsinfo "CD/x.cue/track0002""#, #"lsinfo "CD/x.cue/track0003""#,
        "listall", #"listall "/""#, #"listall "A""#, #"listall "A/Zeta""#, #"listall "CD""#, #"listall "B.flac""#,
        #"listall "nope""#, #"listall "A/""#, "listallinfo", #"listallinfo "A""#, #"listallinfo "Bach/Deep""#,
        #"listallinfo "CD/x.cue""#,
        // Pairs.
        "find Artist", "find Foo bar", #"find """#, #"find Artist "Miles Davis""#, #"find artist "miles davis""#,
        #"find Artist "Miles Davis" Album "Kind of Blue" Date "1959""#, #"find AlbumArtist """#,
        #"find AlbumArtist "Björk""#, #"find any "Blues" window 0:"#, #"find base "A/Zeta""#, #"find base "B.flac""#,
        #"find base """#, #"find base "../A""#, #"find base "nope""#, #"find file "B.flac""#,
        #"find filename "B.flac""#,
        #"find modified-since "abc""#, #"find modified-since "2000-01-01" window 0:1"#, #"find Title """#,
        #"search Artist "iles d""#, #"search file "b.FLAC""#, #"search Title """#, #"search any "pOs""#,
        #"search Artist "Miles Davis" "(Genre == 'blues')""#,
        // Expressions.
        #"find "(Foo == 'x')""#, #"find "(Artist = 'x')""#, #"find "(Artist == x)""#, #"find "(Artist == 'x'""#,
        #"find "(Artist == 'x') y""#, #"find "(Artist == 'x') AND (Album == 'y')""#, #"find "()""#, #"find "(""#,
        #"find "(artist""#, #"find "(1 == 'x')""#, #"find "(Artist == 'a""#, #"find "(!Artist == 'a')""#,
        #"find "((Artist == 'a') and (Album == 'b'))""#, #"find "((Artist == 'a') (Album == 'b'))""#,
        #"find "((Artist == 'a')""#, #"find "(Artist contains'iles')""#, #"find " (Artist == 'a')""#,
        #"find "((Artist == 'Miles Davis') AND (Genre == 'Blues'))""#,
        #"find "((Artist == 'Miles Davis') OR (Genre == 'Blues'))""#, #"find "(!(Artist == 'Miles Davis'))""#,
        #"find "(! (Artist == 'Miles Davis') )""#, #"find "((Artist == 'Miles Davis'))""#,
        #"find "(Artist=='Miles Davis' )""#, #"find "(Artist =~ 'Mil.s')""#, #"find "(Artist !~ '^M')""#,
        #"find "(Artist starts_with 'Mil')""#, #"find "(Artist contains 'iles')""#, #"find "(Artist CONTAINS 'iles')""#,
        #"find "(Artist !contains 'iles')""#, #"find "(base 'A')""#, #"find "(base '')""#, #"find "(base '../A')""#,
        #"find "(base 'A/')""#, #"find "((base 'A') AND (Artist == 'Björk'))""#, #"find "(!(base 'A'))""#,
        #"find "((Artist == 'Björk') AND (base 'nope'))""#, #"find "(base == 'x')""#, #"find "(file == 'B.flac')""#,
        #"find "(file != 'B.flac')""#, #"search "(file contains 'zeta')""#, #"find "(file == 'CD/x.cue/track0002')""#,
        #"find "(modified-since '2000-01-01T00:00:00Z')" window 0:1"#, #"find "(modified-since 'abc')""#,
        #"find "(modified-since '1')" window 1:3"#, #"find "(modified-since '2030-01-01')""#,
        #"find "(modified-since '2026-01-01T00:00+01:00')" window 0:1"#, #"find "(modified-since '2026-01-01 01:00')""#,
        #"find "(modified-since '20260101T010203Z')" window 0:1"#, #"find "(modified-since '')""#,
        #"find "(modified-since 'x'""#, #"find "(AudioFormat == '44100:16:2')""#,
        #"find "(AudioFormat =~ '44100:*:2')" window 0:2"#,
        #"find "(AudioFormat == '44100:*:2')""#, #"find "(AudioFormat =~ '44100')""#,
        #"find "(AudioFormat != '44100')""#,
        #"find "(AudioFormat == 'x')""#, #"find "(AudioFormat == '44100:17:2')""#,
        #"find "(AudioFormat == '44100:16')""#,
        #"find "(AudioFormat == '44100:16:x')""#, #"find "(AudioFormat == '44100:16:2:3')""#,
        #"find "(AudioFormat == 'dsd64:2')""#, #"find "(AudioFormat == '0:16:2')""#,
        #"find "(AlbumArtist == '')""#, #"find "(AlbumArtist != '')""#, #"find "(AlbumArtistSort == 'aas')""#,
        #"find "(AlbumArtistSort == 'Björk')""#, #"search "(Artist == 'BJÖRK')""#, #"search "(Title contains 'ÜB')""#,
        #"find "(Artist == \"It's \\\"A\\\"\")""#, #"find "(Artist == 'It\\'s \"A\"')""#,
        #"find "(Album == 'A\\\\B')""#,
        #"find "(any == '')""#, #"find "(any != 'Jazz')""#, #"find "(any !contains 'a')""#,
        #"find "(Title contains '')""#,
        #"find "(Comment == '')" window 0:1"#, #"find "(Mood == '')""#,
        // Order and window.
        #"search any "l" window 1:2"#, #"search any "l" window 1"#, #"search any "l" window x"#,
        #"search any "l" window 2:1"#, #"search any "l" window 1:x"#, #"search any "l" window "-2""#,
        #"search any "l" window 1:1"#, #"search any "l" window 99999999999"#, #"search any "l" window"#,
        #"search any "l" sort foo"#, #"search any "l" sort"#, #"search any "l" sort """#, #"search any "l" sort Date"#,
        #"search any "l" sort -Date window 0:2"#, #"search any "" sort Track"#, #"search any "" sort -Track"#,
        #"search any "" sort Disc"#, #"search any "" sort Title"#, #"search any "" sort AlbumArtist"#,
        #"search any "" sort -AlbumArtistSort"#, #"search any "" sort ArtistSort"#,
        #"search any "" sort AlbumSort window 2:"#,
        #"search any "" sort Last-Modified window 0:1"#, #"search any "l" window 0:1 sort Date"#,
        #"search any "l" group Date"#,
        // Values.
        "list foo", "list any", "list artist", "list album", #"list album "Miles Davis""#, #"list Artist "x""#,
        "list album group albumartist", "list album group albumartist group date", "list album group album",
        "list album group artist group artist", #"list album artist "Miles Davis" group date"#,
        #"list album "(Artist == 'Miles Davis')" group foo"#, #"list album "(Artist == 'Miles Davis')""#,
        "list album artist", "list file", #"list file "(base 'CD')""#, #"list filename Artist "Björk""#,
        "list Performer", "list albumartistsort", "list ArtistSort group Genre", "list genre group",
        #"list artist base "A""#, "list artist window 0:1", #"list title base "nope""#, #"list date "(base 'A')""#,
        "list MUSICBRAINZ_ALBUMID", "list Disc", #"list Track base "A""#,
        #"count Artist "Miles Davis""#, "count Artist", #"count "(Artist == 'nobody')""#, #"count "(base 'A')""#,
        #"count "(base 'A')" group artist"#, #"count base "A" group albumartist"#, "count group foo",
        #"count Artist "Miles Davis" group album"#,
        #"count Artist "nobody" group album"#,
        // Files.
        #"readcomments "nope""#, #"readcomments "../x""#, #"readcomments "A""#,
    ]

    /// Commands with another answer: the answer here.
    private static let meant: [(command: String, answer: [String])] = [
        // MPD skips a letter.
        (#"find "((Artist == 'a') AND Album == 'b')""#, ["ACK [2@0] {find} '(' expected"]),
        // POSIX has other messages than PCRE.
        (#"find "(Artist =~ '(')""#, ["ACK [2@0] {find} Error in regex: Unmatched ( or \\("]),
        // Priorities, which MPD has since 0.24.
        (#"find "(prio >= 1)""#, ["OK"]),
        // Nothing outside of the music folders, and no paths of the appliance in errors.
        (#"listfiles "..""#, ["ACK [50@0] {listfiles} No such directory"]),
        (#"listfiles "nope""#, ["ACK [50@0] {listfiles} No such directory"]),
        (#"listfiles "B.flac""#, ["ACK [50@0] {listfiles} No such directory"]),
        (#"lsinfo "/A""#, ["ACK [50@0] {lsinfo} No such directory"]),
    ]

    @Test("The answers are those of MPD, line by line, or another one that is meant")
    func commands() throws {
        let music = try Self.makeMusic()
        let peer = try MPDPeer(music: music.path)
        for command in Self.commands {
            // MPD loses the format of songs when it sorts them.
            let isSorted = command.contains(" sort ")
            let here = Self.normal(music.answer(command), withFormats: !isSorted)
            let there = Self.normal(try peer.ask(command), withFormats: !isSorted)
            #expect(here == there, "\(command)\n\(Self.difference(here, there))")
        }
        for (command, answer) in Self.meant {
            #expect(music.answer(command) == answer, "\(command)")
        }
        // Accents do not matter in a search.
        #expect(try peer.ask(#"search Artist "bjork""#) == ["OK"])
        #expect(music.found(#"search Artist "bjork""#) == ["A/Zeta/b.flac", "Lame/m.mp3"])
        // Numbers of tracks have no zeros.
        #expect(try peer.ask(#"list Track base "CD""#) == ["Track: 01", "Track: 02", "OK"])
        #expect(music.answer(#"list Track base "CD""#) == ["Track: 1", "Track: 2", "OK"])
        // The files of a folder: MPD has no order for them.
        for folder in ["", "A", "CD"] {
            let command = "listfiles \"\(folder)\""
            let (here, there) = (music.answer(command), try peer.ask(command))
            #expect(Self.entries(here).sorted() == Self.entries(there).sorted(), "\(command)")
        }
    }

    /// Sorts the tags of each song: MPD has the order of the file. Leaves out what this program does not have.
    private static func normal(_ lines: [String], withFormats: Bool) -> [String] {
        var normal: [String] = []
        var tags: [String] = []
        var isSong = false
        for var line in lines {
            let key = line.prefix { $0 != ":" }
            if ["file", "directory", "playlist", "OK", "Time"].contains(key) || line.hasPrefix("ACK") {
                normal += tags.sorted()
                tags = []
                isSong = key == "file"
            }
            // A track of a cue sheet is a product of its own here, and its number has no zeros.
            if key == "Range" { continue }
            if line.hasPrefix("Track: 0") { line = "Track: " + line.dropFirst(8) }
            // Decoders of lossy formats have 24 bits here.
            if line == "Format: 44100:f:2" { line = "Format: 44100:24:2" }
            if key == "Format", !withFormats { continue }
            // The padding that the encoder of MP3 added is not played here.
            if line == "duration: 0.548" { line = "duration: 0.500" }
            if isSong, !["file", "Last-Modified", "Format", "Time", "duration"].contains(key) {
                tags.append(line)
            } else {
                normal.append(line)
            }
        }
        return normal + tags.sorted()
    }

    /// The entries of a folder, each with its lines.
    private static func entries(_ lines: [String]) -> [String] {
        var entries: [String] = []
        for line in lines where line != "OK" {
            if line.hasPrefix("file: ") || line.hasPrefix("directory: ") || entries.isEmpty {
                entries.append(line)
            } else {
                entries[entries.count - 1] += ", " + line
            }
        }
        return entries
    }

    private static func difference(_ here: [String], _ there: [String]) -> String {
        here.difference(from: there).map { change in
            switch change {
            case .insert(let place, let line, _): "here  \(place): \(line)"
            case .remove(let place, let line, _): "there \(place): \(line)"
            }
        }.joined(separator: "\n")
    }
}
