import Foundation
import Network
import TestSupport
import Testing

@Suite("Servers that misbehave")
struct FailureTests {
    private let network: Network

    init() throws { network = try .forTests() }

    @Test("reasons are phrases without an end mark, which the sentences around them have")
    func reasons() {
        let errors: [TransferError] = [
            .invalidRequest(.url), .invalidRequest(.header(name: "x")), .invalidRequest(.range), .nameResolution,
            .connection(.refused), .connection(.unreachable), .connection(.lost),
            .connection(.unanswered), .connection(.system(code: 5)),
            .proxy(status: nil), .proxy(status: 407), .proxy(status: 500), .tls(.unknownAuthority), .tls(.expired),
            .tls(.notYetValid), .tls(.hostName), .tls(.pin), .tls(.certificate(reason: "x")),
            .tls(.handshake(reason: "x")), .timeOut(.resolving), .timeOut(.body), .malformedAnswer, .headTooLarge,
            .truncated, .tooLarge, .redirect(.tooMany), .redirect(.insecure), .redirect(.address), .meteredLink,
            .localAddress, .offlineMode, .cancelled, .library(code: 1, reason: "x"),
        ]
        for error in errors { #expect(!".?!".contains(error.description.last ?? "."), "\(error.description)") }
    }

    @Test("nothing listens")
    func refused() {
        #expect(network.run("http://127.0.0.1:\(Loopback.freePorts(1)[0])/").error == .connection(.refused))
    }

    @Test("the connection is closed or reset before a response: the server may speak TLS", arguments: [true, false])
    func closed(isReset: Bool) {
        let server = ScriptedServer { connection in
            _ = connection.request()
            if isReset { connection.resetAtClose() }
        }
        let error = network.run(server.url()).error
        #expect(error == .connection(.unanswered))
        #expect(error?.description.hasSuffix("If it speaks TLS, its address begins with https://") == true)
    }

    @Test(
        "a connection whose other end is gone ends, however long the first byte may take",
        .enabled(if: NetworkNamespace.isAvailable))
    func goneEnd() throws {
        let error = NetworkNamespace.onThread { () -> TransferError? in
            let asked = DispatchSemaphore(value: 0)
            guard
                let cable = Cable({ connection in
                    _ = connection.request()
                    asked.signal()
                    connection.waitForClose()
                }), let network = try? Network.forTests({ $0.firstByteTimeout = 1000 })
            else { return nil }
            var request = TransferRequest(url: cable.server.url())
            request.firstByteTimeout = 600_000
            let sink = RecordingSink()
            _ = network.start(request, into: sink)
            asked.waitInTime()
            Cable.pullOut()
            return sink.waitForEnd()
        }
        #expect(try #require(error) == .timeOut(.firstByte))
    }

    @Test(
        "the body ends early",
        arguments: [
            "Content-Length: 10\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n5\r\nabc",
            "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        ])
    func truncated(rest: String) {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\n\(rest)")
        }
        let (sink, error) = network.run(server.url())
        #expect(error == .truncated)
        #expect(sink.text == "abc")
    }

    @Test("the connection is reset in the middle of the body")
    func resetBody() {
        let sink = RecordingSink()
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            sink.waitForBytes()
            connection.resetAtClose()
        }
        _ = network.start(TransferRequest(url: server.url()), into: sink)
        #expect(sink.waitForEnd() == .connection(.lost))
    }

    @Test(
        "the answer is not HTTP",
        arguments: [
            "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "\r\n\r\n", "HTTP/1.1 200 OK\r\nbad\r\n\r\n",
            "HTTP/1.1 700 X\r\n\r\n",
        ])
    func notHTTP(answer: String) {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send(answer)
        }
        let (sink, error) = network.run(server.url())
        #expect(error == .malformedAnswer)
        #expect(sink.response == nil)
    }

    @Test("the head is too large: one line, or lines without an end", arguments: [true, false])
    func largeHead(isOneLine: Bool) {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nX: ")
            let more = Array(String(repeating: "y", count: 4000).utf8) + Array((isOneLine ? "" : "\r\nX: ").utf8)
            while connection.send(more) {}
        }
        let (sink, error) = network.run(server.url())
        #expect(error == .headTooLarge)
        #expect(sink.response == nil)
    }

    @Test("no first byte comes in time")
    func silentServer() throws {
        let network = try Network.forTests { $0.firstByteTimeout = 50 }
        let server = ScriptedServer { $0.waitForClose() }
        #expect(network.run(server.url()).error == .timeOut(.firstByte))
    }

    @Test("the bytes stop coming, in the head or in the body", arguments: ["", "Content-Length: 5\r\n\r\nab"])
    func silence(rest: String) throws {
        let network = try Network.forTests { $0.silenceTimeout = 50 }
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\n\(rest)")
            connection.waitForClose()
        }
        #expect(network.run(server.url()).error == .timeOut(.body))
    }

    @Test("TLS is never agreed on")
    func silentHandshake() throws {
        let network = try Network.forTests { $0.connectTimeout = 50 }
        let server = ScriptedServer { $0.waitForClose() }
        #expect(network.run(server.url(scheme: "https")).error == .timeOut(.connecting))
    }

    @Test(
        "a request's own limit is that of every phase",
        arguments: [
            (nil, "https", .connecting), ("", "http", .firstByte), ("HTTP/1.1 200 OK\r\n", "http", .body),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", "http", .body),
        ] as [(String?, String, TransferPhase)])
    func ownLimit(answer: String?, scheme: String, phase: TransferPhase) {
        let server = ScriptedServer { connection in
            if let answer, connection.request() != nil { connection.send(answer) }
            connection.waitForClose()
        }
        var request = TransferRequest(url: server.url(scheme: scheme))
        request.longestSilence = 50
        let sink = RecordingSink()
        _ = network.start(request, into: sink)
        #expect(sink.waitForEnd() == .timeOut(phase))
    }

    @Test("no name server answers, or there is no such name", .enabled(if: PrivateResolver.isAvailable))
    func names() throws {
        let silent = try PrivateResolver(1)
        let waiting = try silent.network(.forTests { $0.connectTimeout = 50 })
        #expect(waiting.run("http://music.example/").error == .timeOut(.resolving))

        let denying = try PrivateResolver(2)
        let network = try denying.network(.forTests())
        let sink = RecordingSink()
        _ = network.start(TransferRequest(url: "http://music.example/"), into: sink)
        // The addresses of both families are asked for.
        denying.denyNames(2)
        #expect(sink.waitForEnd() == .nameResolution)
    }
}
