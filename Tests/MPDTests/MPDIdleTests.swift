import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import MPD

/// Waits for changes again and again, as clients do, and notes with what it was woken.
// @unchecked: `lock` guards the list; the client belongs to the thread.
private final class Watcher: @unchecked Sendable {
    private let client: MPDTestClient
    private let lock = NSLock()
    private var woken: [String] = []

    init(_ client: MPDTestClient) throws {
        self.client = client
        try client.send("idle")
        Thread.detachNewThread { [self] in
            while let lines = try? client.answer() {
                let parts = lines.map { String($0.dropFirst("changed: ".count)) }.joined(separator: " ")
                lock.withLock { woken.append(parts) }
                if (try? client.send("idle")) == nil { return }
            }
        }
    }

    /// How it was woken until a client has made this change. The scan, which has a clock of its own, is left out.
    func wakes(before mark: String) throws -> [String] {
        func has(_ parts: String) -> Bool { parts.split(separator: " ").contains { $0 == mark } }
        try waitUntil("the change \(mark)") { self.lock.withLock { self.woken.contains(where: has) } }
        return lock.withLock {
            let others: Set<Substring> = [mark[...], "update", "database"]
            let all = woken.map { $0.split(separator: " ").filter { !others.contains($0) }.joined(separator: " ") }
            woken = []
            return all.filter { !$0.isEmpty }
        }
    }
}

@Suite("MPD: what wakes a client (docs/mpd.md)")
struct MPDIdleTests {
    private func music(_ path: String) throws {
        for number in 1...3 {
            try TaggedFLAC.write(to: "\(path)/A/\(number).flac", ["TITLE=\(number)"], frames: 882_000)
        }
    }

    /// Commands, how often they may wake, and with what in all. The daemon knows what the player does in two steps:
    /// when it asks, and when the engine has done it.
    private static let steps: [(commands: [String], most: Int, parts: String)] = [
        (["add A"], 1, "playlist"),
        (["play"], 2, "player"),
        (["next"], 2, "player"),
        (["pause 1"], 2, "player"),
        (["pause 0"], 2, "player"),
        (["seekcur 2"], 2, "player"),
        (["repeat 1"], 1, "options"),
        (["repeat 1"], 0, ""),
        (["random 0"], 0, ""),
        (["replay_gain_mode track"], 1, "options"),
        (["add A/1.flac"], 1, "playlist"),
        (["clear"], 2, "playlist player"),
        (["clear"], 0, ""),
        (["load Evening", "play"], 3, "playlist player"),
        (["save Night"], 1, "stored_playlist"),
        (["command_list_begin\nclear\nadd A\nplay\ncommand_list_end"], 2, "playlist player"),
        (["stop"], 2, "player"),
        (["stop"], 0, ""),
        (["command_list_begin\nclear\nadd A\nclear\ncommand_list_end"], 1, "playlist"),
        (["single 1", "single 0"], 2, "options"),
    ]

    @Test("Each change wakes once, and only for what has changed")
    func wakes() throws {
        let fixture = try MPDFixture(music)
        defer { fixture.end() }
        let client = try fixture.connect()
        fixture.waitForSongs(3, client)
        try client.ask("playlistadd Evening A")
        // The end of the scan wakes, too.
        try waitUntil("the end of the scan") {
            try client.ask("status").allSatisfy { !$0.hasPrefix("updating_db") }
        }
        fixture.daemon.settle()
        let watcher = try Watcher(try fixture.connect())
        try client.ask("subscribe start")
        _ = try watcher.wakes(before: "subscription")
        for (number, step) in Self.steps.enumerated() {
            for command in step.commands {
                #expect(try client.ask(command).allSatisfy { !$0.hasPrefix("ACK") })
                if try client.value("state", of: "status") == "play" { fixture.daemon.waitForSound() }
            }
            fixture.daemon.settle()
            fixture.daemon.settle()
            try client.ask("\(number % 2 == 0 ? "" : "un")subscribe mark")
            let wakes = try watcher.wakes(before: "subscription")
            #expect(wakes.count <= step.most, "\(step.commands): \(wakes)")
            let parts = Set(wakes.flatMap { $0.split(separator: " ") })
            #expect(parts == Set(step.parts.split(separator: " ")), "\(step.commands): \(wakes)")
        }
    }

    @Test("MPD wakes for the same parts", MPDPeer.isInstalled)
    func peer() throws {
        let scratch = try ScratchFolder()
        try music(scratch["music"])
        let peer = try MPDPeer(music: scratch["music"])
        func connect() throws -> MPDTestClient {
            let client = try MPDTestClient(try StreamSocket(connectingTo: peer.socketPath))
            _ = try client.line()
            return client
        }
        let client = try connect()
        try client.ask("playlistadd Evening A/1.flac")
        let watcher = try Watcher(try connect())
        for (number, step) in Self.steps.enumerated() {
            for command in step.commands { #expect(try client.ask(command).allSatisfy { !$0.hasPrefix("ACK") }) }
            try client.ask("\(number % 2 == 0 ? "" : "un")subscribe mark")
            let wakes = try watcher.wakes(before: "subscription")
            var parts = Set(wakes.flatMap { $0.split(separator: " ") })
            // MPD counts a version of the empty queue. Its player wakes when its thread gets there, perhaps in the next
            // step.
            if step.parts.isEmpty { parts.remove("playlist") }
            let expected = Set(step.parts.split(separator: " ")).subtracting(["player"])
            #expect(parts.subtracting(["player"]) == expected, "\(step.commands): \(wakes)")
        }
    }
}
