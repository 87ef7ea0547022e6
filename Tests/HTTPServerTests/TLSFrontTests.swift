import Foundation
import TestSupport
import Testing

@testable import HTTPServer

@Suite("A server with TLS, as its clients see it")
struct TLSFrontTests {
    private static let bytes = (0..<300_000).map { UInt8($0 % 251) }

    @Test(
        "curl verifies the certificate and gets the whole body and a part, with TLS 1.2 and when it offers 1.3",
        arguments: [.p256, .p384, .rsa] as [ServerCertificate.Kind], ["--tls-max 1.2", "--tls-max 1.3"])
    func pages(kind: ServerCertificate.Kind, version: String) throws {
        let requests = Recorder<HTTPRequest>()
        let fixture = try TLSFixture(
            kind: kind,
            HTTPService { request in
                requests.record(request)
                return ServedResource(
                    body: ContentBody(Self.bytes), contentType: "image/png", entityTag: "\"1\"",
                    cacheControl: "no-cache"
                ).answer(to: request)
            })
        let options = version.split(separator: " ").map(String.init)
        let whole = try fixture.fetch("/a", options[0], options[1])
        #expect(whole.code == 0 && whole.body.elementsEqual(Self.bytes))
        let part = try fixture.fetch("/a", options[0], options[1], "-r", "1000-20999")
        #expect(part.head.contains(" 206 ") && part.body.elementsEqual(Self.bytes[1000..<21000]))
        let request = try #require(requests.elements.first)
        #expect(request.isSecure && request.origin == "https://127.0.0.1:\(fixture.port)")
        // The client's own address, and not that of the front.
        #expect(request.connection?.isPeerPrivate == true)
        #expect(request.connection?.peerAddress == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1])
        // Another authority has not signed it.
        #expect(
            try fixture.fetch("/a", "--cacert", ServerCertificate.of(kind == .rsa ? .p256 : .rsa).authority).code == 60)
    }

    @Test("TLS before 1.2 and suites without forward secrecy are refused")
    func versions() throws {
        let fixture = try TLSFixture(HTTPService { _ in HTTPAnswer() })
        for (options, isSpoken) in [
            ("-tls1_1 -cipher DEFAULT@SECLEVEL=0", false), ("-tls1_2", true),
            ("-tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256", true),
            ("-tls1_2 -cipher ECDHE-ECDSA-CHACHA20-POLY1305", true),
            ("-tls1_2 -cipher ECDHE-ECDSA-AES128-SHA256", false), ("-tls1_2 -cipher AES128-GCM-SHA256", false),
        ] {
            let result = try TestProcess.run(
                "/usr/bin/openssl",
                [
                    "s_client", "-connect", "127.0.0.1:\(fixture.port)", "-verify_return_error", "-CAfile",
                    fixture.files.authority,
                ]
                    + options.split(separator: " ").map(String.init))
            #expect((result.code == 0) == isSpoken, "\(options): \(result.errors.prefix(300))")
        }
    }

    @Test("A body of a request arrives whole, and requests share a connection")
    func upload() throws {
        var service = HTTPService { HTTPAnswer(body: ContentBody($0.body)) }
        service.bodyLimit = { _ in 1 << 20 }
        let fixture = try TLSFixture(service)
        let path = fixture.folder["sent"]
        try Data(Self.bytes).write(to: URL(fileURLWithPath: path))
        #expect(try fixture.fetch("/", "--data-binary", "@\(path)").body.elementsEqual(Self.bytes))
        let client = try fixture.python(
            """
            tls = connect()
            for _ in range(3):
                tls.sendall(GET)
                assert tls.recv(1000).startswith(b"HTTP/1.1 200")
            # Two requests in one record.
            tls.sendall(GET + LAST)
            print(receive(tls).count(b"HTTP/1.1 200"))
            """)
        #expect(try client.finish().text == "2\n")
    }

    @Test("A stream arrives as it is made; after its end the client has close_notify")
    func stream() throws {
        let go = DispatchSemaphore(value: 0)
        let fixture = try TLSFixture(
            HTTPService { _ in
                let count = Locked(0)
                var answer = HTTPAnswer(headers: [HTTPField("Content-Type", "text/event-stream")])
                answer.stream = HTTPStream { buffer in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    guard number <= 3 else { return 0 }
                    go.waitOrEndRun("the client's word")
                    let event = Array("data: \(number)\n\n".utf8)
                    buffer.copyBytes(from: event)
                    return event.count
                }
                return answer
            })
        let client = try fixture.python(
            """
            tls = connect()
            tls.sendall(LAST)
            received = b""
            for number in range(1, 4):
                print("next", flush=True)
                while b"data: %d\\n\\n" % number not in received:
                    received += tls.recv(1000)
            print((received + receive(tls)).endswith(b"0\\r\\n\\r\\n"))
            """)
        for _ in 1...3 {
            try client.line("its wish for an event") { $0 == "next" }
            go.signal()
        }
        #expect(try client.finish().text == "True\n")
    }

    @Test("A client that has closed its sending side gets the whole answer", arguments: ["tls", "tcp"])
    func halfClose(side: String) throws {
        let fixture = try TLSFixture(HTTPService { _ in HTTPAnswer(body: ContentBody(Self.bytes)) })
        let client = try fixture.python(
            """
            if "\(side)" == "tls":
                received = half_closed(plain(), context, LAST)
            else:
                tls = connect()
                tls.sendall(LAST)
                socket.socket(fileno=socket.dup(tls.fileno())).shutdown(socket.SHUT_WR)
                received = receive(tls)
            print(len(received.partition(b"\\r\\n\\r\\n")[2]))
            """)
        let result = try client.finish()
        #expect(result.text == "300000\n", "\(result.errors)")
    }

    @Test("HTTP without TLS is told to use https, whatever it sends")
    func plain() throws {
        let requests = Recorder<Bool>()
        let fixture = try TLSFixture(
            HTTPService { _ in
                requests.record(true)
                return HTTPAnswer()
            })
        let answer = try fixture.fetch("/", scheme: "http")
        #expect(answer.code == 0 && answer.head.hasPrefix("HTTP/1.1 400 "))
        #expect(String(decoding: answer.body, as: UTF8.self).contains("https://"))
        let path = fixture.folder["sent"]
        try Data(Self.bytes).write(to: URL(fileURLWithPath: path))
        #expect(try fixture.fetch("/", "--data-binary", "@\(path)", scheme: "http").head.contains("HTTP/1.1 400 "))
        #expect(requests.elements.isEmpty)
    }

    @Test("At the plain address HTTP is served without TLS too, and it is not called secure; elsewhere it is not")
    func plainAddress() throws {
        let address = Locked<String?>(nil)
        let requests = Recorder<HTTPRequest>()
        let fixture = try TLSFixture(
            at: "::", plainAddress: { address.value },
            HTTPService { request in
                requests.record(request)
                return HTTPAnswer()
            })
        #expect(try fixture.fetch("/", scheme: "http").head.contains(" 400 "))
        address.set("127.0.0.1")
        #expect(try fixture.fetch("/plain", scheme: "http").head.contains(" 200 "))
        #expect(try fixture.fetch("/tls").head.contains(" 200 "))
        #expect(try fixture.fetch("/", scheme: "http", host: "127.0.0.2").head.contains(" 400 "))
        #expect(requests.elements.map(\.path) == ["/plain", "/tls"])
        #expect(requests.elements.map(\.isSecure) == [false, true])
        #expect(requests.elements.allSatisfy { $0.connection?.isPeerPrivate == true })
    }

    @Test("Fifty clients at the same time are answered, each with its own bytes")
    func manyClients() throws {
        let fixture = try TLSFixture(
            HTTPService { HTTPAnswer(body: ContentBody([UInt8]($0.path.utf8) + Self.bytes)) })
        let client = try fixture.python(
            """
            clients = [connect() for _ in range(50)]
            for number, tls in enumerate(clients):
                tls.sendall(b"GET /%d HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n" % number)
            bodies = [receive(tls).partition(b"\\r\\n\\r\\n")[2] for tls in clients]
            print(all(body.startswith(b"/%d\\0\\1" % number) for number, body in enumerate(bodies)))
            print({len(body) - len(b"/%d" % number) for number, body in enumerate(bodies)})
            """)
        let result = try client.finish()
        #expect(result.text == "True\n{300000}\n", "\(result.errors)")
        expectSoon("the end of all connections") { fixture.clientCount == 0 }
    }
}
