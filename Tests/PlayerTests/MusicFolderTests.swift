import Foundation
import Platform
import TestSupport
import Testing

@testable import Player

@Suite("The music below a folder")
struct MusicFolderTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func make(_ path: String) throws {
        let parent = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder[parent], withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: folder[path]))
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: folder[path], withDestinationPath: target)
    }

    private func found() throws -> [String] {
        try MusicFolder.contents(of: folder.path).files.map { String($0.dropFirst(folder.path.count + 1)) }
    }

    @Test("comes in the order of its names, a folder's files before those of its folders")
    func order() throws {
        for path in ["b/2.flac", "b/10.flac", "a.flac", "a/1.wav", "notes.txt", ".hidden.flac"] { try make(path) }
        #expect(try found() == ["a.flac", "a/1.wav", "b/2.flac", "b/10.flac"])
    }

    @Test("is found through a link to elsewhere, and each file once where links lead back")
    func links() throws {
        try make("a/1.flac")
        try make("elsewhere/2.flac")
        try link("a/elsewhere", to: "../elsewhere")
        for name in ["up", "round", "again"] { try link("a/\(name)", to: "..") }
        try link("a/self", to: ".")
        #expect(try found() == ["a/1.flac", "a/elsewhere/2.flac", "elsewhere/2.flac"])
    }
}
