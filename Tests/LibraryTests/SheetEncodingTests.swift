import Foundation
import Library
import TestSupport
import Testing

@Suite("Cue sheets in the character sets of old programs")
struct SheetEncodingTests {
    private let music: MusicFolder

    init() throws { music = try MusicFolder() }

    @Test("Files are found by the text of a sheet in Windows-1251, and by what is left for a name that is not read")
    func sheets() throws {
        try music.add("one/Группа крови.flac", "TITLE=Whole")
        // Группа крови in Windows-1251.
        let name: [UInt8] = [0xC3, 0xF0, 0xF3, 0xEF, 0xEF, 0xE0, 0x20, 0xEA, 0xF0, 0xEE, 0xE2, 0xE8]
        func sheet(_ name: [UInt8], _ title: [UInt8]) -> Data {
            var sheet = Data("FILE \"".utf8)
            sheet += Data(name) + Data(".flac\" WAVE\n TRACK 01 AUDIO\n TITLE \"".utf8)
            return sheet + Data(title) + Data("\"\n INDEX 01 0:0:0\n".utf8)
        }
        try music.write(sheet(name, name), to: "one/a.cue")
        // 甜蜜蜜我只在乎你 in Big5.
        let unread: [UInt8] = [
            0xB2, 0xA2, 0xBB, 0x65, 0xBB, 0x65, 0xA7, 0xDA, 0xA5, 0x75, 0xA6, 0x62, 0xA5, 0x47, 0xA7, 0x41,
        ]
        try music.add("two/甜蜜蜜.flac", "TITLE=Own")
        try music.add("two/b.flac", "TITLE=Second")
        try music.write(
            sheet(unread, Array("One".utf8)) + sheet(Array("b".utf8), Array("Two".utf8)), to: "two/a.cue")
        try music.scan()
        let tracks = try music.index.tracks(MusicFolder.all).entries
        #expect(
            Set(tracks.map(\.playedPath)) == [
                music["one/a.cue/track0001"], music["two/a.cue/track0001"], music["two/a.cue/track0002"],
            ])
        #expect(Set(tracks.map(\.name)) == ["Группа крови", "One", "Two"])
    }
}
