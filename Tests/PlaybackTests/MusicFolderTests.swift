import Foundation
import Platform
import TestSupport
import Testing

@testable import Playback
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
        for path in [
            "b/2.flac", "b/10.flac", "b/3.MP3", "b/4.opus", "a.flac", "a/1.wav", "a/2.ogg", "a/3.oga", "a/4.spx",
            "notes.txt", ".hidden.flac",
        ] {
            try make(path)
        }
        #expect(
            try found() == [
                "a.flac", "a/1.wav", "a/2.ogg", "a/3.oga", "b/2.flac", "b/3.MP3", "b/4.opus", "b/10.flac",
            ])
    }

    @Test("is not in folders that systems put beside it, in any case of letters, and a file may have such a name")
    func systemFolders() throws {
        for name in [
            "$RECYCLE.BIN", "$Recycle.Bin", "System Volume Information", "lost+found", "#recycle", "@eaDir",
            ".Trash-1000", ".Trashes", "RECYCLER", "#snapshot", "@Recycle",
        ] {
            try make("\(name)/gone.flac")
            try make("album/\(name)/deeper/gone.flac")
        }
        for path in ["#recycle.flac", "album/1.flac", "recycle/2.flac", "lost+found again/3.flac"] { try make(path) }
        #expect(try found() == ["#recycle.flac", "album/1.flac", "lost+found again/3.flac", "recycle/2.flac"])
    }

    @Test("is found through a link to elsewhere, and each file once where links lead back")
    func links() throws {
        try make("a/1.flac")
        try make("elsewhere/2.flac")
        try link("a/elsewhere", to: "../elsewhere")
        for name in ["up", "round", "again"] { try link("a/\(name)", to: "..") }
        try link("a/self", to: ".")
        #expect(try found() == ["a/1.flac", "a/elsewhere/2.flac"])
    }

    @Test("14 folders that lead to each other are 14 folders")
    func linkedFolders() throws {
        for number in 0..<14 { try make("\(number)/\(number).flac") }
        for number in 0..<14 {
            for other in 0..<14 where other != number { try link("\(number)/to \(other)", to: "../\(other)") }
        }
        var search = MusicFolder()
        try search.add(folder.path)
        #expect(search.contents.files.count == 14 && search.folderCount == 15)
        try search.add(folder["3"])
        #expect(search.contents.files.count == 14 && search.folderCount == 15, "visited already")
    }

    @Test(
        "A path on the root file system, or a relative one, is below no mount point",
        arguments: ["/", "//", "/.", "", ".", "a", "a/b", "/no/such/folder"])
    func noMountPoint(path: String) {
        #expect(MountPoint.containing(path) == nil)
        #expect(!MountPoint.isMounted(path))
    }

    @Test("A mount point that every Linux has", arguments: ["/dev/shm", "/dev/shm/", "/dev/shm/.", "//dev/shm"])
    func shm(path: String) throws {
        let point = try #require(MountPoint.containing(path))
        #expect(MountPoint.isMounted(point))
    }

    @Test("The mount points that music lies on are found, above it and below", .enabled(if: Medium.isAvailable))
    func mountPoints() throws {
        try make("1.flac")
        let media = try ["outer", "outer/inner", "empty"].map { try Medium(at: folder[$0], kilobytes: 64) }
        for name in ["outer/album/2.flac", "outer/inner/3.flac"] { try make(name) }
        func found(_ path: String) throws -> Set<String> {
            var search = MusicFolder()
            try search.add(path)
            return Set(search.contents.mountPoints).intersection(media.map(\.path))
        }
        #expect(try found(folder.path) == [folder["outer"], folder["outer/inner"]])
        #expect(try found(folder["1.flac"]) == [])
        #expect(try found(folder["outer/album"]) == [folder["outer"]])
        #expect(try found(folder["outer/album/2.flac"]) == [folder["outer"]])
        #expect(try found(folder["outer/inner"]) == [folder["outer/inner"]])
        #expect(MountPoint.isMounted(folder["outer"]) && !MountPoint.isMounted(folder["outer/album"]))
        withExtendedLifetime(media) {}
    }

    @Test("The kernel's folders are left alone, also where a link leads there")
    func kernelFolders() throws {
        try make("1.flac")
        for (number, path) in ["/proc", "/sys", "/dev", "/proc/self/fd", "/sys/class"].enumerated() {
            try link("to \(number)", to: path)
            #expect(throws: MusicFolder.Stop.kernelFolder(path)) {
                var search = MusicFolder()
                try search.add(path)
            }
        }
        var search = MusicFolder()
        try search.add(folder.path)
        #expect(search.contents.files.count == 1 && search.folderCount == 1)
    }

    @Test("The search ends with the file that is one too many, in whichever folder", arguments: [0, 1, 4, 5, 9, 10])
    func limit(limit: Int) throws {
        for name in ["a", "b"] { for number in 0..<5 { try make("\(name)/\(number).flac") } }
        var search = MusicFolder(limit: limit)
        if limit == 10 {
            try search.add(folder.path)
        } else {
            #expect(throws: MusicFolder.Stop.tooMany(limit: limit)) { try search.add(folder.path) }
        }
        #expect(search.folderCount == (limit < 5 ? 2 : 3))
        #expect(search.contents.files.count <= limit + 1)
    }

    @Test("A search that is cancelled reads no further")
    func cancelled() throws {
        try make("a/1.flac")
        let cancellation = try Cancellation()
        cancellation.cancel()
        var search = MusicFolder(cancellation: cancellation)
        #expect(throws: MusicFolder.Stop.cancelled) { try search.add(folder.path) }
        #expect(search.contents.files.isEmpty && search.folderCount == 1)
    }

    @Test("Unreadable files are counted, and the first thousand are named")
    func unreadable() throws {
        for number in 0..<1100 { try link("\(number).flac", to: "nowhere") }
        var search = MusicFolder()
        try search.add(folder.path)
        #expect(search.contents.problemCount == 1100 && search.contents.problems.count == 1000)
    }
}
