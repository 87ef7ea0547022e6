import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import MPD

@Suite("MPD: limits of clients (docs/mpd.md)")
struct MPDLimitTests {
    @Test("clients of one address make room for another address, the one with the oldest command first")
    func places() throws {
        let fixture = try MPDFixture(settings: "address = 127.0.0.1\nport = \(Loopback.freePorts(1)[0])")
        defer { fixture.end() }
        let port = try #require(fixture.port)
        // Clients of the UNIX socket count as one address. They wait for changes, which has no time limit.
        var clients: [MPDTestClient] = []
        for _ in 0..<MPDServer.clientLimit {
            clients.append(try fixture.connect())
            try clients.last?.send("idle mixer")
        }
        fixture.daemon.pass(seconds: 1)
        try clients[0].send("noidle")
        #expect(try clients[0].answer() == [])
        let other = try MPDTestClient(try StreamSocket(connectingTo: "127.0.0.1", port: port))
        #expect(try other.line() == "OK MPD 0.23.5")
        #expect(try clients[1].line() == nil)
        #expect(try clients[0].ask("ping") == [] && other.ask("setvol 3") == [])
        #expect(try clients[2].answer() == ["changed: mixer"])
        #expect(fixture.clientCount == MPDServer.clientLimit)
    }

    @Test("a client that sends a line byte by byte is closed after a minute")
    func slowLine() throws {
        let fixture = try MPDFixture()
        defer { fixture.end() }
        let (client, other) = (try fixture.connect(), try fixture.connect())
        for byte in "pin" {
            try client.sendPart(String(byte))
            // The server has read the byte when it has answered the other client.
            try other.ask("ping")
            fixture.daemon.perform { _ in }
            fixture.daemon.pass(seconds: 20)
        }
        #expect(try client.line() == nil)
        #expect(fixture.clientCount == 1)
    }

    @Test("wrong passwords have to wait, of each client and of all together, and a known address has not")
    func guessing() throws {
        let folder = try ScratchFolder()
        try Data("control secret\n".utf8).write(to: URL(fileURLWithPath: folder["passwords"]))
        let fixture = try MPDFixture(
            settings: "passwords = \(folder["passwords"])\npermission = none\naddress = 127.0.0.1\n"
                + "port = \(Loopback.freePorts(1)[0])")
        defer { fixture.end() }
        let port = try #require(fixture.port)
        let web = try MPDTestClient(try StreamSocket(connectingTo: "127.0.0.1", port: port))
        _ = try web.line()
        let wrong = ["ACK [3@0] {password} incorrect password"]
        let late = ["ACK [3@0] {password} too many wrong passwords: try again in 2 s"]
        for _ in 1...5 { #expect(try web.ask("password x") == wrong) }
        #expect(try web.ask("password secret") == late)
        // Another connection of the same address waits, too.
        let again = try MPDTestClient(try StreamSocket(connectingTo: "127.0.0.1", port: port))
        _ = try again.line()
        #expect(try again.ask("password secret") == late)
        // Clients of the UNIX socket are another address.
        let local = try fixture.connect()
        #expect(try local.ask("password secret") == [] && local.ask("stop") == [])
        fixture.daemon.pass(seconds: 2)
        #expect(try again.ask("password secret") == [])
    }
}
