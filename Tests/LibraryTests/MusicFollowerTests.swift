import Foundation
import Platform
import TestSupport
import Testing

@testable import Library

@Suite("Following music folders")
struct MusicFollowerTests {
    private let scratch: ScratchFolder
    private let index: MusicIndex

    init() throws {
        scratch = try ScratchFolder()
        index = try MusicIndex(scratch["library.db"])
    }

    /// Follows folders on a thread while `body` runs.
    private func following(_ folders: [String], _ body: (ScanRequests, ScanControl) throws -> Void) throws {
        let (requests, control, cancellation) = (try ScanRequests(), ScanControl(), try Cancellation())
        let thread = try NamedThread.start(name: "library") { [index] in
            let follower = MusicFollower(
                index, folders: folders, rules: .player, requests: requests, control: control,
                seconds: { 2_000_000_000 })
            do {
                try follower.follow(cancellation) { _ in
                } failed: {
                    Issue.record($0)
                }
            } catch { Issue.record(error) }
        }
        defer {
            cancellation.cancel()
            thread.joinOrEndRun()
        }
        try waitUntil("the first scan") { control.progress.finished > 0 }
        try body(requests, control)
    }

    private var count: Int64 { get throws { try index.count(.tracks) } }

    @Test("A requested scan runs and is counted, although nothing has changed")
    func requested() throws {
        try Folder.create(scratch["music"])
        try following([scratch["music"], scratch["missing"]]) { requests, control in
            requests.addAll()
            try waitUntil("the scan") { control.progress.finished > 1 }
        }
    }

    @Test("A music folder that is renamed, or removed and made again, is noticed")
    func renamed() throws {
        let music = scratch["above/music"]
        func write(_ title: String) throws {
            try Folder.create(music)
            try MusicFolder.flac(["TITLE=\(title)"]).write(to: URL(fileURLWithPath: "\(music)/\(title).flac"))
        }
        try write("a")
        try following([music]) { _, _ in
            let files = FileManager.default
            #expect(try count == 1)
            try files.moveItem(atPath: music, toPath: scratch["above/other"])
            try waitUntil("the end of the folder") { try count == 0 }
            try files.moveItem(atPath: scratch["above/other"], toPath: music)
            try waitUntil("its return") { try count == 1 }
            try write("b")
            try waitUntil("a file in it") { try count == 2 }
            try files.removeItem(atPath: music)
            try waitUntil("its removal") { try count == 0 }
            try write("c")
            try waitUntil("the new folder") { try count == 1 }
            // A folder above it.
            try files.moveItem(atPath: scratch["above"], toPath: scratch["aside"])
            try waitUntil("the end of the folder above") { try count == 0 }
            try files.moveItem(atPath: scratch["aside"], toPath: scratch["above"])
            try waitUntil("its return") { try count == 1 }
        }
    }

    @Test(
        "A folder that is a link to nothing comes with the first medium below it, and goes with it",
        .enabled(if: Medium.isAvailable, "needs to mount file systems"))
    func link() throws {
        try FileManager.default.createSymbolicLink(
            atPath: scratch["media"], withDestinationPath: scratch["run/media"])
        try following([scratch["media"]]) { _, _ in
            do {
                let medium = try Medium(at: scratch["run/media/STICK"], kilobytes: 256)
                try MusicFolder.flac(["TITLE=A"]).write(to: URL(fileURLWithPath: "\(medium.path)/a.flac"))
                try waitUntil("the track") { try count == 1 }
            }
            try waitUntil("the end of the medium") { try count == 0 }
        }
    }
}
