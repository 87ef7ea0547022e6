import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Control

@Suite("Wi-Fi by requests (docs/control.md)")
struct WiFiRequestTests {
    private func fixture(_ system: PlayedSystem) throws -> WebFixture { try WebFixture(settings: system.settings) }

    private let home = #"{"ssid":"home","password":"correct horse"}"#

    @Test("Without a folder of the system every request is refused in plain words")
    func noFolder() throws {
        let fixture = try WebFixture()
        defer { fixture.end() }
        for (name, fields) in [
            ("wifi-status", "{}"), ("wifi-scan", "{}"), ("wifi-connect", home), ("wifi-forget", #"{"ssid":"home"}"#),
        ] {
            let answer = try fixture.ask(name, fields)
            #expect(answer.status == 409 && answer.code == "no-wifi")
            let message = answer.json["error"]?["message"]?.string
            #expect(
                message == "Wi-Fi is not set up by requests on this machine: no [network] wifi-folder is configured")
        }
    }

    @Test("The status has what the system has reported")
    func status() throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system)
        defer { fixture.end() }
        let nothing = try fixture.ask("wifi-status")
        #expect(
            nothing.text
                == #"{"ok":true,"mode":null,"waiting":false,"ssid":null,"accessPoint":null,"address":null,"#
                + #""failed":null,"networks":[],"known":[]}"#)
        try system.write(
            "state",
            "mode=access-point\naccess-point=Tonearm-1A2B\naddress=10.83.84.1\nfailed=ff61\nproblem=wrong-password\n")
        try system.write("networks", "-57 wpa2 686f6d65\n-70 open ff61\n")
        try system.write("known", "file 686f6d65\npage ff61\n")
        let read = try fixture.ask("wifi-status").json
        #expect(read["mode"] == "access-point" && read["accessPoint"] == "Tonearm-1A2B")
        #expect(read["address"] == "10.83.84.1" && read["ssid"]?.isNull == true)
        #expect(read["failed"] == ["ssid": "\u{EFFF}a", "problem": "wrong-password"])
        #expect(
            read["networks"] == [
                ["ssid": "home", "signal": -57, "security": "wpa2"],
                ["ssid": "\u{EFFF}a", "signal": -70, "security": "open"],
            ])
        #expect(
            read["known"] == [["ssid": "home", "forgettable": false], ["ssid": "\u{EFFF}a", "forgettable": true]])
    }

    @Test("The largest reports fit into a line; more than 64 KiB of one are an error with the file's name")
    func sizes() throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system)
        defer { fixture.end() }
        for byte in ["01", "80"] {
            let names = (0..<70).map { String(repeating: byte, count: 31) + hexadecimal([UInt8($0) + 0x80]) }
            try system.write("networks", names.map { "-57 wpa2+wpa3 \($0)\n" }.joined())
            try system.write("known", names.map { "page \($0)\n" }.joined())
            let read = try fixture.ask("wifi-status").json
            let texts = (read["networks"]?.elements ?? []).compactMap { $0["ssid"]?.string }
            #expect(texts.map { hexadecimal(FileName.bytes(of: $0)) } == Array(names[..<64]))
            #expect(read["known"]?.elements?.count == 64)
        }
        try system.write("state", "mode=off\n" + String(repeating: "x", count: 64 << 10))
        let answer = try fixture.ask("wifi-status")
        #expect(answer.status == 503 && answer.code == "system" && answer.text.contains("/state"))
    }

    @Test("A request to join a network is a file that only its owner can read; the answer does not repeat it")
    func connect() throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system)
        defer { fixture.end() }
        let answer = try fixture.ask("wifi-connect", home)
        #expect(answer.text == #"{"ok":true}"#)
        #expect(system.wanted == "join\nssid=686f6d65\npassword=636f727265637420686f727365\n")
        let attributes = try FileManager.default.attributesOfItem(atPath: system.folder["wanted"])
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let status = try fixture.ask("wifi-status")
        #expect(!status.text.contains("horse") && !status.text.contains("636f7272"))
        // A later one replaces it.
        try fixture.ask("wifi-connect", #"{"ssid":"\#u{EFFF}a","hidden":true}"#)
        #expect(system.wanted == "join\nssid=ff61\nhidden=yes\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: system.folder.path) == ["wanted"])
    }

    @Test("A request waits until the system has reported after it: the failure before it is not that of the attempt")
    func waiting() throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system)
        defer { fixture.end() }
        let failed = "failed=686f6d65\nproblem=wrong-password\n"
        try system.write("state", "mode=access-point\n\(failed)")
        func status() throws -> JSONValue { try fixture.ask("wifi-status").json }
        func isWaiting(_ status: JSONValue) -> Bool { status["waiting"] == true && status["failed"]?.isNull == true }
        #expect(try status()["failed"]?["problem"] == "wrong-password")
        try fixture.ask("wifi-connect", home)
        #expect(isWaiting(try status()))
        // The system reports something else before it begins.
        try system.write("state", "mode=access-point\naddress=10.83.84.1\n\(failed)")
        #expect(isWaiting(try status()))
        try fixture.ask("wifi-connect", home)
        try system.take()
        #expect(isWaiting(try status()))
        try system.write("state", "mode=trying\nssid=686f6d65\n")
        let trying = try status()
        #expect(trying["waiting"] == false && trying["mode"] == "trying" && trying["ssid"] == "home")
        try system.write("state", "mode=access-point\n\(failed)")
        let ended = try status()
        #expect(ended["waiting"] == false && ended["failed"]?["problem"] == "wrong-password")
    }

    @Test("A scan is passed on, but does not replace a request that waits")
    func scan() throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system)
        defer { fixture.end() }
        #expect(try fixture.ask("wifi-scan").text == #"{"ok":true}"#)
        #expect(system.wanted == "scan\n")
        #expect(try fixture.ask("wifi-status").json["waiting"] == true)
        try system.take()
        #expect(try fixture.ask("wifi-status").json["waiting"] == false)
        try fixture.ask("wifi-connect", home)
        #expect(try fixture.ask("wifi-scan").status == 200)
        #expect(system.wanted?.hasPrefix("join\n") == true)
    }

    @Test("A network that a user has named is forgotten; others are not")
    func forget() throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system)
        defer { fixture.end() }
        try system.write("known", "file 686f6d65\npage 78\n")
        let unknown = try fixture.ask("wifi-forget", #"{"ssid":"y"}"#)
        #expect(unknown.status == 404 && unknown.code == "no-such-entry")
        #expect(unknown.json["error"]?["message"] == "y: this network is not known")
        let file = try fixture.ask("wifi-forget", #"{"ssid":"home"}"#)
        #expect(file.status == 400 && file.text.contains("in the system's configuration"))
        #expect(system.wanted == nil)
        #expect(try fixture.ask("wifi-forget", #"{"ssid":"x"}"#).status == 200)
        #expect(system.wanted == "forget\nssid=78\n")
    }

    @Test("A network that cannot be joined in this way is refused at once")
    func unsuitable() throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system)
        defer { fixture.end() }
        try system.write("networks", "-57 wpa3 686f6d65\n-57 other 78\n-57 open 79\n")
        let noPassword = try fixture.ask("wifi-connect", #"{"ssid":"home"}"#)
        #expect(
            noPassword.code == "bad-request"
                && noPassword.text.contains("home: this network is not open: password is missing"))
        let other = try fixture.ask("wifi-connect", #"{"ssid":"x","password":"12345678"}"#)
        #expect(other.code == "bad-request" && other.text.contains("its security, WEP or 802.1X, is not supported"))
        #expect(system.wanted == nil)
        #expect(try fixture.ask("wifi-connect", #"{"ssid":"y"}"#).status == 200)
    }

    @Test("A folder that cannot be written is a reason for the user")
    func unwritable() throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system)
        defer { fixture.end() }
        try FileManager.default.removeItem(atPath: system.folder.path)
        let answer = try fixture.ask("wifi-connect", home)
        #expect(answer.status == 503 && answer.code == "system")
        #expect(answer.text.contains("[network] wifi-folder") && !answer.text.contains("horse"))
    }

    @Test("A request that a crash has left is removed at the start")
    func leftovers() throws {
        let system = try PlayedSystem()
        try system.write(".tonearm-0123456789abcdef.new", "join\n")
        let fixture = try fixture(system)
        defer { fixture.end() }
        try fixture.ask("wifi-status")
        #expect(try FileManager.default.contentsOfDirectory(atPath: system.folder.path).isEmpty)
    }

    @Test("With a password of the page, Wi-Fi needs the login")
    func login() throws {
        let system = try PlayedSystem()
        let password = system.folder["password"]
        try Data("page password\n".utf8).write(to: URL(fileURLWithPath: password))
        let fixture = try WebFixture(settings: "password-file = \(password)\n\(system.settings)")
        defer { fixture.end() }
        for name in ["wifi-status", "wifi-scan", "wifi-connect", "wifi-forget"] {
            #expect(try fixture.ask(name, home).status == 401)
        }
        #expect(system.wanted == nil)
    }
}
