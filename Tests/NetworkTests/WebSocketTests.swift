import Foundation
import Platform
import TestSupport
import Testing

@testable import Network

/// The frame of a text.
private let hi: [UInt8] = [0x81, 2, 0x68, 0x69]

extension ScriptedConnection {
    /// Accepts a WebSocket.
    /// - Returns: the head of the request; nil when the client has closed.
    @discardableResult
    fileprivate func acceptWebSocket(_ more: [UInt8] = [], accept: String? = nil) -> String? {
        guard let head = request() else { return nil }
        let key = head.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19) ?? ""
        let answer =
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nconnection: keep-alive, upgrade\r\n"
            + "Sec-WebSocket-Accept: \(accept ?? WebSocketKey.accept(String(key)))\r\n\r\n"
        send(Array(answer.utf8) + more)
        return head
    }
}

@Suite("WebSockets (docs/decisions/websocket.md)")
struct WebSocketClientTests {
    /// A server that accepts, sends `hi` with its answer, and then waits for the end.
    private static func quiet() -> ScriptedServer {
        ScriptedServer { connection in
            connection.acceptWebSocket(hi)
            connection.waitForClose()
        }
    }

    // MARK: A foreign server

    @Test(
        "talks to a foreign server, with and without TLS: every length, fragments, pings, both ways of closing",
        .enabled(if: PythonWebSockets.isAvailable, "python3-websockets is missing: run tools/setup"),
        arguments: [true, false])
    func foreign(isSecure: Bool) throws {
        let server = try PythonWebSockets()
        let network = try Network.forTests()
        func open(_ path: String, headers: [HeaderField] = []) -> RecordingWebSocket {
            RecordingWebSocket(network, isSecure ? server.secureURL(path) : server.url(path), headers: headers)
        }
        let echo = open("/echo")
        #expect(echo.waitForOpen())
        let texts = [0, 1, 125, 126, 65_535, 65_536].map { String(repeating: "a", count: $0) } + ["größe 🎵"]
        for text in texts { echo.send(text) }
        #expect(echo.waitForTexts(texts.count) == texts)
        echo.close(code: 1001)
        #expect(echo.waitForEnd() == .cancelled)
        #expect(try server.line() == "closed 1001 []")

        let fragments = open("/fragments")
        #expect(fragments.waitForTexts(2) == ["größer", "end"])
        fragments.close()
        #expect(fragments.waitForEnd() == .cancelled)
        #expect(try server.line() == "closed 1000 []")
        #expect(open("/ping").waitForTexts(1) == ["pong"])
        #expect(
            open("/headers", headers: [HeaderField("X-Test", "value")]).waitForTexts(1)
                == ["value \(isSecure ? "localhost" : "127.0.0.1")"])

