import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Control

@Suite("Web: streams of sessions, and heads of requests (docs/web.md)")
struct WebStreamTests {
    @Test("A stream of events ends with its session, also when another one takes its place, and others go on")
    func streamsOfSessions() throws {
        let folder = try ScratchFolder()
        try Data("open sesame\n".utf8).write(to: URL(fileURLWithPath: folder["password"]))
        let fixture = try WebFixture(settings: "password-file = \(folder["password"])")
        defer { fixture.end() }
        func logIn() throws -> String {
            let login = try fixture.ask("login", #"{"password":"open sesame"}"#)
            return "Cookie: " + (try #require(login.headers["set-cookie"])).prefix { $0 != ";" }
        }
        func listen(_ session: String) throws -> WebExchange {
            let stream = try WebExchange(fixture.port, "GET", "/api/events", [session, "Connection: close"])
            try stream.head()
            #expect(try stream.event("status") != nil)
            return stream
        }
        let (first, second) = (try logIn(), try logIn())
        let (ending, other, sameSession) = (try listen(first), try listen(second), try listen(first))
        #expect(try fixture.ask("logout", "{}", [first]).status == 200)
        for stream in [ending, sameSession] {
            while let event = try stream.bytes(to: "event: ") { #expect(event.isEmpty, "an event after the logout") }
        }
        try fixture.ask("volume", #"{"percent":30}"#, [second])
        #expect(try other.event("volume")?["volume"] == 30)
        // The hundredth session after it.
        for _ in 1...WebSessions.limit { _ = try logIn() }
        while try other.event("none") != nil {}
        #expect(try fixture.ask("status", "{}", [second]).code == "login")
    }

    @Test("A stream whose session is over sends no more events; the sign of life is a comment or an event")
    func streamParts() throws {
        let served = Locked<StreamSocket?>(nil)
        let isAllowed = Locked(true)
        let connections = ControlConnections { socket, _ in
            let line = Array("{\"ok\":true}\n{\"event\":\"volume\",\"volume\":1}\n".utf8)
            _ = try? line.withUnsafeBytes { try socket.send($0) }
            served.withLock { $0 = socket }
        }
        func read(_ stream: WebEventStream) -> String {
            var chunk = [UInt8](repeating: 0, count: 1000)
            let count = chunk.withUnsafeMutableBytes { stream.read(into: $0) }
            return String(decoding: chunk[..<count], as: UTF8.self)
        }
        for (showsLife, sign) in [(false, ": \n\n"), (true, "event: alive\ndata: {}\n\n")] {
            isAllowed.withLock { $0 = true }
            let stream = try WebEventStream(connections, events: nil, showsLife: showsLife, seconds: 1) {
                isAllowed.value
            }
            #expect(read(stream) == "event: status\ndata: {\"ok\":true}\n\n")
            #expect(read(stream).hasPrefix("event: volume\n"))
            #expect(read(stream) == sign)
            isAllowed.withLock { $0 = false }
            let line = Array("{\"event\":\"volume\",\"volume\":2}\n".utf8)
            _ = try served.value.map { socket in try line.withUnsafeBytes { try socket.send($0) } }
            #expect(read(stream) == "")
        }
    }

    @Test("A request that could be understood in two ways has the status 400 and a message")
    func malformed() throws {
        let fixture = try WebFixture()
        defer { fixture.end() }
        for (path, headers) in [
            ("/style.css%00", []), ("/api/session", ["Host: 127.0.0.1", "Host: localhost"]),
            ("/api/session", ["Content-Length: 1", "Content-Length: 2"]),
        ] {
            let answer = try fixture.get(path, headers)
            #expect(answer.status == 400 && answer.code == "bad-request", "\(path): \(answer.text)")
            #expect(answer.json["error"]?["message"]?.string?.isEmpty == false)
        }
    }
}
