import Foundation
import Platform
import ProgramTestSupport
import TestSupport
import Testing

/// `tonearm offline` as a person uses it, with a daemon and an origin (docs/playback.md, 16).
@Suite("Downloads of products by command", .serialized)
struct OfflineCommandsTests {
    private let folder: ScratchFolder
    private let program: Program

    init() throws {
        folder = try ScratchFolder()
        program = try Program()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        // The album's order is not that of the ids.
        for (id, tags) in [
            (1, ["ALBUM=Works", "ALBUMARTIST=Anna", "TRACKNUMBER=3"]),
            (2, ["ALBUM=Works", "ALBUMARTIST=Anna", "TRACKNUMBER=1"]),
            (3, ["ALBUM=Works", "ALBUMARTIST=Anna", "TRACKNUMBER=2"]),
            (4, ["ALBUM=Else", "ALBUMARTIST=Zoe", "TRACKNUMBER=1"]),
        ] {
            try Music(frames: 50_000, seed: UInt64(id)).writeFLAC(
                to: folder["music/\(id).flac"], tags.map { "--tag=\($0)" })
        }
    }

    private func origin(_ options: String...) throws -> RunningOrigin {
        try RunningOrigin(folder["music"], state: folder["state"], options: ["--manifest", "bts"] + options)
    }

    /// - Parameter more: lines of the configuration, in `[offline]`.
    private func daemon(_ address: String, _ more: String = "") throws -> RunningDaemon {
        try RunningDaemon(
            settings: """
                [service]
                url = \(address)
                [offline]
                free-space = 0
                \(more)
                """, in: program)
    }

    private func track(_ id: Int) -> String { "tonearm:track/\(id)" }

    /// - Returns: the lines for a person.
    private func offline(_ daemon: RunningDaemon, _ words: String..., exitCode: Int32 = 0) throws -> [String] {
        let result = try daemon.run(["offline"] + words)
        #expect(result.code == exitCode, "\(words): \(result.output) \(result.errors)")
        return result.lines
    }

    /// Products and their states: first the downloads in the order of the requests, then the offline copies.
    private func list(_ daemon: RunningDaemon) throws -> [String] {
        let result = try daemon.run("offline", "list", "--json")
        #expect(result.code == 0, "\(result.errors)")
        return try result.json().flatMap { $0["entries"]?.elements ?? [] }.map {
            "\($0["product"]?.string ?? "?") \($0["state"]?.string ?? "?")"
        }
    }

    /// Waits until no download is left.
    private func waitForCopies(_ daemon: RunningDaemon, count: Int64) throws {
        let watch = try daemon.run("offline", "status", "--watch", "--json")
        #expect(try watch.json().last?["kept"]?.integer == count, "\(watch.output) \(watch.errors)")
    }

    private func album(_ title: String, of origin: RunningOrigin) throws -> String {
        let albums = try Fetched("\(origin.address)/v1/albums").json()["items"]?.elements ?? []
        let id = albums.first { $0["title"]?.string == title }?["id"]?.integer
        return "tonearm:album/\(try #require(id))"
    }

    @Test("An album is its tracks in their order: added, added again, and removed")
    func album() throws {
        let origin = try origin()
        let daemon = try daemon(origin.address)
        let works = try album("Works", of: origin)
        let config = ["--config", "tonearm.conf"]
        let added = try daemon.run(["offline", "add", works] + config)
        #expect(added.code == 0 && added.lines == ["3 to download."], "\(added)")
        try waitForCopies(daemon, count: 3)
        #expect(try list(daemon) == [1, 2, 3].map { "\(track($0)) kept" })
        let again = try daemon.run(["offline", "add", track(4), works] + config)
        #expect(again.lines == ["1 to download.", "3 there or on their way already."], "\(again)")
        try waitForCopies(daemon, count: 4)
        let verified = try daemon.run(["offline", "verify", works] + config)
        #expect(verified.code == 0 && verified.lines == ["3 products are whole."], "\(verified)")
        let removed = try daemon.run(["offline", "remove", works] + config)
        #expect(removed.code == 0 && removed.lines == ["3 removed."], "\(removed)")
        #expect(try list(daemon) == ["\(track(4)) kept"])
        let unknown = try daemon.run(["offline", "add", "tonearm:album/99"] + config)
        #expect(unknown.code == 1 && unknown.errors.contains(origin.address), "\(unknown)")
        #expect(try offline(daemon, "remove", "--all") == ["All removed."])
        #expect(try offline(daemon, "remove", "--all") == ["There was nothing to do."])
        #expect(try list(daemon) == [])
        #expect(try daemon.end().code == 0)
    }

