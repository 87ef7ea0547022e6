import Foundation
import Glibc
import Platform
import TestSupport
import Testing

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

    @Test("Each change is told once, with its path; hidden names and files that are still written are none")
    func watch() throws {
        let watch = try FolderWatch()
        let cancellation = try Cancellation()
        let music = folder["music"]
        _ = watch.add(music)
        try Data([1]).write(to: URL(fileURLWithPath: "\(music)/.hidden.flac"))
        let written = Glibc.open("\(music)/slow.flac", O_WRONLY | O_CREAT, 0o644)
        // Like a program that copies attributes before the content.
        fchmod(written, 0o600)
        #expect(watch.wait(milliseconds: 0, cancellation) == FolderWatch.Changes())
        close(written)
        try files.createDirectory(atPath: "\(music)/new", withIntermediateDirectories: true)
        #expect(
            watch.wait(milliseconds: Int(Deadline().milliseconds), cancellation)
                == FolderWatch.Changes(
                    files: [PathBytes("\(music)/slow.flac")], trees: [PathBytes("\(music)/new")]))
        cancellation.cancel()
        #expect(watch.wait(milliseconds: Int(Deadline().milliseconds), cancellation) == nil)
    }

    @Test("Who may read a file or a folder is a change of it, and so is its time")
    func attributes() throws {
        let music = folder["music"]
        let album = folder["music/album"]
        try files.createDirectory(atPath: album, withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: "\(music)/a.flac"))
        let watch = try FolderWatch()
        let cancellation = try Cancellation()
        _ = watch.add(music)
        _ = watch.add(album)
        func next() -> FolderWatch.Changes? { watch.wait(milliseconds: Int(Deadline().milliseconds), cancellation) }
        chmod("\(music)/a.flac", 0o000)
        #expect(next() == FolderWatch.Changes(files: [PathBytes("\(music)/a.flac")]))
        chmod("\(music)/a.flac", 0o644)
        #expect(next() == FolderWatch.Changes(files: [PathBytes("\(music)/a.flac")]))
        setTime(of: "\(music)/a.flac")
        #expect(next() == FolderWatch.Changes(files: [PathBytes("\(music)/a.flac")]))
        chmod(album, 0o700)
        #expect(next() == FolderWatch.Changes(trees: [PathBytes(album)]))
        // The music folder is in no watched folder. Its content is checked together with it.
        chmod(album, 0o755)
        chmod("\(music)/a.flac", 0o600)
        chmod(music, 0o700)
        #expect(next() == FolderWatch.Changes(trees: [PathBytes(music)]))
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

    @Test("The time that a wait has does not begin again with each file that is not served")
    func patience() throws {
        let watch = try FolderWatch()
        _ = watch.add(folder["music"])
        let note = folder["music/note.txt"]
        let isWriting = try Cancellation()
        let writer = Thread {
            // One wait without end would last as long as this.
            for _ in 0..<300 where !isWriting.isCancelled {
                close(Glibc.open(note, O_WRONLY | O_CREAT, 0o644))
                _ = isWriting.wait(milliseconds: 200)
            }
        }
        writer.start()
        defer { isWriting.cancel() }
        let start = SystemMonotonicClock().now()
        #expect(watch.wait(milliseconds: 1000, try Cancellation()) == FolderWatch.Changes())
        #expect(SystemMonotonicClock().now() - start < 30_000_000_000)
    }

    @Test(
        "What is mounted later is served, and what is unmounted is gone",
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

    @Test("Mounts at, above and below the folder matter, and no others")
    func mountTable() {
        let lines = """
            22 1 8:1 / / rw - ext4 /dev/sda1 rw
            30 22 8:2 / /srv rw,relatime shared:1 - ext4 /dev/sda2 rw
            31 30 8:3 / /srv/my\\040music rw - ext4 /dev/sdb1 rw
            32 31 8:4 /a /srv/my\\040music/disk rw - ext4 /dev/sdc1 rw
            33 30 8:5 / /srv/my\\040musicals rw - ext4 /dev/sdd1 rw
            34 22 8:6 / /home rw - ext4 /dev/sde1 rw
            """
        let found = MountTable.mounts(in: Array(lines.utf8), around: "/srv/my music")
        #expect(found.map { $0.prefix { $0 != " " } } == ["22", "30", "31", "32"])
        #expect(MountTable.mounts(in: Array(lines.utf8), around: "/").count == 6)
    }

    @Test("When the kernel has lost events, everything is looked at")
    func overflow() throws {
        let limit = try #require(
            Int(
                try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
                    .trimmingCharacters(in: .whitespacesAndNewlines)))
        let watch = try FolderWatch()
        _ = watch.add(folder["music"])
        // Two events for each pair of names: equal ones in a row would be one.
        for index in 0...(limit / 2) {
            let name = folder["music/\(index % 2).flac"]
            close(Glibc.open(name, O_WRONLY | O_CREAT, 0o644))
            unlink(name)
        }
        let changes = watch.wait(milliseconds: Int(Deadline().milliseconds), try Cancellation())
        #expect(changes?.isAll == true)
    }
}
