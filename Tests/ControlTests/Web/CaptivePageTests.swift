import ApplianceTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import Control

@Suite("Web: phones in the machine's own network find the page")
struct CaptivePageTests {
    private func fixture(_ system: PlayedSystem) throws -> WebFixture { try WebFixture(settings: system.settings) }

    private let open = "mode=access-point\naccess-point=Tonearm-1A2B\naddress=127.0.0.1\n"

    @Test(
        "A phone's own check of the network leads to the page",
        arguments: [
            ("connectivitycheck.gstatic.com", "/generate_204"), ("captive.apple.com", "/hotspot-detect.html"),
            ("www.msftconnecttest.com", "/connecttest.txt"), ("www.msftconnecttest.com", "/redirect"),
            ("detectportal.firefox.com", "/success.txt?ipv4"), ("example.com:8080", "/"),
            ("example.com", "/api/status"),
            ("example.com", "/style.css"), ("example.com", "/a/../b%0d%0aX:%20y"),
        ])
    func redirected(host: String, path: String) throws {
        let system = try PlayedSystem()
        try system.write("state", open)
        let fixture = try fixture(system)
        defer { fixture.end() }
        let answer = try fixture.get(path, ["Host: \(host)"])
        #expect(answer.status == 302)
        // Images listen at port 80, which no URL needs to name.
        #expect(answer.headers["location"] == "http://127.0.0.1:\(fixture.port)/#wifi")
        #expect(answer.headers["cache-control"] == "no-store" && answer.headers["content-length"] == "0")
        #expect(answer.body.isEmpty)
    }

    @Test("Only then: without such a network, for another method, and for other mistakes, the refusal is as before")
    func refused() throws {
        let system = try PlayedSystem()
        let fixture = try fixture(system)
        defer { fixture.end() }
        let foreign = ["Host: captive.apple.com"]
        for state in ["mode=off\n", "mode=connected\nssid=61\n", "address=evil.example\n"] {
            try system.write("state", state)
            let answer = try fixture.get("/hotspot-detect.html", foreign)
            #expect(answer.status == 421 && answer.code == "host" && answer.headers["location"] == nil)
        }
        try system.write("state", open)
        #expect(try fixture.get("/", foreign).status == 302)
        #expect(try fixture.ask("pause", "{}", foreign).status == 421)
        #expect(try fixture.fetch("HEAD", "/", foreign).status == 421)
        #expect(try fixture.get("/", ["Origin: http://evil.example"]).code == "origin")
        #expect(try fixture.get("/api/pause").status == 405)
        #expect(try fixture.get("/nothing.html").status == 404)
        #expect(try fixture.ask("status").status == 200)
        try system.write("state", "mode=connected\nssid=61\n")
        #expect(try fixture.get("/", foreign).status == 421)
    }

    @Test("Without a folder of the system nothing changes")
    func noFolder() throws {
        let fixture = try WebFixture()
        defer { fixture.end() }
        #expect(try fixture.get("/generate_204", ["Host: connectivitycheck.gstatic.com"]).status == 421)
    }

    @Test("At port 80 the address needs no port")
    func port() throws {
        let system = try PlayedSystem()
        try system.write("state", "address=10.83.84.1\n")
        let page = CaptivePage(folder: WiFiFolder(path: system.folder.path), port: 80)
        let answer = page.answer(to: .init(path: "/generate_204"))
        #expect(answer?["Location"] == "http://10.83.84.1/#wifi")
    }
}
