import ApplianceTestSupport
import Foundation
import HTTPServer
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Control

@Suite("Web: the server (docs/web.md)")
struct WebServerTests {
    /// Three tracks of an album with a cover in the folder, and one with a cover of its own.
    private func music(_ folder: ScratchFolder) throws {
        for (number, title) in ["One", "Two", "Three"].enumerated() {
            let tags = ["TITLE=\(title)", "ARTIST=Band", "ALBUM=A", "TRACKNUMBER=\(number + 1)"]
            try TaggedFLAC.write(to: "\(folder["music"])/A/\(number + 1).flac", tags, frames: 88_200)
        }
        try Data(cover).write(to: URL(fileURLWithPath: "\(folder["music"])/A/Folder.JPG"))
        try Data(picture).write(to: URL(fileURLWithPath: folder["picture.png"]))
        let own = try TaggedFLAC.data(["TITLE=X"], ["--picture=3|image/png||1x1x24|\(folder["picture.png"])"])
        try FileManager.default.createDirectory(atPath: "\(folder["music"])/B", withIntermediateDirectories: true)
        try own.write(to: URL(fileURLWithPath: "\(folder["music"])/B/x.flac"))
    }

    private let cover = [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0xC0, count: 70_000)
    private let picture = (0..<5000).map { UInt8(truncatingIfNeeded: $0) }

    private func fixture(_ settings: String = "") throws -> WebFixture {
        let fixture = try WebFixture(settings: settings, music)
        fixture.waitForTracks(4)
        return fixture
    }

