import Foundation
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Requests that the server refuses")
struct ServerLimitsTests {
    private let folder: ScratchFolder
    private let service = HTTPService { _ in HTTPAnswer() }

    init() throws { folder = try ScratchFolder() }

    @Test("TLS before 1.2")
    func oldTLS() throws {
        let made = try TestProcess.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-keyout", folder["key"], "-out", folder["certificate"],
            ])
        try #require(made.code == 0, "\(made.errors)")
        let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
        let identity = HTTPServer.Identity(
            certificate: try String(contentsOfFile: folder["certificate"], encoding: .utf8),
            key: try String(contentsOfFile: folder["key"], encoding: .utf8))
        let server = try HTTPServer(on: socket, identity: identity, service)
        for (version, isSpoken) in [("1_1", false), ("1_2", true), ("1_3", true)] {
            let result = try TestProcess.run(
                "/usr/bin/openssl",
                [
                    "s_client", "-connect", "127.0.0.1:\(socket.port)", "-tls\(version)", "-cipher",
                    "DEFAULT@SECLEVEL=0",
                ])
            #expect((result.code == 0) == isSpoken, "TLS \(version): \(result.errors.prefix(300))")
        }
        withExtendedLifetime(server) {}
    }

    @Test("One address does not take the places of all")
    func connections() throws {
        let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
        let server = try HTTPServer(on: socket, identity: nil, service)
        let script = """
            import signal, socket
            held = [socket.create_connection(("127.0.0.1", \(socket.port))) for _ in range(600)]
            print("held", flush=True)
            signal.pause()
            """
        let holder = try TestProcess("/usr/bin/python3", ["-c", script])
        defer { holder.kill() }
        _ = try holder.line("the connections") { $0 == "held" }
        let answer = try TestProcess.run(
            "/usr/bin/curl",
            [
                "-sS", "--noproxy", "*", "--interface", "127.0.0.2", "--max-time", "60", "-w", "%{http_code}",
                "http://127.0.0.1:\(socket.port)/",
            ])
        #expect(answer.text == "200", "\(answer.errors)")
        withExtendedLifetime(server) {}
    }
}
