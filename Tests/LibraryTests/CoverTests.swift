import Foundation
import Platform
import TestSupport
import Testing

@testable import Library

@Suite("The picture in a folder of music")
struct CoverTests {
    private static let jpeg = Data([0xFF, 0xD8, 0xFF, 0xE0, 0])
    private static let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])

    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func write(_ name: String, _ content: Data = jpeg) throws {
        try content.write(to: URL(fileURLWithPath: folder[name]))
    }

    private var cover: String? { Cover.file(in: folder.path, nil).map { String($0.dropFirst(folder.path.count + 1)) } }

    /// The names that are covers, the worst one first, each in some case.
    private static let ranked = [
        "album.jxl", "Album.webp", "ALBUM.jpeg", "album.JPG", "album.png", "albumart.jxl", "AlbumArt.webp",
        "albumart.jpeg", "albumart.jpg", "albumart.PNG", "front.jxl", "front.webp", "FRONT.jpeg", "Front.JPG",
        "front.png", "folder.jxl", "folder.webp", "folder.jpeg", "Folder.jpg", "folder.png", "cover.jxl", "cover.WEBP",
        "COVER.Jpeg", "cover.jpg", "Cover.Png",
    ]

    @Test("cover comes before folder, front, albumart and album, and png before jpg, jpeg, webp and jxl, in any case")
    func order() throws {
        for name in ["a.flac", "back.jpg", "cover.txt", "cover.jpg.bak", "mycover.jpg", "cover", "cover.gif"] {
            try write(name)
        }
        #expect(cover == nil)
        for name in Self.ranked {
            try write(name)
            #expect(cover == name)
        }
        try write("COVER.PNG")
        #expect(cover == "COVER.PNG", "the first one by its bytes")
        #expect(Cover.file(in: folder.path + "/", nil) == folder["COVER.PNG"])
    }

    @Test("None: no picture by its content, a folder of that name, no folder at all")
    func none() throws {
        try write("cover.png", Data("no picture".utf8))
        try write("cover.jpg", Data())
        try FileManager.default.createDirectory(atPath: folder["folder.jpg"], withIntermediateDirectories: false)
        #expect(cover == nil)
        #expect(Cover.file(in: folder["missing"], nil) == nil)
        try write("album.jxl", Self.png)
        #expect(cover == "album.jxl", "the content has another kind than the name")
    }

    @Test("A track of a cue sheet has the picture beside the sheet")
    func sheet() throws {
        try write("a.cue", Data("FILE".utf8))
        try write("folder.jpg")
        #expect(Cover.file(in: folder["a.cue"], nil) == folder["folder.jpg"])
    }

    @Test("A link counts as the file that it leads to, unless that lies outside of the music folders")
    func link() throws {
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: false)
        try write("picture")
        try write("music/front.jpg")
        try FileManager.default.createSymbolicLink(
            atPath: folder["music/cover.jpg"], withDestinationPath: folder["picture"])
        #expect(Cover.file(in: folder["music"], nil) == folder["music/cover.jpg"])
        #expect(Cover.file(in: folder["music"], MusicRoots([folder["music"]])) == folder["music/front.jpg"])
    }
}