    @Test("Downloads of an album that the service does not answer for are paused, resumed and removed by hand")
    func pauses() throws {
        try Data("[fault down]\npath = /v1/tracks/*/playbackinfo\nstall-after = 0\n".utf8).write(
            to: URL(fileURLWithPath: folder["faults"]))
        let silent = try origin("--faults", folder["faults"])
        let port = try #require(silent.address.split(separator: ":").last)
        let daemon = try daemon(silent.address)
        let added = try daemon.run(
            ["offline", "add", try album("Works", of: silent), "--config", "tonearm.conf"])
        #expect(added.lines == ["3 to download."], "\(added)")
        #expect(try offline(daemon, "pause", track(2)) == ["1 paused."])
        #expect(try offline(daemon, "pause", track(2), track(4)) == ["2 not on their way."])
        let watch = try program.start(["offline", "status", "--watch", "--json", "--socket", daemon.socket])
        try watch.line { $0["downloads"]?.integer == 2 }
        #expect(try offline(daemon, "pause", "--all") == ["All paused."])
        #expect(try offline(daemon, "pause", "--all") == ["There was nothing to do."])
        let watched = try watch.finish()
        #expect(try watched.code == 0 && watched.json().last?["downloads"]?.integer == 0, "\(watched)")
        // In the order of the album.
        #expect(try list(daemon) == [2, 3, 1].map { "\(track($0)) paused" })
        #expect(try offline(daemon, "remove", track(3)) == ["1 removed."])
        #expect(try offline(daemon, "remove", track(3)) == ["1 without an offline copy."])
        try silent.end()
        let origin = try origin("--port", String(port))
        #expect(try offline(daemon, "resume", track(2)) == ["1 resumed."])
        try waitForCopies(daemon, count: 1)
        #expect(try list(daemon) == ["\(track(1)) paused", "\(track(2)) kept"])
        #expect(try offline(daemon, "resume", "--all") == ["All resumed."])
        try waitForCopies(daemon, count: 2)
        #expect(try offline(daemon, "resume", track(1)) == ["1 neither paused nor failed."])
        #expect(try list(daemon) == [1, 2].map { "\(track($0)) kept" })
        #expect(try daemon.end().code == 0)
        try origin.end()
    }

    @Test("With keep-played a product is downloaded once it has ended by itself; one that was left before is not")
    func downloadPlayed() throws {
        let origin = try origin()
        let daemon = try daemon(origin.address, "keep-played = yes")
        let watch = try daemon.watch()
        let set = try daemon.run("queue", "set", "--play", track(1), track(4), "tonearm:track/99")
        #expect(set.code == 0, "\(set.errors)")
        try watch.line { $0["event"]?.string == "state" && $0["state"]?.string == "playing" }
        try watch.line { $0["event"]?.string == "state" && $0["state"]?.string == "stopped" }
        watch.send(SIGTERM)
        _ = try watch.finish()
        try waitForCopies(daemon, count: 2)
        #expect(try list(daemon) == ["\(track(1)) kept", "\(track(4)) kept"])
        #expect(try daemon.end().code == 0)
    }

    @Test("A damaged copy is found by verify, reported, and downloaded again")
    func damaged() throws {
        let origin = try origin()
        let daemon = try daemon(origin.address)
        #expect(try offline(daemon, "verify") == ["There are no offline copies."])
        _ = try offline(daemon, "add", track(1))
        try waitForCopies(daemon, count: 1)
        try flipBit(ofFile: onlyOfflineCopy(in: program.folder["daemon/offline"])) { $0 / 2 }
        _ = try offline(daemon, "add", track(4))
        try waitForCopies(daemon, count: 2)
        let answer = try daemon.run("offline", "verify")
        #expect(answer.code == 1)
        #expect(answer.errors.contains("\(track(1)): a part of it is damaged; it is downloaded again"), "\(answer)")
        #expect(answer.errors.contains("1 of 2 products are damaged."), "\(answer)")
        #expect(!answer.errors.contains(track(4)))
        try waitForCopies(daemon, count: 2)
        #expect(try list(daemon) == ["\(track(1)) kept", "\(track(4)) kept"])
        let status = try daemon.run("offline", "status", "--json").json()
        #expect(status.count == 1 && status[0]["kept"]?.integer == 2 && status[0]["running"]?.elements == [])
        let whole = try daemon.run("offline", "verify", "--json")
        #expect(whole.code == 0)
        #expect(try whole.json().map { $0["whole"]?.boolean } == [true, true])
        #expect(try daemon.end().code == 0)
    }
}
