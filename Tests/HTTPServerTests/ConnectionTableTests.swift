import Foundation
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Deadlines and places of connections")
struct ConnectionTableTests {
    @Test("A request is due within the patience, from the beginning and from the answer before it")
    func deadlines() {
        var table = ConnectionTable(limit: 4, patience: 60)
        #expect(table.nextDue == nil)
        #expect(table.open(7, [1], at: 0) == nil && table.open(8, [1], at: 10) == nil)
        #expect(table.nextDue == 60)
        table.receive(7, at: 50)
        #expect(table.nextDue == 70 && table.late(at: 69) == [])
        #expect(table.late(at: 70) == [8])
        // Once only, until libmicrohttpd closes it.
        #expect(table.late(at: 71) == [] && table.nextDue == nil)
        table.answered(7, at: 500)
        #expect(table.nextDue == 560 && table.late(at: 560) == [7])
        table.close(7)
        table.close(8)
        #expect(table.open(7, [1], at: 1000) == nil && table.nextDue == 1060)
    }

    @Test("A connection that ends is due no more, and the others stay")
    func close() {
        var table = ConnectionTable(limit: 4, patience: 60)
        for descriptor in [4, 5, 6] as [Int32] { #expect(table.open(descriptor, [1], at: Int64(descriptor)) == nil) }
        table.close(5)
        #expect(table.late(at: 100) == [4, 6])
    }

    @Test("A connection that makes room is counted no more")
    func places() {
        var table = ConnectionTable(limit: 3, patience: 60)
        for descriptor in [4, 5, 6] as [Int32] { #expect(table.open(descriptor, [1], at: Int64(descriptor)) == nil) }
        table.receive(4, at: 50)
        #expect(table.open(7, [2], at: 51) == 5)
        // It has a fair share by now.
        #expect(table.open(8, [2], at: 52) == 8)
        #expect(table.open(9, [3], at: 53) == 6)
        table.close(4)
        #expect(table.open(10, [2], at: 54) == nil)
    }

    @Test(
        "A client that sends its head or body byte by byte is disconnected",
        arguments: ["", "GET / HTTP/1.1\r\nHost: a", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n"])
    func drip(start: String) throws {
        let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
        var limits = HTTPServer.Limits()
        limits.idleSeconds = 2
        let server = try HTTPServer(on: socket, identity: nil, limits: limits, HTTPService { _ in HTTPAnswer() })
        // A byte each 0.2 s keeps the connection from being idle.
        let script = """
            import select, socket
            client = socket.create_connection(("127.0.0.1", \(socket.port)), 60)
            client.sendall(\(String(reflecting: start)).encode())
            sent = 0
            try:
                while sent < 100 and not select.select([client], [], [], 0.2)[0]:
                    client.sendall(b"a")
                    sent += 1
                print("ended" if sent < 100 and client.recv(1) == b"" else "open")
            except ConnectionError:
                print("ended")
            """
        #expect(try TestProcess.run("/usr/bin/python3", ["-c", script]).text == "ended\n")
        withExtendedLifetime(server) {}
    }

    @Test("Two addresses with all places do not lock out a third one")
    func thirdAddress() throws {
        let socket = try ListeningSocket(address: "0.0.0.0", port: 0)
        var limits = HTTPServer.Limits()
        (limits.connections, limits.ofAddress) = (8, 4)
        let server = try HTTPServer(on: socket, identity: nil, limits: limits, HTTPService { _ in HTTPAnswer() })
        let script = """
            import signal, socket
            def of(address):
                return socket.create_connection(("127.0.0.1", \(socket.port)), 60, (address, 0))
            held = [of(address) for address in ["127.0.0.2", "127.0.0.3"] for _ in range(4)]
            print("held", flush=True)
            signal.pause()
            """
        let holder = try TestProcess("/usr/bin/python3", ["-c", script])
        defer { holder.kill() }
        _ = try holder.line("the connections") { $0 == "held" }
        let answer = try TestProcess.run(
            "/usr/bin/curl",
            [
                "-sS", "--noproxy", "*", "--interface", "127.0.0.4", "--max-time", "60", "-w", "%{http_code}",
                "http://127.0.0.1:\(socket.port)/",
            ])
        #expect(answer.text == "200", "\(answer.errors)")
        withExtendedLifetime(server) {}
    }
}
