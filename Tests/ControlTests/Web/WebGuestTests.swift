import ApplianceTestSupport
import Foundation
import HTTPServer
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Control

@Suite("Web: the rights of guests (docs/decisions/guests.md)")
struct WebGuestTests {
    /// The requests that are not about the music. Each other one is for guests.
    private static let ofSystem = [
        "machine", "network-restart", "power", "power-off", "restart", "service-cancel", "service-login",
        "service-logout", "system", "update", "update-cancel", "update-status",
    ]
    private static let ofWiFi = ["wifi-connect", "wifi-forget", "wifi-scan", "wifi-status"]

    private let folder: ScratchFolder
    private var commands: String { (try? String(contentsOfFile: folder["commands"], encoding: .utf8)) ?? "" }

    init() throws {
        folder = try ScratchFolder()
        try Data("page password\n".utf8).write(to: URL(fileURLWithPath: folder["password"]))
    }

    private func fixture(_ guests: String, hasPassword: Bool = false, _ more: String = "") throws -> WebFixture {
        let commands = ["power-off", "restart", "network-restart"].map { "\($0) = echo \($0) >>\(folder["commands"])" }
        return try WebFixture(
            settings: """
                guests = \(guests)
                \(hasPassword ? "password-file = \(folder["password"])" : "")
                [board]
                \(commands.joined(separator: "\n"))
                \(more)
                """)
    }

    @Test("Each request is about the music, the system, Wi-Fi or a setting")
    func kinds() {
        func names(_ kind: RequestKind) -> [String] {
            RemoteRequest.forms.filter { $0.kind == kind }.map { $0.name }.sorted()
        }
        #expect(names(.system) == Self.ofSystem)
        #expect(names(.wifi) == Self.ofWiFi)
        #expect(names(.setting) == ["config-set", "config-unset"])
    }

