import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Control

@Suite("Updates by requests (docs/control.md)")
struct UpdateRequestTests {
    private func fixture(_ system: PlayedSystem, _ settings: String = "") throws -> WebFixture {
        try WebFixture(settings: "\(system.updateSettings)\n\(settings)")
    }

    private let address = "https://updates.example/kitchen.update"
    private var named: String { #"{"address":"\#(address)"}"# }

    @Test("Without a folder of the system every request is refused in plain words")
    func noFolder() throws {
        let fixture = try WebFixture(settings: "[update]\naddress = \(address)")
        defer { fixture.end() }
        for name in ["update-status", "update", "update-cancel"] {
            let answer = try fixture.ask(name)
            #expect(answer.status == 409 && answer.code == "no-updates")
            let message = answer.json["error"]?["message"]?.string
            #expect(message == "this machine is not updated by requests: no [update] folder is configured")
        }
    }

    @Test("The status has what the system has reported, and the address of the configuration")
    func status() throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system, "address = \(address)")
        defer { fixture.end() }
        #expect(
            try fixture.ask("update-status").text
                == #"{"ok":true,"mode":null,"waiting":false,"version":null,"next":null,"done":null,"total":null,"#
                + #""problem":null,"address":"\#(address)"}"#)
        try system.write("state", "running=0.1.0\nmode=installing\ndone=150\ntotal=300\n")
        let installing = try fixture.ask("update-status").json
        #expect(installing["mode"] == "installing" && installing["version"] == "0.1.0")
        #expect(installing["done"] == 150 && installing["total"] == 300)
        try system.write("state", "running=0.1.0\nmode=failed\ncode=damaged\ntext=It is damaged.\nversion=0.9\n")
        let failed = try fixture.ask("update-status").json
        #expect(failed["problem"] == ["code": "damaged", "message": "It is damaged."] && failed["next"] == "0.9")
    }

    @Test("A request is a file that only its owner can read, and the system is told when it is there")
    func install() throws {
        let system = try PlayedSystem()
        let told = system.folder["told"]
        let fixture = try fixture(system, "command = cat \(system.folder["wanted"]) >\(told)")
        defer { fixture.end() }
        #expect(try fixture.ask("update", named).text == #"{"ok":true}"#)
        let wanted = "install\naddress=\(address)\n"
        #expect(system.wanted == wanted)
        let attributes = try FileManager.default.attributesOfItem(atPath: system.folder["wanted"])
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        expectSoon("the command of the system") { (try? String(contentsOfFile: told, encoding: .utf8)) == wanted }
    }

    @Test("Without an address that of the configuration is used; without any there is a plain sentence")
    func standardAddress() throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system)
        defer { fixture.end() }
        let missing = try fixture.ask("update")
        #expect(missing.status == 400 && missing.code == "bad-request")
        #expect(missing.text.contains("address is missing: the configuration has none ([update] address)"))
        #expect(system.wanted == nil)
        let other = try PlayedSystem()
        let configured = try self.fixture(other, "address = \(address)")
        defer { configured.end() }
        try configured.ask("update")
        #expect(other.wanted == "install\naddress=\(address)\n")
    }

    @Test("A request waits until the system has reported after it: the failure before it is not that of the attempt")
    func waiting() throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system)
        defer { fixture.end() }
        let failed = "mode=failed\ncode=damaged\ntext=It is damaged.\n"
        try system.write("state", failed)
        func status() throws -> JSONValue { try fixture.ask("update-status").json }
        func isWaiting(_ status: JSONValue) -> Bool { status["waiting"] == true && status["problem"]?.isNull == true }
        #expect(try status()["problem"]?["code"] == "damaged")
        try fixture.ask("update", named)
        #expect(isWaiting(try status()))
        // The end of something that was begun before.
        try system.write("state", "\(failed)version=0.9\n")
        #expect(isWaiting(try status()))
        // Nothing has begun: another request takes its place.
        try fixture.ask("update", #"{"address":"https://a/b"}"#)
        #expect(system.wanted == "install\naddress=https://a/b\n")
        try system.take()
        #expect(isWaiting(try status()))
        #expect(try fixture.ask("update", named).code == "update-runs")
        try system.write("state", "mode=downloading\n")
        let downloading = try status()
        #expect(downloading["waiting"] == false && downloading["mode"] == "downloading")
        try system.write("state", failed)
        let ended = try status()
        #expect(ended["waiting"] == false && ended["problem"]?["code"] == "damaged")
    }

    @Test("A second one is refused in plain words while one runs", arguments: ["downloading", "installing"])
    func second(mode: String) throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system)
        defer { fixture.end() }
        try system.write("state", "mode=\(mode)\ndone=1\ntotal=100\n")
        let answer = try fixture.ask("update", named)
        #expect(answer.status == 409 && answer.code == "update-runs")
        #expect(answer.json["error"]?["message"] == "an update runs already: wait for its end, or cancel it")
        #expect(system.wanted == nil)
        try system.write("state", "mode=installed\nversion=0.9\n")
        #expect(try fixture.ask("update", named).status == 200)
    }

    @Test("A request to cancel withdraws one that waits, and has the system end one that runs")
    func cancel() throws {
        let system = try PlayedSystem()
        let told = system.folder["told"]
        let fixture = try fixture(system, "command = echo told >>\(told)")
        defer { fixture.end() }
        let flag = system.folder["cancel"]
        func isCancelled() -> Bool { FileManager.default.fileExists(atPath: flag) }
        // Nothing waits or runs.
        #expect(try fixture.ask("update-cancel").text == #"{"ok":true}"#)
        #expect(!isCancelled())
        try system.write("state", "mode=idle\n")
        try fixture.ask("update", named)
        #expect(try fixture.ask("update-cancel").status == 200)
        // The system may have taken it in this moment.
        #expect(system.wanted == nil && isCancelled())
        #expect(try fixture.ask("update-status").json["waiting"] == false)
        // Another update is not cancelled by it.
        try fixture.ask("update", named)
        #expect(system.wanted != nil && !isCancelled())
        try system.take()
        try system.write("state", "mode=downloading\n")
        #expect(try fixture.ask("update-cancel").status == 200)
        #expect(isCancelled())
        #expect(try fixture.ask("update-status").json["mode"] == "downloading")
        expectSoon("the command of the system") { (try? String(contentsOfFile: told, encoding: .utf8)) != nil }
    }

    @Test("A folder that cannot be used is a reason for the user")
    func unusable() throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system)
        defer { fixture.end() }
        try system.write("state", "mode=idle\n" + String(repeating: "x", count: 64 << 10))
        let large = try fixture.ask("update-status")
        #expect(large.status == 503 && large.code == "system" && large.text.contains("/state"))
        try FileManager.default.removeItem(atPath: system.folder.path)
        let missing = try fixture.ask("update", named)
        #expect(missing.status == 503 && missing.code == "system" && missing.text.contains("[update] folder"))
    }

    @Test("The settings are those of the file: no client changes them")
    func settings() throws {
        let fixture = try WebFixture()
        defer { fixture.end() }
        for (key, value) in [("folder", "/tmp"), ("command", "reboot"), ("address", "https://a/b")] {
            let answer = try fixture.ask("config-set", #"{"key":"update.\#(key)","value":"\#(value)"}"#)
            #expect(answer.code == "bad-setting" && answer.text.contains("can only be set in the file"))
        }
    }

    @Test("With a password of the page, updates need the login")
    func login() throws {
        let system = try PlayedSystem()
        let password = system.folder["password"]
        try Data("page password\n".utf8).write(to: URL(fileURLWithPath: password))
        let fixture = try WebFixture(settings: "password-file = \(password)\n\(system.updateSettings)")
        defer { fixture.end() }
        for name in ["update-status", "update", "update-cancel"] { #expect(try fixture.ask(name, named).status == 401) }
        #expect(system.wanted == nil)
    }
}
