import ApplianceTestSupport
import Foundation
import OutputTestSupport
import Platform
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import Control

@Suite("The events of the control socket")
struct RemoteEventTests {
    private let fixture: RemoteFixture
    private let tracks: Tracks
    private let client: JSONClient

    init() throws {
        fixture = try RemoteFixture()
        tracks = try Tracks()
        client = try fixture.connect()
    }

    private func play(_ word: String, frames: Int = 4000) throws {
        let paths = try tracks.make(word, frames: frames).map { "{\"path\":\"\($0.productId)\"}" }.joined(
            separator: ",")
        try fixture.connect().ask("queue-set", "\"products\":[\(paths)],\"play\":true")
    }

    @Test("A subscriber gets the status at once, and then only the events that it asked for")
    func subscription() throws {
        defer { fixture.shutDown() }
        let reply = try client.ask("subscribe", "\"events\":[\"volume\"]")
        #expect(reply["state"] == "stopped" && reply["count"] == 0 && reply["volume"] == 100)
        let other = try fixture.connect()
        try other.ask("repeat", "\"mode\":\"all\"")
        try other.ask("volume", "\"percent\":40")
        #expect(try client.line() == #"{"event":"volume","volume":40,"maximumVolume":100,"muted":false,"path":null}"#)
        try client.ask("unsubscribe")
        try other.ask("volume", "\"percent\":30")
        #expect(try client.ask("status")["volume"] == 30)
    }

    @Test(
        "Events have the members that the document lists",
        arguments: [
            ("state", ["state", "file", "position", "focus", "power", "network", "link", "device", "path"]),
            (
                "track",
                [
                    "entry", "index", "count", "file", "title", "artist", "album", "duration", "format", "device",
                    "path",
                ]
            ),
            ("queue", ["entry", "index", "count", "shuffle", "repeat"]),
        ])
    func members(name: String, members: [String]) throws {
        defer { fixture.shutDown() }
        try client.ask("subscribe", "\"events\":[\"\(name)\"]")
        try play("a")
        #expect(try client.message().members?.map(\.name) == ["event"] + members)
    }

    @Test("The state follows the sound")
    func state() throws {
        defer { fixture.shutDown() }
        try client.ask("subscribe")
        try play("a")
        var event = try client.event("track")
        #expect(event["file"]?.string?.hasSuffix("a.flac") == true && event["duration"]?.number == 4)
        #expect(event["format"]?["sampleRate"] == 1000)
        try client.send("{\"request\":\"pause\"}\n")
        repeat { event = try client.event("state") } while event["state"] != "paused"
        try client.send("{\"request\":\"seek\",\"position\":1.5}\n")
        repeat { event = try client.event("position") } while event["position"]?.number == 0
        #expect(event["entry"] == 1 && event["position"] == 1.5)
    }

    @Test("An entry that cannot be played is reported with its reason")
    func failed() throws {
        defer { fixture.shutDown() }
        try client.ask("subscribe", "\"events\":[\"failed\"]")
        // The file begins like music.
        try Data("fLaC and nothing more".utf8).write(to: URL(fileURLWithPath: fixture.folder["X.flac"]))
        let products = "\"products\":[{\"path\":\"\(fixture.folder["X.flac"])\"}]"
        try fixture.connect().ask("queue-set", products + ",\"play\":true")
        let event = try client.message()
        #expect(event["event"] == "failed" && event["entry"] == 1 && event["file"]?.string?.hasSuffix("X.flac") == true)
        #expect(event["code"] == "m3" && event["message"]?.string?.isEmpty == false)
    }

    @Test("The position comes once a second, only while it plays and only to subscribers")
    func position() throws {
        defer { fixture.shutDown() }
        let other = try fixture.connect()
        try other.ask("subscribe", "\"events\":[\"state\"]")
        try play("a")
        try waitUntil("sound") { try other.event("state")["state"] == "playing" }
        // Without a subscriber, no timer runs.
        fixture.pass(seconds: 10)
        try client.ask("subscribe", "\"events\":[\"position\"]")
        for _ in 0..<3 {
            // The last event was sent before the next one was arranged.
            _ = fixture.withServer { $0.clientCount }
            fixture.pass(seconds: 0.9)
            fixture.pass(seconds: 0.1)
            #expect(try client.message()["event"] == "position")
        }
        try other.ask("pause")
        fixture.pass(seconds: 10)
        // No line between the last position and this reply.
        try client.send("{\"id\":\"end\",\"request\":\"version\"}\n")
        #expect(try client.message()["id"] == "end")
    }

