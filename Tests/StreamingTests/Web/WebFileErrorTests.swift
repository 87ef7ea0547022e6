import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Playback
@testable import Player
@testable import Streaming

@Suite("Web files that cannot be played (docs/playback.md, 18)")
struct WebFileErrorTests: WebFileSuite {
    let files = WebFiles(NetworkSettings { 1_800_000_000 })
    private func error(_ answer: String, path: String = "/a") throws -> (PlayerError, FileServer) {
        let server = FileServer([:]) { _, _, connection in
            connection.send(answer)
            connection.end()
            return true
        }
        let error = #expect(throws: PlayerError.self) { try open(server.url(path)) }
        return (try #require(error), server)
    }

    private static func answer(_ status: String, _ body: String = "", _ fields: String = "") -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
    }

    @Test(
        "A file without audio is an error with the address and the remedy, and the next entry plays",
        arguments: [
            (answer("404 Not Found"), .notAllowed, "h404", "the server has no such file (status 404)."),
            (answer("410 Gone"), .notAllowed, "h410", "the server has no such file (status 410)."),
            (answer("403 Forbidden"), .notAllowed, "h403", "the server does not allow it (status 403)."),
            (answer("401 Unauthorized"), .notAllowed, "h401", "the server wants a login (status 401)"),
            (answer("418 I am a teapot"), .notAllowed, "h418", "the server refuses it (status 418)."),
            (answer("200 OK", "<!DOCTYPE html><html></html>"), .unexpected, "h200", "the server sends a web page"),
            (answer("200 OK", "#EXTM3U\nhttp://h/1\n"), .unexpected, "l1", "a playlist or cue sheet on a server"),
            (answer("200 OK", "[Playlist]\nFile1=x"), .unexpected, "l1", "a playlist or cue sheet on a server"),
            (answer("200 OK", "a letter to somebody"), .unexpected, "m1", "not audio (looks like text)."),
            (answer("200 OK"), .unexpected, "m4", "the file is empty."),
            (
                answer("302 Found", "", "Location: file:///etc/passwd\r\n"), .unexpected, "n2",
                "the server redirects to "
            ),
            (answer("302 Found", "", "Location: /a\r\n"), .unexpected, "n2", "the server redirects too often."),
            ("SSH-2.0-OpenSSH\r\n\r\n", .unexpected, "n2", ""),
        ] as [(String, PlayerError.Kind, String, String)])
    func errors(answer: String, kind: PlayerError.Kind, code: String, reason: String) throws {
        let (error, server) = try error(answer)
        #expect(error.kind == kind && error.code == code && error.reach == .product)
        #expect(error.message.hasPrefix("\(server.url("/a")): \(reason)"), "\(error.message)")
        #expect(server.connectionCount <= 6)
    }

    @Test("A server that speaks no TLS")
    func noTLS() throws {
        let server = ScriptedServer { connection in
            if connection.bytes() > 0 { connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") }
        }
        let error = #expect(throws: PlayerError.self) { try open(server.url("/a.flac", scheme: "https")) }
        #expect(error?.kind == .network && error?.code == "n1" && error?.reach == .content)
        #expect(error?.message.hasPrefix("\(server.url("/a.flac", scheme: "https")): the network failed: ") == true)
    }
}
