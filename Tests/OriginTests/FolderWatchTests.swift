import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@testable import Library
@testable import OriginService

@Suite("Changes of the music folder while the origin serves it")
struct FolderWatchTests {
    private let folder: ScratchFolder
    private let files = FileManager.default

    init() throws {
        folder = try ScratchFolder()
        for name in ["music", "aside/album/disc"] {
            try files.createDirectory(atPath: folder[name], withIntermediateDirectories: true)
        }
    }

    private func write(_ name: String, _ title: String) throws {
        try Music(frames: 5000).writeFLAC(to: folder[name], ["--tag=TITLE=\(title)"])
    }

    private func titles(_ origin: RunningOrigin) throws -> [String] {
        try #require(try Fetched("\(origin.address)/v1/tracks").json()["items"]?.elements)
            .compactMap { $0["title"]?.string }
    }

    /// Waits until the origin has seen a change, and lists its tracks then.
    private func titlesAfterChange(_ origin: RunningOrigin) throws -> [String] {
        try origin.line { $0.contains("new or changed") }
        return try titles(origin)
    }

    @Test("Files and folders that come, change, move and go, and playlists")
    func changes() throws {
        try write("music/a.flac", "A")
        let origin = try RunningOrigin(folder["music"], state: folder["state"])
        #expect(try titles(origin) == ["A"])
        try write("aside/b.flac", "B")
        try files.moveItem(atPath: folder["aside/b.flac"], toPath: folder["music/b.flac"])
        #expect(try titlesAfterChange(origin) == ["A", "B"])
        try write("music/a.flac", "A2")
        #expect(try titlesAfterChange(origin) == ["A2", "B"])
        try files.moveItem(atPath: folder["music/a.flac"], toPath: folder["music/c.flac"])
        #expect(try titlesAfterChange(origin) == ["B", "A2"])
        // A folder with folders in it, at once.
        try write("aside/album/disc/d.flac", "D")
        try files.moveItem(atPath: folder["aside/album"], toPath: folder["music/album"])
        #expect(try titlesAfterChange(origin) == ["B", "A2", "D"])
        // Files that are added to it later are seen, too.
        try write("music/album/disc/e.flac", "E")
        #expect(try titlesAfterChange(origin) == ["B", "A2", "D", "E"])
        try Data("album/disc/e.flac\n".utf8).write(to: URL(fileURLWithPath: folder["music/list.m3u8"]))
        #expect(try titlesAfterChange(origin).count == 4)
        #expect(try Fetched("\(origin.address)/v1/playlists").json()["totalNumberOfItems"]?.integer == 1)
        try files.moveItem(atPath: folder["music/album"], toPath: folder["aside/away"])
        #expect(try titlesAfterChange(origin) == ["B", "A2"])
        try files.removeItem(atPath: folder["music/b.flac"])
        #expect(try titlesAfterChange(origin) == ["A2"])
        // Links are complete when they are made; a folder that one leads to is served.
        try files.createSymbolicLink(atPath: folder["music/link"], withDestinationPath: folder["aside/away"])
        #expect(try titlesAfterChange(origin) == ["A2", "D", "E"])
        try files.removeItem(atPath: folder["music/link"])
        #expect(try titlesAfterChange(origin) == ["A2"])
    }

    @Test("Folders that systems put beside music are not served, at the start and when they come")
    func systemFolders() throws {
        try files.createDirectory(atPath: folder["music/@eaDir"], withIntermediateDirectories: true)
        try write("music/@eaDir/a.flac", "thumbnail")
        try write("music/a.flac", "A")
        let origin = try RunningOrigin(folder["music"], state: folder["state"])
        #expect(try titles(origin) == ["A"])
        try files.createDirectory(atPath: folder["aside/bin"], withIntermediateDirectories: true)
        try write("aside/bin/b.flac", "deleted")
        try files.moveItem(atPath: folder["aside/bin"], toPath: folder["music/$RECYCLE.BIN"])
        try write("music/@eaDir/c.flac", "another one")
        try write("aside/b.flac", "B")
        try files.moveItem(atPath: folder["aside/b.flac"], toPath: folder["music/b.flac"])
        #expect(try titlesAfterChange(origin) == ["A", "B"])
    }

    /// The time alone, as `touch -d` does.
    private func setTime(of path: String) {
        let time = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
    }

    @Test("A file is read again when only its time is another")
    func time() throws {
        try write("music/a.flac", "A")
        let origin = try RunningOrigin(folder["music"], state: folder["state"])
        setTime(of: folder["music/a.flac"])
        #expect(try titlesAfterChange(origin) == ["A"])
        #expect(try Fetched("\(origin.address)/v1/tracks/1/playbackinfo").status == 200)
    }

    @Test("A folder that may not be read counts as not watched")
    func unreadable() throws {
        let watch = try FolderWatch()
        _ = watch.add(folder["aside"])
        #expect(watch.isComplete)
        chmod(folder["music"], 0o000)
        asNobody { _ = watch.add(folder["music"]) }
        #expect(!watch.isComplete)
        chmod(folder["music"], 0o755)
    }

    @Test("A change without an event is found by who asks for the track")
    func requested() throws {
        try write("music/a.flac", "A")
        let origin = try RunningOrigin(folder["music"], state: folder["state"])
        // The same byte once more. There is an event when the file is closed, and not before.
        let written = Glibc.open(folder["music/a.flac"], O_WRONLY)
        defer { close(written) }
        #expect(pwrite(written, "f", 1, 0) == 1)
        let address = "\(origin.address)/v1/tracks/1/playbackinfo"
        #expect(try Fetched(address).status == 503)
        try origin.line { $0.contains("1 new or changed") }
        #expect(try Fetched(address).status == 200)
    }

    @Test(
        "A folder that is mounted later is served, and an unmounted one is gone",
        .enabled(if: Medium.isAvailable, "needs to mount file systems"))
    func mounts() throws {
        try write("aside/a.flac", "A")
        let origin = try RunningOrigin(folder["music"], state: folder["state"])
        #expect(try titles(origin).isEmpty)
        try #require(mount(folder["aside"], folder["music"], nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(folder["music"], Int32(MNT_DETACH)) }
        #expect(try titlesAfterChange(origin) == ["A"])
        // Files in it are watched.
        try write("aside/b.flac", "B")
        #expect(try titlesAfterChange(origin) == ["A", "B"])
        #expect(umount2(folder["music"], Int32(MNT_DETACH)) == 0)
        #expect(try titlesAfterChange(origin).isEmpty)
    }
}