    @Test("A subscriber that does not read is disconnected, and others are not disturbed")
    func silentSubscriber() throws {
        defer { fixture.shutDown() }
        let other = try fixture.connect()
        try client.ask("subscribe", "\"events\":[\"volume\",\"configuration\"]")
        #expect(fixture.withServer { $0.clientCount } == 2)
        var changes = 0
        while fixture.withServer({ $0.clientCount }) == 2 {
            let reply = try other.ask("config-set", "\"key\":\"audio.pre-amp\",\"value\":\"\(changes % 2) dB\"")
            try #require(reply["ok"] == true, "\(reply)")
            changes += 1
            try #require(changes < 10_000)
        }
        #expect(try other.ask("version")["ok"] == true)
        // Bytes that the system had already are still there, in whole lines up to the last one.
        var events = 0
        while let line = try? client.line(), line.hasPrefix("{\"event\":") { events += 1 }
        // Each change is also one of the path, which the event of the volume contains.
        #expect(events > 10 && events < 2 * changes)
    }

    @Test("A setting of loudness sends the event of the volume, which contains the path")
    func loudnessSetting() throws {
        defer { fixture.shutDown() }
        let other = try fixture.connect()
        try client.ask("subscribe", "\"events\":[\"volume\"]")
        for (key, value) in [("pre-amp", "2 dB"), ("normalization", "track")] {
            try other.ask("config-set", "\"key\":\"audio.\(key)\",\"value\":\"\(value)\"")
            let event = try client.message()
            #expect(event["event"] == "volume" && event["path"] != nil)
        }
    }

    @Test("Focus: the device is free when the reply comes; held focus ends with the connection")
    func focus() throws {
        defer { fixture.shutDown() }
        try play("a")
        let doorbell = try fixture.connect()
        let assistant = try fixture.connect()
        try client.ask("subscribe", "\"events\":[\"state\"]")
        #expect(try doorbell.ask("focus", "\"level\":\"none\",\"hold\":true")["ok"] == true)
        #expect(!fixture.card.isOpen)
        #expect(try client.ask("status")["focus"] == "none")
        try assistant.ask("focus", "\"level\":\"background\",\"hold\":true")
        // The client closes without a message, as in a crash.
        doorbell.finishSending()
        #expect(try doorbell.line() == nil)
        #expect(try client.ask("status")["focus"] == "background")
        try assistant.ask("focus", "\"level\":\"full\",\"hold\":true")
        #expect(try client.ask("status")["focus"] == "full")
        try assistant.ask("focus", "\"level\":\"background\"")
        assistant.finishSending()
        #expect(try assistant.line() == nil)
        #expect(try client.ask("status")["focus"] == "background")
    }

    @Test("The configuration: read, overridden by a client, and reset")
    func configuration() throws {
        defer { fixture.shutDown() }
        let key = "\"key\":\"audio.maximum-volume\""
        func setting() throws -> JSONValue? { try client.ask("config-get", key)["settings"]?[0] }
        #expect(try setting()?["value"] == "100 %" && setting()?["origin"] == "default")
        #expect(try client.ask("config-set", key + ",\"value\":\"50 %\"")["inForce"] == true)
        #expect(try setting()?["value"] == "50 %" && setting()?["origin"] != "default")
        #expect(try client.ask("status")["maximumVolume"] == 50)
        #expect(try client.ask("config-set", key + ",\"value\":\"500 %\"").errorCode == "bad-setting")
        #expect(try client.ask("config-unset", key)["inForce"] == true)
        #expect(try setting()?["origin"] == "default")
        #expect(try client.ask("config-set", "\"key\":\"audio.buffer\",\"value\":\"100 ms\"")["inForce"] == false)
        let socket = "\"key\":\"control.socket\""
        let refused = try client.ask("config-set", socket + ",\"value\":\"/run/other\"")
        #expect(
            refused.errorCode == "bad-setting" && refused.errorMessage == "[control] socket can only be set in the file"
        )
        #expect(try client.ask("config-unset", socket)["error"] == refused["error"])
        #expect(try client.ask("config-unset", "\"key\":\"audio.device\"")["inForce"] == true)
        #expect(try client.ask("config-get")["settings"]?.elements?.count == SettingName.allCases.count)
    }
}
