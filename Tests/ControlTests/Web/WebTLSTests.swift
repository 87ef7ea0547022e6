import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Control

@Suite("Web: the page over TLS")
struct WebTLSTests {
    private let folder: ScratchFolder
    private let files: ServerCertificate

    init() throws {
        folder = try ScratchFolder()
        files = try ServerCertificate.of(.p256)
        try Data("open sesame\n".utf8).write(to: URL(fileURLWithPath: folder["password"]))
    }

    private var settings: String { "certificate = \(files.chain)\nkey = \(files.key)" }

    /// The answer that curl gets: the status, the head and the body.
    private func fetch(_ fixture: WebFixture, _ path: String, _ options: String...) throws -> (
        status: Int, head: String, body: String
    ) {
        let result = try TestProcess.run(
            "/usr/bin/curl",
            ["-sS", "--noproxy", "*", "--max-time", "60", "--cacert", files.authority, "-i"] + options
                + ["https://127.0.0.1:\(fixture.port)\(path)"])
        guard result.code == 0 else { throw Unexpected("curl: \(result.errors)") }
        let parts = result.text.components(separatedBy: "\r\n\r\n")
        return (Int(parts[0].split(separator: " ")[1]) ?? 0, parts[0], parts.dropFirst().joined(separator: "\r\n\r\n"))
    }