        #expect(open("/close").waitForEnd() == .closed(code: 4001))
        #expect(try server.line() == "closed 4001 []")
        #expect(open("/binary").waitForEnd() == .failed(.webSocket(.notText)))
        #expect(try server.line() == "closed 1003 []")
        #expect(open("/large").waitForEnd() == .failed(.webSocket(.tooLarge)))
        #expect(try server.line() == "closed 1009 []")
        #expect(open("/drop").waitForEnd() == .failed(.connection(.lost)))
        #expect(open("/refuse").waitForEnd() == .refused(status: 503, retryAfter: 7))
        network.stop()
    }

    @Test(
        "a server with another certificate is refused, and pins hold",
        .enabled(if: PythonWebSockets.isAvailable, "python3-websockets is missing: run tools/setup"))
    func certificates() throws {
        let server = try PythonWebSockets()
        let network = try Network.forTests()
        for (kind, failure) in [
            (.expired, .expired), (.otherHost, .hostName), (.otherAuthority, .unknownAuthority),
        ] as [(TestCertificates.Kind, TLSFailure)] {
            let socket = RecordingWebSocket(network, server.secureURL("/echo", kind))
            #expect(socket.waitForEnd() == .failed(.tls(failure)))
        }
        let key = try Nginx.shared.get().certificates.pin(of: .expired)
        let pin = try #require(HostPin(host: "localhost", keys: [key]))
        let pinned = try Network.forTests { $0.pins = [pin] }
        #expect(RecordingWebSocket(pinned, server.secureURL("/echo")).waitForEnd() == .failed(.tls(.pin)))
    }

    // MARK: Answers

    @Test(
        "an answer that is no WebSocket ends it",
        arguments: [
            ("HTTP/1.1 401 Unauthorized\r\n\r\n", .refused(status: 401, retryAfter: nil)),
            ("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", .refused(status: 302, retryAfter: nil)),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 No\r\nRetry-After: 60\r\n\r\n",
                .refused(status: 429, retryAfter: 60)
            ),
            (
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
                .failed(.webSocket(.protocolError))
            ),
            ("SSH-2.0-OpenSSH\r\n\r\n", .failed(.malformedAnswer)),
            ("HTTP/1.1 101 S\r\nA: " + String(repeating: "x", count: 9000), .failed(.headTooLarge)),
            ("HTTP/1.1 101 S\r\nUpgrade: websocket\r\n", .failed(.connection(.lost))),
        ] as [(String, WebSocketEnd)])
    func answers(answer: String, end: WebSocketEnd) throws {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send(answer)
            // The client closes first, unless the answer is incomplete.
            if end != .failed(.connection(.lost)) { connection.waitForClose() }
        }
        let socket = RecordingWebSocket(try .forTests(), server)
        #expect(socket.waitForEnd() == end)
        #expect(!socket.waitForOpen() && socket.endCount == 1)
    }

    @Test("an answer with an extension, another key or another protocol is a fault")
    func wrongAccept() throws {
        let network = try Network.forTests()
        let other = ScriptedServer { $0.acceptWebSocket(accept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") }
        #expect(RecordingWebSocket(network, other).waitForEnd() == .failed(.webSocket(.protocolError)))
        let upgrade = WebSocketUpgrade(
            try #require(WebAddress("http://a.example/")), headers: [], userAgent: "A", nonce: Array(0..<16))
        let answer =
            "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(WebSocketKey.accept(Base64.text(Array(0..<16))))\r\n"
        func progress(_ text: String, cut: Int) -> WebSocketUpgrade.Progress? {
            var upgrade = upgrade
            let bytes = Array(text.utf8)
            return [bytes.prefix(cut), bytes.dropFirst(cut)].map { part in
                Array(part).withUnsafeBytes { upgrade.receive($0, now: 0) }
            }.last
        }
        for field in ["Sec-WebSocket-Extensions: permessage-deflate", "Sec-WebSocket-Protocol: chat"] {
            #expect(progress("\(answer)\(field)\r\n\r\n", cut: 0) == .failed(.webSocket(.protocolError)))
        }
        let count = answer.utf8.count + 2
        for cut in 0..<count {
            guard case .accepted(let head, let used)? = progress("\(answer)\r\n\u{1}", cut: cut) else {
                Issue.record("not accepted, cut at \(cut)")
                return
            }
            #expect(head.status == 101 && used + cut == count)
        }
    }

    @Test("the request has the host, path and query of the address, and the fields")
    func request() throws {
        let address = try #require(
            WebSocketRequest(url: "WSS://Music.example:8443?ticket=a%20b#c", mayUseMeteredLink: true).address)
        #expect(address.isSecure)
        let upgrade = WebSocketUpgrade(
            address, headers: [HeaderField("A", "b")], userAgent: "Agent", nonce: Array("the sample nonce".utf8))
        #expect(
            String(decoding: upgrade.request, as: UTF8.self) == """
                GET /?ticket=a%20b HTTP/1.1\r
                Host: music.example:8443\r
                User-Agent: Agent\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                A: b\r
                \r

                """)
        let network = try Network.forTests()
        for url in ["", "ftp://a/", "ws://a:b@c/", "ws:///", "music"] {
            #expect(RecordingWebSocket(network, url).waitForEnd() == .failed(.invalidRequest(.url)), "\(url)")
        }
        let header = RecordingWebSocket(network, "ws://a/", headers: [HeaderField("A", "b\r\nC: d")])
        #expect(header.waitForEnd() == .failed(.invalidRequest(.header(name: "A"))))
    }

    @Test("a proxy gets CONNECT, and its refusal is told", arguments: [true, false])
    func proxy(accepts: Bool) throws {
        let request = Locked<String?>(nil)
        let proxy = ScriptedServer { connection in
            request.set(connection.request())
            guard accepts else { return connection.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n") }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            connection.acceptWebSocket(hi)
            connection.waitForClose()
        }
        let network = try Network.forTests { $0.proxy = proxy.url() }
        let socket = RecordingWebSocket(network, "ws://music.example/a")
        if accepts {
            #expect(socket.waitForTexts(1) == ["hi"])
        } else {
            #expect(socket.waitForEnd() == .failed(.proxy(status: 403)))
        }
        #expect(request.value?.hasPrefix("CONNECT music.example:80 HTTP/1.1\r\n") == true)
    }

    // MARK: Ends

    @Test("offline mode ends it, and lets none begin")
    func offlineMode() throws {
        let (network, server) = (try Network.forTests(), Self.quiet())
        let socket = RecordingWebSocket(network, server)
        #expect(socket.waitForTexts(1) == ["hi"])
        let silent = ScriptedServer { $0.waitForClose() }
        let waiting = RecordingWebSocket(network, silent)
        expectSoon("the connection") { silent.connectionCount == 1 }
        network.setOfflineMode(true)
        #expect(socket.waitForEnd() == .failed(.offlineMode) && waiting.waitForEnd() == .failed(.offlineMode))
        #expect(RecordingWebSocket(network, server).waitForEnd() == .failed(.offlineMode))
        network.setOfflineMode(false)
        #expect(RecordingWebSocket(network, server).waitForTexts(1) == ["hi"])
        #expect(server.connectionCount == 2)
    }

    @Test("the end of the network ends it, as the close of one that is not open")
    func stop() throws {
        let (network, server) = (try Network.forTests(), Self.quiet())
        let silent = ScriptedServer { $0.waitForClose() }
        let (socket, waiting) = (RecordingWebSocket(network, server), RecordingWebSocket(network, silent))
        #expect(socket.waitForTexts(1) == ["hi"])
        waiting.close()
        #expect(waiting.waitForEnd() == .cancelled)
        network.stop()
        #expect(socket.waitForEnd() == .cancelled)
        let late = RecordingWebSocket(network, server)
        #expect(late.waitForEnd() == .cancelled)
        socket.send("x")
        socket.close()
        #expect(socket.endCount == 1 && waiting.endCount == 1 && late.endCount == 1)
    }

    @Test("a server that is silent gets a ping; its answer keeps the connection, silence ends it")
    func silence() throws {
        let network = try Network.forTests {
            $0.webSocketPingInterval = 20
            $0.webSocketPingTimeout = 20_000
        }
        let answering = ScriptedServer { connection in
            connection.acceptWebSocket()
            // Pings of a client have six bytes. The third one gets a text instead.
            for isPong in [true, true, false] {
                var ping = [UInt8](repeating: 0, count: 6)
                guard recv(connection.descriptor, &ping, 6, Int32(MSG_WAITALL)) == 6, ping[0] == 0x89 else { return }
                connection.send(isPong ? [0x8A, 0] : hi)
            }
            connection.waitForClose()
        }
        #expect(RecordingWebSocket(network, answering).waitForTexts(1) == ["hi"])
        let impatient = try Network.forTests {
            $0.webSocketPingInterval = 20
            $0.webSocketPingTimeout = 20
        }
        #expect(RecordingWebSocket(impatient, Self.quiet()).waitForEnd() == .failed(.timeOut(.body)))
    }

    @Test("a server that does not answer the upgrade, or nothing that listens")
    func timeOut() throws {
        let network = try Network.forTests { $0.firstByteTimeout = 20 }
        let silent = ScriptedServer { $0.waitForClose() }
        #expect(RecordingWebSocket(network, silent).waitForEnd() == .failed(.timeOut(.firstByte)))
        let port = Loopback.freePorts(1)[0]
        let nothing = RecordingWebSocket(network, "ws://127.0.0.1:\(port)/")
        #expect(nothing.waitForEnd() == .failed(.connection(.refused)))
    }

    @Test("a server that reads nothing does not fill the memory")
    func unread() throws {
        let (network, server) = (try Network.forTests(), Self.quiet())
        let socket = RecordingWebSocket(network, server)
        #expect(socket.waitForOpen())
        let blocked = ScriptedServer { connection in
            connection.acceptWebSocket()
            // Until the client has closed.
            try? waitForDescriptor(connection.descriptor, "the reset", events: 0)
        }
        let unread = RecordingWebSocket(network, blocked)
        #expect(unread.waitForOpen())
        let text = String(repeating: "x", count: 60_000)
        expectSoon("the end") {
            unread.send(text)
            return unread.endCount > 0
        }
        #expect(unread.waitForEnd() == .failed(.connection(.lost)))
    }

    @Test("ends with its link, and one of another link stays", .enabled(if: NetworkNamespace.isAvailable))
    func link() throws {
        let result = NetworkNamespace.onThread { () -> (WebSocketEnd?, [String])? in
            let cable = Cable { connection in
                connection.acceptWebSocket(hi)
                connection.waitForClose()
            }
            let local = ScriptedServer { connection in
                connection.acceptWebSocket(hi)
                // A frame of the client.
                if connection.bytes() > 0 { connection.send(hi) }
                connection.waitForClose()
            }
            guard let cable, let network = try? Network.forTests() else { return nil }
            let (far, near) = (RecordingWebSocket(network, cable.server), RecordingWebSocket(network, local))
            guard far.waitForTexts(1) == ["hi"], near.waitForTexts(1) == ["hi"] else { return nil }
            network.routesChanged()
            Cable.pullOut()
            network.linkChanged(to: Link(.offline))
            let end = far.waitForEnd()
            near.send("x")
            return (end, near.waitForTexts(2))
        }
        let (end, texts) = try #require(result ?? nil)
        #expect(end == .failed(.connection(.lost)))
        #expect(texts == ["hi", "hi"])
    }

    @Test("never uses a metered link without permission", .enabled(if: NetworkNamespace.isAvailable))
    func metered() throws {
        let ends = NetworkNamespace.onThread { () -> [WebSocketEnd?]? in
            guard let cable = Cable({ $0.acceptWebSocket() }) else { return nil }
            let network = try? Network.forTests { $0.links = LinkSettings(meteredInterfaces: ["near"]) }
            guard let network else { return nil }
            let refused = RecordingWebSocket(network, cable.server, mayUseMeteredLink: false)
            let end = refused.waitForEnd()
            guard cable.server.connectionCount == 0 else { return nil }
            let permitted = RecordingWebSocket(network, cable.server)
            return [end, permitted.waitForEnd()]
        }
        #expect(try #require(ends) == [.failed(.meteredLink), .failed(.connection(.lost))])
    }
}
