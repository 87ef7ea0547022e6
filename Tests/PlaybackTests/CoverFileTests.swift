import Foundation
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("The picture beside the music")
struct CoverFileTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func write(_ names: String...) throws {
        for name in names { try Data([1]).write(to: URL(fileURLWithPath: folder[name])) }
    }

    @Test("cover comes before folder before front, .jpg before .jpeg before .png, in any case")
    func order() throws {
        try write("a.flac", "front.png", "back.jpg", "cover.txt", "cover.jpg.bak", "mycover.jpg", "cover")
        let names = [
            "front.png", "FRONT.jpeg", "Front.JPG", "folder.png", "Folder.jpg", "cover.png", "COVER.Jpeg", "cover.jpg",
        ]
        for name in names {
            try write(name)
            #expect(CoverFile.path(beside: folder["a.flac"]) == folder[name])
        }
        try write("COVER.JPG")
        #expect(CoverFile.path(in: folder.path) == folder["COVER.JPG"], "the first one by its bytes")
        #expect(CoverFile.path(in: folder.path + "/") == folder["COVER.JPG"])
    }

    @Test("None: no such file, a folder of that name, no folder at all")
    func none() throws {
        try write("a.flac")
        try FileManager.default.createDirectory(atPath: folder["cover.jpg"], withIntermediateDirectories: false)
        #expect(CoverFile.path(beside: folder["a.flac"]) == nil)
        #expect(CoverFile.path(beside: folder["missing/a.flac"]) == nil)
        #expect(CoverFile.path(in: folder["a.flac"]) == nil)
    }

    @Test("A track of a cue sheet has the picture beside the sheet")
    func sheet() throws {
        try write("a.cue", "folder.jpg")
        #expect(CoverFile.path(beside: folder["a.cue/track0001"]) == folder["folder.jpg"])
    }

    @Test("A link counts as the file that it leads to")
    func link() throws {
        try write("a.flac", "picture")
        try FileManager.default.createSymbolicLink(
            atPath: folder["cover.jpg"], withDestinationPath: folder["picture"])
        #expect(CoverFile.path(beside: folder["a.flac"]) == folder["cover.jpg"])
    }
}