    @Test("A session of a program: search, queue, play, volume")
    func program() throws {
        let fixture = try fixture()
        defer { fixture.end() }
        let found = try fixture.ask("library-search", #"{"words":"two"}"#)
        #expect(found.status == 200 && found.headers["content-type"] == "application/json")
        let path = try #require(found.json["entries"]?[0]?["path"]?.string)
        #expect(path == "\(fixture.folder["music"])/A/2.flac")
        #expect(found.json["ok"] == true && found.json["id"] == nil)
        let added = try fixture.ask(
            "queue-set", #"{"products":[{"path":"\#(fixture.folder["music"])/A"}],"play":true}"#)
        #expect(added.json["added"] == 3)
        fixture.daemon.waitForSound()
        #expect(try fixture.ask("status").json["title"] == "One")
        #expect(try fixture.ask("volume", #"{"percent":40}"#).json["volume"] == 40)
        // A request without fields needs no body.
        #expect(try fixture.ask("pause", "").status == 200)
        fixture.daemon.wait("pause") { $0.playback == .paused }
    }

    @Test(
        "A request that cannot be carried out has a status, a code and a message",
        arguments: [
            ("nonsense", "{}", 404, "bad-request"), ("volume", #"{"percent":140}"#, 400, "bad-request"),
            ("volume", "{", 400, "bad-json"), ("volume", "[]", 400, "bad-json"),
            ("volume", #"{"id":1,"percent":1}"#, 400, "bad-request"),
            ("status", #"{"request":"power-off"}"#, 400, "bad-request"), ("play", "{}", 409, "empty-queue"),
            ("playlist", #"{"name":"none"}"#, 404, "no-such-playlist"),
            ("queue-add", #"{"products":[{"path":"/nowhere"}]}"#, 404, "no-such-file"),
            ("config-set", #"{"key":"player.state","value":"/x"}"#, 400, "bad-setting"),
            ("subscribe", "{}", 404, "bad-request"), ("focus", #"{"level":"none"}"#, 404, "bad-request"),
            ("offline-add", #"{"products":[{"path":"tonearm:track/1"}]}"#, 409, "no-service"),
        ])
    func refusals(name: String, fields: String, status: Int, code: String) throws {
        let fixture = try WebFixture()
        defer { fixture.end() }
        let answer = try fixture.ask(name, fields)
        #expect(answer.status == status && answer.code == code, "\(answer.text)")
        #expect(answer.json["ok"] == false && answer.json["error"]?["message"]?.string?.isEmpty == false)
    }

    @Test("A body longer than a request is refused, and the next request of the connection is answered")
    func longBody() throws {
        let fixture = try WebFixture()
        defer { fixture.end() }
        let long = try fixture.ask("queue-add", String(repeating: "x", count: WebRequest.bodyLimit + 1))
        #expect(long.status == 413 && long.code == "too-long")
        let fits = try fixture.ask("queue-add", String(repeating: "x", count: WebRequest.bodyLimit))
        #expect(fits.code == "bad-json")
        let page = try fixture.fetch("POST", "/", ["Content-Type: application/json"], body: "{}")
        #expect(page.status == 405 && page.headers["allow"] == "GET, HEAD")
        #expect(try fixture.fetch("DELETE", "/api/status").status == 405)
        #expect(try fixture.get("/api/status").code == "method")
    }

    @Test("Events come as they happen, after the whole status; the end of the server ends the stream")
    func events() throws {
        let fixture = try fixture()
        defer { fixture.end() }
        let stream = try WebExchange(fixture.port, "GET", "/api/events")
        try stream.head()
        #expect(stream.status == 200 && stream.headers["content-type"] == "text/event-stream")
        #expect(stream.headers["x-accel-buffering"] == "no")
        let status = try #require(try stream.event("status"))
        #expect(status["state"] == "stopped" && status["volume"] == 100 && status["id"] == nil)
        try fixture.ask("volume", #"{"percent":30}"#)
        #expect(try stream.event("volume")?["volume"] == 30)
        try fixture.ask("queue-add", #"{"products":[{"path":"\#(fixture.folder["music"])/A"}]}"#)
        #expect(try stream.event("queue")?["count"] == 3)
        let chosen = try WebExchange(fixture.port, "GET", "/api/events?events=volume,problems")
        try chosen.head()
        _ = try chosen.event("status")
        try fixture.ask("repeat", #"{"mode":"all"}"#)
        try fixture.ask("volume", #"{"percent":31}"#)
        // The event of the mode would come before.
        #expect(try chosen.bytes(to: "event: ") != nil)
        #expect(try chosen.bytes(to: "\n") == Array("volume".utf8))
        #expect(try fixture.get("/api/events?events=nonsense").code == "bad-request")
        fixture.stopServer()
        while try stream.event("none") != nil {}
    }

    @Test("A client that disconnects during a stream leaves nothing behind")
    func leaving() throws {
        let fixture = try WebFixture()
        defer { fixture.end() }
        for _ in 1...30 {
            let stream = try WebExchange(fixture.port, "GET", "/api/events")
            try stream.head()
            _ = try stream.event("status")
        }
        // Each change is an event, which finds out that the client is gone.
        expectSoon("the end of the clients' sessions") {
            _ = try? fixture.ask("mute")
            return fixture.clientCount == 0
        }
    }

    @Test("A request does not release the focus that a client of the socket holds")
    func focus() throws {
        let fixture = try WebFixture()
        defer { fixture.end() }
        let path = fixture.folder["control"]
        let socket = fixture.daemon.perform { daemon in
            let server = JSONSocketServer(
                daemon: daemon, path: path, mode: 0o600, group: nil, clientLimit: 4, version: "1")
            try? server.start()
            return server
        }
        defer { fixture.daemon.perform { _ in socket.stop() } }
        let doorbell = try JSONClient(path)
        try doorbell.ask("focus", #""level":"none","hold":true"#)
        for _ in 1...3 { #expect(try fixture.ask("status").json["focus"] == "none") }
    }

    @Test("Fifty clients are served at the same time")
    func manyClients() throws {
        let fixture = try WebFixture()
        defer { fixture.end() }
        let streams = try (1...40).map { _ in
            let stream = try WebExchange(fixture.port, "GET", "/api/events")
            try stream.head()
            _ = try stream.event("status")
            return stream
        }
        try fixture.ask("volume", #"{"percent":12}"#)
        for stream in streams { #expect(try stream.event("volume")?["volume"] == 12) }
    }

    @Test("Covers come whole, in parts, and only when they have changed")
    func covers() throws {
        let fixture = try fixture()
        defer { fixture.end() }
        let music = fixture.folder["music"]
        let folder = try fixture.get("/api/cover?path=\(music)/A/1.flac")
        #expect(folder.status == 200 && folder.headers["content-type"] == "image/jpeg" && folder.body == cover)
        let album = try fixture.get("/api/cover?path=\(music)/A")
        #expect(album.body == cover)
        let own = try fixture.get("/api/cover?path=\(music)/B/x.flac")
        #expect(own.status == 200 && own.headers["content-type"] == "image/png" && own.body == picture)
        #expect(try fixture.get("/api/cover?path=\(music)/B").body == picture)
        let part = try fixture.get("/api/cover?path=\(music)/B/x.flac", ["Range: bytes=100-299"])
        #expect(part.status == 206 && part.body == Array(picture[100..<300]))
        let tag = try #require(own.headers["etag"])
        let same = try fixture.get("/api/cover?path=\(music)/B/x.flac", ["If-None-Match: \(tag)"])
        #expect(same.status == 304 && same.body.isEmpty)
        for path in ["/nowhere.flac", "\(music)/C/x.flac", "/etc/passwd", "\(music)/A/../../picture.png", "", "/"] {
            #expect(try fixture.get("/api/cover?path=\(path)").code == "no-cover", "\(path)")
        }
        #expect(try fixture.get("/api/cover").code == "bad-request")
        // A stick may have a link to any file: none that leads out is followed.
        try FileManager.default.createDirectory(atPath: "\(music)/C", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(music)/C/cover.jpg", withDestinationPath: "/etc/hostname")
        #expect(try fixture.get("/api/cover?path=\(music)/C").code == "no-cover")
    }

    @Test("The files of the page are served from their folder, and nothing else is")
    func files() throws {
        let fixture = try WebFixture { folder in
            try Data("<!doctype html>".utf8).write(to: URL(fileURLWithPath: "\(folder["page"])/index.html"))
            try Data("a {}".utf8).write(to: URL(fileURLWithPath: "\(folder["page"])/style.css"))
            try Data("x".utf8).write(to: URL(fileURLWithPath: "\(folder["page"])/.hidden.css"))
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder["secret.css"]))
        }
        defer { fixture.end() }
        let page = try fixture.get("/")
        #expect(page.status == 200 && page.text == "<!doctype html>")
        #expect(page.headers["content-type"] == "text/html; charset=utf-8")
        #expect(page.headers["content-security-policy"]?.contains("default-src 'self'") == true)
        #expect(page.headers["x-content-type-options"] == "nosniff")
        let style = try fixture.get("/style.css")
        #expect(style.text == "a {}" && style.headers["cache-control"] == "no-cache")
        let tag = try #require(style.headers["etag"])
        // A browser refuses an answer with a second Content-Length.
        let same = try fixture.get("/style.css", ["If-None-Match: \(tag)"])
        #expect(same.status == 304 && same.headers["content-length"] == "4")
        for path in [
            "/none.css", "/.hidden.css", "/../secret.css", "/%2e%2e/secret.css", "/..%2fsecret.css", "//style.css",
        ] {
            #expect(try fixture.get(path).code == "no-such-page", "\(path)")
        }
    }

    @Test("A file has its compressed form for clients that take it, as long as it is not older than the file")
    func compressedFiles() throws {
        func change(_ path: String, _ seconds: Double) throws {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: path)
        }
        let fixture = try WebFixture { folder in
            try Data("a {}".utf8).write(to: URL(fileURLWithPath: "\(folder["page"])/style.css"))
            try Data("compressed".utf8).write(to: URL(fileURLWithPath: "\(folder["page"])/style.css.gz"))
            for name in ["style.css", "style.css.gz"] { try change("\(folder["page"])/\(name)", 1_000_000_000) }
        }
        defer { fixture.end() }
        let packed = try fixture.get("/style.css", ["Accept-Encoding: br, gzip"])
        #expect(packed.text == "compressed" && packed.headers["content-encoding"] == "gzip")
        #expect(packed.headers["content-type"] == "text/css; charset=utf-8")
        let plain = try fixture.get("/style.css")
        #expect(plain.text == "a {}" && plain.headers["content-encoding"] == nil)
        #expect(packed.headers["etag"] != plain.headers["etag"])
        for answer in [packed, plain] { #expect(answer.headers["vary"] == "Accept-Encoding") }
        let tag = try #require(packed.headers["etag"])
        let same = try fixture.get("/style.css", ["Accept-Encoding: gzip", "If-None-Match: \(tag)"])
        #expect(same.status == 304 && same.headers["vary"] == "Accept-Encoding")
        #expect(try fixture.get("/style.css.gz", ["Accept-Encoding: gzip"]).code == "no-such-page")
        // Somebody has changed the page.
        try change("\(fixture.folder["page"])/style.css", 1_000_000_001)
        #expect(try fixture.get("/style.css", ["Accept-Encoding: gzip"]).text == "a {}")
    }

    @Test("A browser gets the token, and needs it; another site's name is refused")
    func browser() throws {
        let fixture = try WebFixture()
        defer { fixture.end() }
        let session = try fixture.get("/api/session")
        let token = try #require(session.json["token"]?.string)
        #expect(token.utf8.count == 32 && session.json["login"] == false && session.json["name"]?.string != nil)
        let origin = "Origin: http://127.0.0.1:\(fixture.port)"
        #expect(try fixture.ask("mute", "{}", [origin]).code == "token")
        #expect(try fixture.ask("mute", "{}", [origin, "Tonearm-Token: \(token)"]).json["muted"] == true)
        #expect(try fixture.ask("mute", "{}", ["Origin: http://evil.example"]).code == "origin")
        #expect(try fixture.get("/api/session", ["Host: evil.example"]).status == 421)
    }

    @Test("With a password, everything but the page and the login needs a session, which survives a restart")
    func password() throws {
        let fixture = try WebFixture(settings: "password-file = \(passwordFile)")
        defer { fixture.end() }
        defer { try? FileManager.default.removeItem(atPath: passwordFile) }
        #expect(try fixture.ask("status").code == "login")
        #expect(try fixture.get("/api/events").code == "login")
        #expect(try fixture.get("/api/cover?path=/x").code == "login")
        #expect(try fixture.ask("nonsense").code == "login")
        #expect(try fixture.get("/api/session").json["login"] == true)
        #expect(try fixture.ask("login", #"{"password":"wrong"}"#).code == "wrong-password")
        #expect(try fixture.ask("login", #"{"password":7}"#).code == "bad-request")
        let login = try fixture.ask("login", #"{"password":"open sesame"}"#)
        let cookie = try #require(login.headers["set-cookie"])
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Max-Age=2592000"))
        let session = "Cookie: other=1; " + cookie.prefix { $0 != ";" }
        #expect(try fixture.ask("status", "{}", [session]).status == 200)
        #expect(try fixture.get("/api/session", [session]).json["login"] == false)
        #expect(try fixture.ask("status", "{}", ["Cookie: tonearm-session=00"]).code == "login")
        fixture.daemon.waitForWriting()
        fixture.end()
        try fixture.start()
        expectSoon("the sessions of the former start") { (try? fixture.ask("status", "{}", [session]).status) == 200 }
        #expect(try fixture.ask("logout", "{}", [session]).status == 200)
        #expect(try fixture.ask("status", "{}", [session]).code == "login")
        // Another password ends the sessions.
        let again = try fixture.ask("login", #"{"password":"open sesame"}"#)
        let kept = "Cookie: " + (try #require(again.headers["set-cookie"])).prefix { $0 != ";" }
        #expect(try fixture.ask("status", "{}", [kept]).status == 200)
        fixture.daemon.waitForWriting()
        fixture.end()
        try Data("another\n".utf8).write(to: URL(fileURLWithPath: passwordFile))
        try fixture.start()
        fixture.daemon.waitForWriting()
        #expect(try fixture.ask("status", "{}", [kept]).code == "login")
        for _ in 1...5 { #expect(try fixture.ask("login", #"{"password":"x"}"#).code == "wrong-password") }
        #expect(try fixture.ask("login", #"{"password":"open sesame"}"#).status == 429)
    }

    /// A file with a password, with the line end that editors write.
    private let passwordFile: String = {
        let path = NSTemporaryDirectory() + "/" + UUID().uuidString
        _ = FileManager.default.createFile(atPath: path, contents: Data("open sesame\n".utf8))
        return path
    }()

    @Test("A server that cannot listen is a problem of the daemon, and not its end")
    func problem() throws {
        let fixture = try WebFixture()
        defer { fixture.end() }
        let daemon = DaemonFixture(folder: fixture.folder["other"])
        daemon.prepare = { daemon in #expect(WebServer.open(daemon, version: "1") == nil) }
        try daemon.start(
            """
            [player]
            state = \(fixture.folder["other"])
            [web]
            address = 127.0.0.1
            port = \(fixture.port)
            """)
        defer { daemon.end() }
        let problem = daemon.status.problems.first { $0.subject == "web" }
        #expect(problem?.message.contains("cannot be reached") == true)
    }
}
