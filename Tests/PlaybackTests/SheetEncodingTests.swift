import Foundation
import Media
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("Cue sheets and playlists in the character sets of old programs", SheetFixture.needsFLAC)
struct SheetEncodingTests {
    private let fixture: SheetFixture
    private var folder: ScratchFolder { fixture.folder }

    init() throws { fixture = try SheetFixture() }

    /// 正しい街 and 丸の内 in Shift-JIS.
    private static let names: [[UInt8]] = [
        [0x90, 0xB3, 0x82, 0xB5, 0x82, 0xA2, 0x8A, 0x58], [0x8A, 0xDB, 0x82, 0xCC, 0x93, 0xE0],
    ]
    /// 月亮代表我的心 and 甜蜜蜜我只在乎你 in Big5.
    private static let unreadNames: [[UInt8]] = [
        [0xA4, 0xEB, 0xAB, 0x47, 0xA5, 0x4E, 0xAA, 0xED, 0xA7, 0xDA, 0xAA, 0xBA, 0xA4, 0xDF],
        [0xB2, 0xA2, 0xBB, 0x65, 0xBB, 0x65, 0xA7, 0xDA, 0xA5, 0x75, 0xA6, 0x62, 0xA5, 0x47, 0xA7, 0x41],
    ]

    /// A sheet with a file a track, each with its name as title.
    private func sheet(_ names: [[UInt8]]) -> Data {
        var sheet = Data()
        for name in names {
            sheet += Data("FILE \"".utf8) + Data(name)
            sheet += Data(".flac\" WAVE\n TRACK 01 AUDIO\n TITLE \"".utf8) + Data(name)
            sheet += Data("\"\n INDEX 01 00:00:00\n".utf8)
        }
        return sheet
    }

    @Test("Files whose names are Unicode here are found, and titles are text")
    func japanese() throws {
        let tracks = [
            try Track("正しい街", frames: 2000, in: folder), try Track("丸の内", frames: 3000, in: folder),
        ]
        _ = try Track("other", frames: 10, in: folder)
        try fixture.write(sheet(Self.names), to: "a.cue")
        for (number, track) in tracks.enumerated() {
            let opened = try fixture.open("a.cue/track000\(number + 1)").decoder
            #expect(opened.metadata.title == ["正しい街", "丸の内"][number])
            #expect(opened.properties.frameCount == Int64(track.frames))
        }
        let list = Self.names.flatMap { $0 + Array(".flac\n".utf8) }
        try fixture.write(Data(list), to: "a.m3u")
        #expect(try MusicFolder.contents(of: folder["a.m3u"]).files == [folder["正しい街.flac"], folder["丸の内.flac"]])
    }

    @Test("A name that cannot be read is the only music of that kind that no other file is")
    func remaining() throws {
        _ = try Track("known", frames: 2000, in: folder)
        _ = try Track("月亮", frames: 3000, in: folder)
        try fixture.write("no sound", to: "cover.mp3")
        try fixture.write(sheet([Self.unreadNames[0], Array("known".utf8)]), to: "a.cue")
        let opened = try fixture.open("a.cue/track0001").decoder
        // The title is that of the file, which has none.
        #expect(opened.properties.frameCount == 3000 && opened.metadata.title == nil)
        #expect(try fixture.open("a.cue/track0002").decoder.properties.frameCount == 2000)
        // Two files are left, or the sheet names two that are not there.
        try fixture.write(sheet([Self.unreadNames[0], Self.unreadNames[1]]), to: "b.cue")
        let error = try #require(fixture.error("b.cue/track0001"))
        #expect(
            error.code == "s2"
                && error.message.hasSuffix("Its names are in Big5, which cannot be read: save it in UTF-8."))
        _ = try Track("third", frames: 10, in: folder)
        #expect(fixture.error("a.cue/track0001")?.code == "s2")
        // A name in ASCII is no guess.
        try fixture.write("FILE gone.flac WAVE\nTRACK 1 AUDIO\nINDEX 1 0:0:0\nFILE known.flac WAVE\n", to: "c.cue")
        #expect(fixture.error("c.cue/track0001")?.message.hasSuffix("does not exist.") == true)
    }

    @Test("Entries of a playlist that are not found are reported with the character set that is not read")
    func playlist() throws {
        let list = Self.unreadNames.flatMap { $0 + Array(".flac\n".utf8) }
        try fixture.write(Data(list), to: "a.m3u")
        let problems = try MusicFolder.contents(of: folder["a.m3u"]).problems
        #expect(problems.count == 2 && problems.allSatisfy { $0.message.contains("Its names are in Big5") })
    }
}
