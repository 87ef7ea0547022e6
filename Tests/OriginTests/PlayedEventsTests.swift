import Foundation
import Platform
import ProgramTestSupport
import TestSupport
import Testing

/// The daemon plays products of the origin, and the origin learns of it (docs/playback.md, 19).
@Suite("Events of the daemon")
struct PlayedEventsTests {
    private let folder: ScratchFolder
    private let program: Program
    private let album = [Music(frames: 60_000, seed: 1), Music(frames: 44_100, seed: 2)]

    init() throws {
        folder = try ScratchFolder()
        program = try Program()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        for (index, music) in album.enumerated() {
            try music.writeFLAC(
                to: folder["music/\(index + 1).flac"], ["--tag=TITLE=Song \(index + 1)", "--tag=ARTIST=Anna"])
        }
    }

    private func daemon(_ address: String, _ settings: String = "") throws -> RunningDaemon {
        try RunningDaemon(
            device: "file:FILE=\(program.folder["out"]),FORMAT=raw",
            settings: "[service]\nurl = \(address)\n[offline]\nfree-space = 0\n\(settings)\n", in: program)
    }

    /// Plays products to their end.
    private func play(_ daemon: RunningDaemon, _ products: [String]) throws {
        let watch = try daemon.watch()
        let answer = try daemon.run(["queue", "set", "--play"] + products)
        #expect(answer.code == 0, "\(answer.errors)")
        try watch.line { $0["event"]?.string == "state" && $0["state"]?.string == "playing" }
        try watch.line { $0["event"]?.string == "state" && $0["state"]?.string == "stopped" }
        watch.send(SIGTERM)
        _ = try watch.finish()
    }

    private func outbox(_ daemon: RunningDaemon) throws -> JSONValue {
        try #require(try daemon.run("events", "--json").json().first)
    }

    /// The events that the origin has, in their order.
    private func received() throws -> [JSONValue] {
        try TestProcess.run(
            TestProcess.path(of: "tonearm-origin"), ["events", "--json", "--state", folder["state"]]
        ).text.split(separator: "\n").map { try JSONValue.parse(String($0)) }
    }

    @Test("Plays wait while the service is away, and arrive after it is back, in order, each once")
    func arrive() throws {
        let origin = try RunningOrigin(folder["music"], state: folder["state"])
        let address = origin.address
        let port = try #require(address.split(separator: ":").last.map(String.init))
        let first = try daemon(address)
        let added = try first.run("offline", "add", "tonearm:track/1", "tonearm:track/2")
        #expect(added.code == 0, "\(added.errors)")
        _ = try first.run("offline", "status", "--watch", "--json")
        try origin.end()
        try FileManager.default.copyItem(atPath: folder["music/1.flac"], toPath: program.folder["local.flac"])
        try play(first, ["tonearm:track/1", program.folder["local.flac"], "tonearm:track/2"])
        var status = JSONValue.null
        try waitUntil("the sessions have ended in the outbox") {
            status = (try? outbox(first)) ?? .null
            // Two downloads with four events each, which a slow machine may have sent before, and two plays with five.
            return (status["waiting"]?.integer ?? 0) + (status["sent"]?.integer ?? 0) == 18
        }
        #expect(status["waiting"]?.integer ?? 0 >= 10, "\(status.serialized())")
        _ = try first.end()

        let again = try RunningOrigin(
            folder["music"], state: folder["state"], options: ["--port", port])
        let second = try daemon(address)
        try waitUntil("the events are delivered") {
            status = (try? outbox(second)) ?? .null
            // At its start the daemon has not counted them yet.
            return status["sent"] == 18
        }
        #expect(status["waiting"] == 0)
        #expect(status["dropped"] == 0 && status["refused"] == 0)
        let events = try received()
        #expect(Set(events.compactMap { $0["uuid"]?.string }).count == 18)
        let logs = events.compactMap { $0["payload"] }.filter { $0["playbackSessionId"] != nil }
        #expect(logs.map { $0["actualProductId"]?.string } == ["1", "2"])
        for (log, music) in zip(logs, album) {
            let seconds = Double(music.frames) / 44_100
            #expect(abs((log["endAssetPosition"]?.number ?? 0) - seconds) < 0.001)
            #expect(log["startAssetPosition"]?.number == 0)
        }
        let statistics = events.compactMap { $0["payload"] }.filter { $0["mediaStorage"] != nil }
        #expect(statistics.map { $0["mediaStorage"]?.string } == ["DEVICE_INTERNAL", "DEVICE_INTERNAL"])
        let text = try TestProcess.run(
            TestProcess.path(of: "tonearm-origin"), ["events", "--state", folder["state"]]
        ).text
        #expect(text.contains("Anna: Song 1") && text.contains("Anna: Song 2"), "\(text)")
        _ = try second.end()
        try again.end()
    }

    @Test("Events that the user refuses are not recorded")
    func refused() throws {
        let origin = try RunningOrigin(folder["music"], state: folder["state"])
        let daemon = try daemon(origin.address, "[events]\nplay-log = no\nstatistics = no")
        try play(daemon, ["tonearm:track/1"])
        #expect(try outbox(daemon)["recorded"]?.elements?.isEmpty == true)
        #expect(try outbox(daemon)["waiting"] == 0)
        #expect(try daemon.run("events").output.contains("No events are recorded"))
        _ = try daemon.end()
        try origin.end()
    }
}