    @Test("Guests may send each request about the music, and no other one")
    func requests() throws {
        let fixture = try fixture("music-only")
        defer { fixture.end() }
        for name in WebRequest.names {
            let answer = try fixture.ask(name)
            let isRefused = (Self.ofSystem + Self.ofWiFi).contains(name)
            #expect((answer.code == "guest") == isRefused, "\(name): \(answer.text)")
            #expect((answer.status == 403) == isRefused, "\(name): \(answer.text)")
        }
        let restart = try fixture.ask("restart")
        #expect(
            restart.json["error"]?["message"]?.string
                == "guests may use the music alone ([web] guests). The rest needs a password, and none is set: set "
                + "[web] password-file; on an image write password.txt beside tonearm.conf")
        #expect(try fixture.get("/api/session").json["rights"] == ["music"])
        #expect(try fixture.get("/api/session").json["password"] == false)
        #expect(commands == "")
    }

    @Test("By default everybody may do everything, as long as there is no password")
    func everybody() throws {
        let fixture = try fixture("all")
        defer { fixture.end() }
        #expect(try fixture.get("/api/session").json["rights"] == ["music", "wifi", "system"])
        #expect(try fixture.ask("restart").status == 200)
        expectSoon("the command for the restart") { commands == "restart\n" }
    }

    @Test("With a password, guests use the music, and the login gives the rest until the logout")
    func login() throws {
        let fixture = try fixture("music-only", hasPassword: true)
        defer { fixture.end() }
        #expect(try fixture.ask("volume", #"{"percent":30}"#).status == 200)
        let events = try WebExchange(fixture.port, "GET", "/api/events")
        #expect(try events.event("status") != nil)
        let session = try fixture.get("/api/session").json
        #expect(session["login"] == false && session["rights"] == ["music"] && session["password"] == true)
        let refusal = try fixture.ask("restart")
        #expect(refusal.status == 401 && refusal.code == "login")
        let login = try fixture.ask("login", #"{"password":"page password"}"#)
        let cookie = try #require(login.headers["set-cookie"]?.split(separator: ";").first)
        #expect(try fixture.ask("restart", "{}", ["Cookie: \(cookie)"]).status == 200)
        let all = try fixture.get("/api/session", ["Cookie: \(cookie)"]).json
        #expect(all["rights"] == ["music", "wifi", "system"])
        try fixture.ask("logout", "{}", ["Cookie: \(cookie)"])
        #expect(try fixture.ask("restart", "{}", ["Cookie: \(cookie)"]).status == 401)
        expectSoon("the command for the restart") { commands == "restart\n" }
    }

    @Test("In the machine's own network for the set-up, guests choose the Wi-Fi; with a password after the login")
    func ownNetwork() throws {
        let system = try PlayedSystem()
        let wifi = system.settings
        let fixture = try fixture("music-only", wifi)
        defer { fixture.end() }
        let open = "mode=access-point\naccess-point=Tonearm-1A2B\naddress=127.0.0.1\n"
        let home = #"{"ssid":"home","password":"correct horse"}"#
        // At another address of the machine.
        try system.write("state", open.replacingOccurrences(of: "127.0.0.1", with: "10.43.0.1"))
        #expect(try fixture.ask("wifi-connect", home).code == "guest")
        try system.write("state", open)
        #expect(try fixture.ask("wifi-status").status == 200)
        #expect(try fixture.ask("wifi-connect", home).status == 200)
        #expect(system.wanted?.hasPrefix("join\n") == true)
        #expect(try fixture.ask("restart").code == "guest")
        #expect(try fixture.get("/api/session").json["rights"] == ["music", "wifi"])
        try system.write("state", "mode=connected\nssid=61\n")
        #expect(try fixture.ask("wifi-forget", #"{"ssid":"home"}"#).code == "guest")
        try system.write("state", open)
        let locked = try self.fixture("music-only", hasPassword: true, wifi)
        defer { locked.end() }
        #expect(try locked.ask("wifi-connect", home).code == "login")
    }

    @Test("Guests change settings of the music; limits only downwards, whoever has set them")
    func settings() throws {
        let fixture = try fixture("music-only", "[audio]\nmaximum-volume = 80 %")
        defer { fixture.end() }
        func set(_ key: String, _ value: String) throws -> String? {
            try fixture.ask("config-set", #"{"key":"\#(key)","value":"\#(value)"}"#).code
        }
        #expect(try set("audio.normalization", "album") == nil)
        #expect(try set("audio.normalization", "loud") == "bad-setting")
        #expect(try set("audio.device", "hw:1") == "guest")
        #expect(try set("web.guests", "all") == "bad-setting")
        #expect(try set("audio.maximum-volume", "40 %") == nil)
        let raised = try fixture.ask("config-set", #"{"key":"audio.maximum-volume","value":"60 %"}"#)
        #expect(raised.status == 403 && raised.text.contains("guests can only lower [audio] maximum-volume"))
        #expect(try fixture.ask("config-unset", #"{"key":"audio.maximum-volume"}"#).code == "guest")
        #expect(try fixture.ask("config-unset", #"{"key":"audio.normalization"}"#).status == 200)
        #expect(try set("audio.maximum-volume", "20 %") == nil)
    }

    @Test("Clients outside of private networks need the login for everything")
    func table() throws {
        for (guests, hasPassword, isLoggedIn, isPrivate, isInOwnNetwork, rights) in [
            ("all", false, false, true, false, ["music", "wifi", "system"]),
            ("all", true, false, true, true, nil), ("all", true, true, false, false, ["music", "wifi", "system"]),
            ("music-only", false, false, true, false, ["music"]),
            ("music-only", false, false, true, true, ["music", "wifi"]),
            ("music-only", false, false, false, true, nil), ("music-only", true, false, true, true, ["music"]),
            ("music-only", true, false, false, false, nil),
            ("music-only", true, true, false, false, ["music", "wifi", "system"]),
        ] as [(String, Bool, Bool, Bool, Bool, [String]?)] {
            let lines = "[web]\nguests = \(guests)\npassword-file = \(hasPassword ? folder["password"] : "none")"
            let access = WebAccess(try Configuration(parsing: Array(lines.utf8), file: "test"))
            let found = access.rights(isLoggedIn: isLoggedIn, isPrivate: isPrivate) { isInOwnNetwork }
            #expect(found?.names == rights, "\(guests) \(hasPassword) \(isLoggedIn) \(isPrivate) \(isInOwnNetwork)")
        }
    }
}
