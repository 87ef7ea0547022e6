import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@testable import Library

@Suite("Changes of a music folder")
struct FolderWatchTests {
    private let folder: ScratchFolder
    private let files = FileManager.default

    init() throws {
        folder = try ScratchFolder()
        for name in ["music", "aside/album/disc"] {
            try files.createDirectory(atPath: folder[name], withIntermediateDirectories: true)
        }
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

    @Test("Other permissions of a file or a folder are a change, and so is another time")
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
        func found(_ folders: String...) -> [String] {
            MountTable.mounts(in: Array(lines.utf8), around: folders.map { Array($0.utf8) })
                .map { String(decoding: $0.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self) }
        }
        #expect(found("/srv/my music") == ["22", "30", "31", "32"])
        #expect(found("/srv/my music", "/home") == ["22", "30", "31", "32", "34"])
        #expect(found("/").count == 6)
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

    /// The time alone, as `touch -d` does.
    private func setTime(of path: String) {
        let time = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
    }
}
