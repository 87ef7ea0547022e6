import Foundation
import TestSupport
import Testing

@testable import HTTPServer
@testable import Platform

@Suite("Limits of a server with TLS")
struct TLSLimitsTests {
    private let service = HTTPService { _ in HTTPAnswer(body: ContentBody(Array("answer".utf8))) }

    @Test(
        "A client that says nothing, or only a part of its handshake, is closed after 10 s", arguments: ["", "160301"])
    func silence(start: String) throws {
        let clock = ManualClock(1)
        let fixture = try TLSFixture(clock: clock, service)
        let client = try fixture.python(
            """
            silent = plain()
            silent.sendall(bytes.fromhex("\(start)"))
            print("connected", flush=True)
            print(silent.recv(1))
            """)
        try client.line("the connection") { $0 == "connected" }
        expectSoon("the connection") { fixture.clientCount == 1 }
        clock.advance(by: TLSClient.handshakeLimit - 1)
        loopTurn(fixture)
        #expect(fixture.clientCount == 1)
        clock.advance(by: 1)
        loopTurn(fixture)
        #expect(fixture.clientCount == 0)
        #expect(try client.finish().text == "b''\n")
    }

    private func loopTurn(_ fixture: TLSFixture) {
        fixture.loop.clockAdvanced()
        _ = fixture.clientCount
    }

    @Test("Handshakes that are garbage, damaged or cut off leave nothing behind, and the next client is served")
    func garbage() throws {
        let fixture = try TLSFixture(service)
        let client = try fixture.python(
            """
            import random
            random.seed(7)
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            hello = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
            try:
                hello.do_handshake()
            except ssl.SSLWantReadError:
                pass
            good = outgoing.read()
            for number in range(120):
                bad = bytearray(good)
                if number % 3 == 0:
                    bad = bad[:random.randrange(1, len(bad))]
                elif number % 3 == 1:
                    for _ in range(8):
                        bad[random.randrange(1, len(bad))] = random.randrange(256)
                else:
                    bad[5:] = random.randbytes(random.randrange(20_000))
                broken = plain()
                try:
                    broken.sendall(bad)
                    broken.shutdown(socket.SHUT_WR)
                    while broken.recv(10_000):
                        pass
                except (ConnectionError, OSError):
                    pass
                broken.close()
            tls = connect()
            tls.sendall(LAST)
            print(receive(tls).endswith(b"answer"))
            """)
        let result = try client.finish()
        #expect(result.text == "True\n", "\(result.errors)")
        expectSoon("the end of all connections") { fixture.clientCount == 0 }
    }

    @Test("Connections count before their handshake: of one address, and of all, where each address has a fair share")
    func connections() throws {
        var limits = HTTPServer.Limits()
        (limits.connections, limits.ofAddress) = (3, 2)
        let fixture = try TLSFixture(at: "0.0.0.0", limits: limits, service)
        let client = try fixture.python(
            """
            def of(address):
                return socket.create_connection(("127.0.0.1", \(fixture.port)), 60, (address, 0))
            held = [plain(), plain()]
            print(plain().recv(1), flush=True)
            others = [of("127.0.0.2"), of("127.0.0.3")]
            print(held[0].recv(1), flush=True)
            print(of("127.0.0.3").recv(1), flush=True)
            others[1].close()
            import signal; signal.pause()
            """)
        defer { client.kill() }
        for _ in 1...3 { #expect(try client.nextLine() == "b''") }
        expectSoon("the end of the closed one") { fixture.clientCount == 2 }
        #expect(try fixture.fetch("/", "--interface", "127.0.0.4").code == 0)
    }

    @Test("A client that does not read stops the service, within the memory of the sockets, and is cut off")
    func slowReader() throws {
        var limits = HTTPServer.Limits()
        limits.idleSeconds = 1
        let made = Locked(0)
        let fixture = try TLSFixture(
            limits: limits,
            HTTPService { _ in
                var answer = HTTPAnswer()
                answer.stream = HTTPStream { buffer in
                    made.withLock { $0 += buffer.count }
                    return buffer.count
                }
                return answer
            })
        let client = try fixture.python(
            """
            slow = socket.socket()
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            slow.settimeout(60)
            slow.connect(("127.0.0.1", \(fixture.port)))
            tls = context.wrap_socket(slow, server_hostname="localhost")
            tls.sendall(GET)
            print("waiting", flush=True)
            import signal; signal.pause()
            """)
        defer { client.kill() }
        try client.line("its request") { $0 == "waiting" }
        expectSoon("the end of its connection") { made.value > 0 && fixture.clientCount == 0 }
        // The kernel lets the sending side of a TCP connection grow to 4 MiB.
        #expect(made.value < 8 << 20, "\(made.value) bytes were made")
    }

    @Test("An idle connection has no timer; the end of the server closes it with close_notify")
    func end() throws {
        var fixture: TLSFixture? = try TLSFixture(service)
        let client = try #require(fixture).python(
            """
            tls = connect()
            tls.sendall(GET)
            received = b""
            while not received.endswith(b"answer"):
                received += tls.recv(1000)
            print("answered", flush=True)
            print(tls.recv(1))
            """)
        try client.line("the answer") { $0 == "answered" }
        let loop = try #require(fixture?.loop)
        // The loop sets the kernel's timer at the beginning of a turn.
        _ = fixture?.clientCount
        #expect(fixture?.onLoop { $0.loop.armedNanoseconds } == 0 && fixture?.clientCount == 1)
        fixture = nil
        #expect(try client.finish().text == "b''\n")
        withExtendedLifetime(loop) {}
    }

    @Test("A client that disconnects during a stream ends the stream")
    func leaving() throws {
        let ended = Locked(0)
        final class Token: Sendable {
            let ended: Locked<Int>
            init(_ ended: Locked<Int>) { self.ended = ended }
            deinit { ended.withLock { $0 += 1 } }
        }
        let fixture = try TLSFixture(
            HTTPService { _ in
                let token = Token(ended)
                var answer = HTTPAnswer()
                answer.stream = HTTPStream { buffer in
                    withExtendedLifetime(token) {
                        Deadline.pause()
                        buffer[0] = 0
                        return 1
                    }
                }
                return answer
            })
        let client = try fixture.python(
            """
            for _ in range(5):
                tls = connect()
                tls.sendall(GET)
                tls.recv(1)
                tls.close()
            """)
        #expect(try client.finish().code == 0)
        expectSoon("the end of the streams") { ended.value == 5 && fixture.clientCount == 0 }
    }
}