    @Test("The page, a request, and the events arrive; nothing makes browsers insist on TLS later")
    func page() throws {
        let fixture = try WebFixture(settings: settings) { folder in
            try Data("<!doctype html>".utf8).write(to: URL(fileURLWithPath: "\(folder["page"])/index.html"))
        }
        defer { fixture.end() }
        let page = try fetch(fixture, "/")
        #expect(page.status == 200 && page.body == "<!doctype html>")
        #expect(!page.head.lowercased().contains("strict-transport-security"))
        let volume = try fetch(
            fixture, "/api/volume", "-H", "Content-Type: application/json", "-d", #"{"percent":40}"#)
        #expect(volume.status == 200)
        let events = try TestProcess(
            "/usr/bin/curl",
            [
                "-sSN", "--noproxy", "*", "--cacert", files.authority,
                "https://127.0.0.1:\(fixture.port)/api/events?events=volume",
            ])
        defer { events.kill() }
        try events.line("the status") { $0.contains("\"volume\":40") }
        _ = try fetch(fixture, "/api/volume", "-H", "Content-Type: application/json", "-d", #"{"percent":30}"#)
        try events.line("the event") { $0.contains("\"volume\":30") }
        // The end of the daemon ends the stream as it should end.
        fixture.closeServer()
        #expect(try events.finish().code == 0)
    }

    @Test("The cookie of a login is for TLS alone, and the origin is that of TLS")
    func login() throws {
        let fixture = try WebFixture(settings: "\(settings)\npassword-file = \(folder["password"])")
        defer { fixture.end() }
        func post(_ name: String, _ body: String, _ options: String...) throws -> (status: Int, head: String) {
            let answer = try TestProcess.run(
                "/usr/bin/curl",
                [
                    "-sSi", "--noproxy", "*", "--max-time", "60", "--cacert", files.authority, "-d", body, "-H",
                    "Content-Type: application/json",
                ] + options + ["https://127.0.0.1:\(fixture.port)/api/\(name)"])
            return (Int(answer.text.split(separator: " ")[1]) ?? 0, answer.text)
        }
        #expect(try post("status", "{}").status == 401)
        let login = try post("login", #"{"password":"open sesame"}"#)
        let cookie = try #require(login.head.firstMatch(of: /Set-Cookie: (__Host-tonearm-session=\w+); ([^\r]*)/))
        #expect(cookie.2.split(separator: "; ").contains("Secure"))
        let session = "Cookie: \(cookie.1)"
        #expect(try post("status", "{}", "-H", session).status == 200)
        let text = try fetch(fixture, "/api/session").body
        let token = try #require(JSONValue.parse(Array(text.utf8))["token"]?.string)
        for (scheme, status) in [("https", 200), ("http", 403)] {
            let origin = "Origin: \(scheme)://127.0.0.1:\(fixture.port)"
            let answer = try post("status", "{}", "-H", session, "-H", origin, "-H", "Tonearm-Token: \(token)")
            #expect(answer.status == status, "\(scheme)")
        }
    }

    @Test("HTTP is refused, except at the address of the machine's own network while that is open")
    func captive() throws {
        let system = try PlayedSystem()
        let fixture = try WebFixture(settings: "\(settings)\n\(system.settings)")
        defer { fixture.end() }
        let foreign = ["Host: captive.apple.com"]
        let closed = try fixture.get("/hotspot-detect.html", foreign)
        #expect(closed.status == 400 && closed.text.contains("https://"))
        try system.write("state", "mode=access-point\naccess-point=Tonearm-1A2B\naddress=127.0.0.1\n")
        let open = try fixture.get("/hotspot-detect.html", foreign)
        #expect(open.status == 302 && open.headers["location"] == "http://127.0.0.1:\(fixture.port)/#wifi")
        #expect(try fixture.get("/api/session").status == 200)
        #expect(try fetch(fixture, "/api/session").status == 200)
        try system.write("state", "mode=access-point\naccess-point=Tonearm-1A2B\naddress=10.83.84.1\n")
        #expect(try fixture.get("/hotspot-detect.html", foreign).status == 400)
        try system.write("state", "mode=connected\nssid=61\n")
        #expect(try fixture.get("/hotspot-detect.html", foreign).status == 400)
    }

    @Test("A login without TLS, in the machine's own network, is none over TLS, under either name")
    func loginWithoutTLS() throws {
        let system = try PlayedSystem()
        let fixture = try WebFixture(settings: "\(settings)\npassword-file = \(folder["password"])\n\(system.settings)")
        defer { fixture.end() }
        try system.write("state", "mode=access-point\naccess-point=Tonearm-1A2B\naddress=127.0.0.1\n")
        let login = try fixture.ask("login", #"{"password":"open sesame"}"#)
        let cookie = String(try #require(login.headers["set-cookie"]).prefix { $0 != ";" })
        #expect(cookie.hasPrefix("tonearm-session="))
        #expect(try fixture.ask("status", "{}", ["Cookie: \(cookie)"]).status == 200)
        for name in [cookie, "__Host-\(cookie)"] {
            let answer = try fetch(
                fixture, "/api/status", "-H", "Content-Type: application/json", "-H", "Cookie: \(name)", "-d", "{}")
            #expect(answer.status == 401)
        }
    }

    @Test("All networks are accepted only with TLS and a password")
    func clients() throws {
        for (clients, isWanted) in [("all", true), ("private", false)] {
            let configuration = try Configuration(
                parsing: Array("[web]\nclients = \(clients)".utf8), file: "tonearm.conf")
            for (hasTLS, hasPassword) in [(false, false), (false, true), (true, false), (true, true)] {
                let tls = hasTLS ? settings : ""
                let password = hasPassword ? "password-file = \(folder["password"])" : ""
                let access = WebAccess(try parse("[web]\n\(tls)\n\(password)"))
                #expect(access.problem == nil)
                #expect(access.acceptsAll(configuration) == (isWanted && hasTLS && hasPassword))
            }
        }
    }

    private func parse(_ text: String) throws -> Configuration {
        try Configuration(parsing: Array(text.utf8), file: "tonearm.conf")
    }

    @Test("A mistake with the files names the file")
    func problems() throws {
        let other = try ServerCertificate.of(.rsa)
        let missing = folder["missing.pem"]
        let empty = folder["empty"]
        try Data().write(to: URL(fileURLWithPath: empty))
        let cases = [
            ("certificate = \(files.chain)", ["[web] certificate", "[web] key"]),
            ("key = \(files.key)", ["[web] certificate", "[web] key"]),
            ("certificate = \(missing)\nkey = \(files.key)", [missing]),
            ("certificate = \(files.chain)\nkey = \(missing)", [missing]),
            ("certificate = \(files.key)\nkey = \(files.key)", [files.key, "certificates in PEM"]),
            ("certificate = \(files.chain)\nkey = \(files.lockedKey)", [files.lockedKey, "without a password"]),
            ("certificate = \(files.chain)\nkey = \(other.key)", [other.key, files.chain]),
            ("password-file = \(missing)", [missing]), ("password-file = \(empty)", [empty, "first line"]),
        ]
        for (lines, texts) in cases {
            let access = WebAccess(try parse("[web]\nclients = all\n\(lines)"))
            let message = access.problem ?? ""
            #expect(texts.allSatisfy { message.contains($0) }, "\(lines): \(message)")
            #expect(access.password == nil && access.identity == nil)
        }
    }

    @Test("Without its password or certificate the page is there, and shows why nobody gets in")
    func locked() throws {
        let missing = folder["missing"]
        for lines in ["password-file = \(missing)", "certificate = \(missing)\nkey = \(missing)"] {
            let fixture = try WebFixture(settings: lines) { folder in
                try Data("<!doctype html>".utf8).write(to: URL(fileURLWithPath: "\(folder["page"])/index.html"))
            }
            defer { fixture.end() }
            #expect(try fixture.get("/").text == "<!doctype html>")
            let session = try fixture.get("/api/session").json
            #expect(session["login"] == true && session["problem"]?.string?.contains(missing) == true)
            for name in ["status", "config-get", "play", "machine"] { #expect(try fixture.ask(name).status == 401) }
            #expect(try fixture.get("/api/events").status == 401)
            let login = try fixture.ask("login", #"{"password":""}"#)
            #expect(login.status == 503 && login.code == "locked" && login.headers["set-cookie"] == nil)
        }
    }

    @Test("An expired certificate is served: the clock may be wrong, and clients decide")
    func expired() throws {
        let fixture = try WebFixture(settings: "certificate = \(files.expired)\nkey = \(files.key)")
        defer { fixture.end() }
        let result = try TestProcess.run(
            "/usr/bin/curl",
            ["-sSk", "--noproxy", "*", "--max-time", "60", "https://127.0.0.1:\(fixture.port)/api/session"])
        #expect(result.text.contains("\"ok\":true"))
    }
}
