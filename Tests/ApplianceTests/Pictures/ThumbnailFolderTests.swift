import ApplianceTestSupport
import Foundation
import TestSupport
import Testing

@testable import Appliance

@Suite("Thumbnails: their folder (docs/decisions/pictures.md)")
struct ThumbnailFolderTests {
    private let scratch: ScratchFolder
    private let path: String

    init() throws {
        scratch = try ScratchFolder()
        path = scratch["cache/cover-thumbnails"]
    }

    private func key(_ number: UInt64) -> ThumbnailKey {
        ThumbnailKey(picture: PictureIdentity(high: number, low: 0), side: 160)
    }

    private func thumbnail(_ number: UInt8) throws -> Thumbnail {
        let jpeg = [0xFF, 0xD8] + [UInt8](repeating: number, count: 996) + [0xFF, 0xD9]
        return try #require(Thumbnail(width: 160, height: 107, bytes: jpeg, side: 160))
    }

    private var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    private func setTime(_ name: String, _ seconds: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: "\(path)/\(name)")
    }

    @Test("It is made for the first thumbnail, and a restart finds all")
    func restart() throws {
        let folder = ThumbnailFolder(path, limit: 1 << 20)
        #expect(folder.thumbnail(for: key(1)) == nil && !FileManager.default.fileExists(atPath: path))
        for number: UInt8 in 1...3 { folder.keep(try thumbnail(number), for: key(UInt64(number))) }
        #expect(files.count == 3)
        let later = ThumbnailFolder(path, limit: 1 << 20)
        for number: UInt8 in 1...3 { #expect(later.thumbnail(for: key(UInt64(number))) == (try thumbnail(number))) }
        #expect(later.thumbnail(for: key(4)) == nil)
    }

    @Test("After a restart the one whose use is longest ago goes first; a use counts")
    func order() throws {
        let folder = ThumbnailFolder(path, limit: 1 << 20)
        for number: UInt8 in 1...3 {
            folder.keep(try thumbnail(number), for: key(UInt64(number)))
            let name = try #require(files.first { $0.hasPrefix(key(UInt64(number)).picture.text) })
            try setTime(name, 1_000_000_000 + Double(number))
        }
        #expect(folder.thumbnail(for: key(1)) != nil)
        let later = ThumbnailFolder(path, limit: 3 * 4096)
        later.keep(try thumbnail(4), for: key(4))
        #expect(later.thumbnail(for: key(2)) == nil && files.count == 3)
        for number: UInt64 in [1, 3, 4] { #expect(later.thumbnail(for: key(number)) != nil) }
    }

    @Test("A smaller limit removes what is too much, and 0 all")
    func limits() throws {
        let folder = ThumbnailFolder(path, limit: 1 << 20)
        for number: UInt8 in 1...4 { folder.keep(try thumbnail(number), for: key(UInt64(number))) }
        #expect(ThumbnailFolder(path, limit: 2 * 4096).thumbnail(for: key(9)) == nil && files.count == 2)
        let none = ThumbnailFolder(path, limit: 0)
        #expect(none.thumbnail(for: key(9)) == nil && files.isEmpty)
        none.keep(try thumbnail(5), for: key(5))
        #expect(files.isEmpty)
    }

    @Test("A damaged file is no thumbnail, and is removed", arguments: ["middle", "half", "zeros", "end", "gone"])
    func damage(kind: String) throws {
        let folder = ThumbnailFolder(path, limit: 1 << 20)
        folder.keep(try thumbnail(1), for: key(1))
        let file = "\(path)/\(try #require(files.first))"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        switch kind {
        case "middle": bytes[500] ^= 1
        case "half": bytes = bytes.prefix(500)
        case "zeros": bytes = Data(count: bytes.count)
        case "end": bytes[bytes.count - 1] = 0
        default: break
        }
        try bytes.write(to: URL(fileURLWithPath: file))
        if kind == "gone" { try FileManager.default.removeItem(atPath: file) }
        for folder in [folder, ThumbnailFolder(path, limit: 1 << 20)] {
            #expect(folder.thumbnail(for: key(1)) == nil && files.isEmpty)
        }
        folder.keep(try thumbnail(2), for: key(1))
        #expect(folder.thumbnail(for: key(1)) == (try thumbnail(2)))
    }

    @Test("Foreign files are removed at the first use, folders stay")
    func foreign() throws {
        ThumbnailFolder(path, limit: 1 << 20).keep(try thumbnail(1), for: key(1))
        let own = files
        for name in ["cover.jpg", ".tonearm-0123456789abcdef.new", own[0] + "0", ".hidden"] {
            try Data([1]).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        }
        try FileManager.default.createDirectory(atPath: "\(path)/folder", withIntermediateDirectories: false)
        #expect(ThumbnailFolder(path, limit: 1 << 20).thumbnail(for: key(1)) != nil)
        #expect(files == (own + ["folder"]).sorted())
    }

    @Test("A folder that cannot be made keeps none")
    func unusable() throws {
        try Data([1]).write(to: URL(fileURLWithPath: scratch["cache"]))
        let folder = ThumbnailFolder(path, limit: 1 << 20)
        folder.keep(try thumbnail(1), for: key(1))
        #expect(folder.thumbnail(for: key(1)) == nil)
    }
}
