import Foundation
import TestSupport
import Testing

@testable import Network

@Suite("Handshakes that cannot succeed")
struct HandshakeTests {
    private let certificates: TestCertificates

    init() throws { certificates = try Nginx.shared.get().certificates }

    /// A server of openssl.
    private func server(_ options: String) throws -> (process: TestProcess, port: Int) {
        let port = Loopback.freePorts(1)[0]
        let words =
            "s_server -accept 127.0.0.1:\(port) -www -cert \(certificates.path("good.pem")) "
            + "-key \(certificates.path("good.key")) \(options)"
        let process = try TestProcess(
            "/usr/bin/openssl", words.split(separator: " ").map(String.init), errors: .null)
        _ = try process.line("the server to listen") { $0.hasPrefix("ACCEPT") }
        return (process, port)
    }

    @Test(
        "a server that wants other TLS, or a certificate of the player, is no failure of the network",
        arguments: [
            ("-tls1_1 -cipher DEFAULT@SECLEVEL=0", ""),
            ("-tls1_2 -cipher ECDHE-ECDSA-CAMELLIA128-SHA256", "nothing in common"),
            ("-groups brainpoolP256r1", "nothing in common"), ("-Verify 3", "a certificate of the player"),
            ("-Verify 3 -tls1_2", "a certificate of the player"),
        ])
    func refused(options: String, words: String) throws {
        let server = try server(options)
        defer { server.process.kill() }
        let error = try Network.forTests().run("https://localhost:\(server.port)/").error
        guard case .tls(.handshake(let reason, isFinal: true)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(words.isEmpty || reason.contains(words), "\(reason)")
    }

    @Test("a server without TLS is named so, and one that closes the connection is asked again")
    func noTLS() throws {
        let plain = ScriptedServer { connection in
            _ = connection.bytes()
            connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        guard
            case .tls(.handshake(let reason, isFinal: true)) = try Network.forTests().run(plain.url(scheme: "https"))
                .error
        else { throw Unexpected("not refused") }
        #expect(reason.contains("http://"))
        let closing = ScriptedServer { connection in _ = connection.bytes() }
        guard case .tls(.handshake(_, isFinal: false)) = try Network.forTests().run(closing.url(scheme: "https")).error
        else { throw Unexpected("not a failure of the network") }
    }

    @Test(
        "what the words of the TLS libraries mean",
        arguments: [
            ("ssl_handshake returned: (-0x77A8) unknown error", "nothing in common", true),
            ("ssl_handshake returned: (-0x77C6) unknown error", "no version of TLS", true),
            ("ssl_handshake returned: (-0x77F4) unknown error", "certificate of the player", true),
            ("ssl_handshake returned: (-0x77D0) unknown error", "the server failed", false),
            ("ssl_handshake returned: (-0x7780) unknown error", "refused the handshake", true),
            ("ssl_handshake returned: (-0x7200) unknown error", "does not speak TLS", true),
            ("ssl_handshake returned: (-0x6E80) unknown error", "no version of TLS", true),
            ("ssl_handshake returned: (-0x262E) unknown error", "of a kind", true),
            ("ssl_handshake returned: (-0x7F00) unknown error", "7F00", false),
            ("ssl_handshake returned: (-0x7280) unknown error", "closed the connection", false),
            ("ssl_handshake returned: (-0x0050) unknown error", "closed the connection", false),
            ("OpenSSL/3.0.19: error:0A000410:SSL routines::sslv3 alert handshake failure", "nothing in common", true),
            ("OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number", "does not speak TLS", true),
            ("OpenSSL/3.0.19: error:0A000126:SSL routines::unexpected eof while reading", "closed", false),
            ("OpenSSL SSL_connect: Connection reset by peer in connection to a:1", "reset by peer", false),
            ("(-0x", "(-0x", false), ("", "", false),
        ])
    func meaning(message: String, words: String, isFinal: Bool) {
        guard case .handshake(let reason, isFinal) = TLSFailure(handshake: message) else {
            Issue.record("\(TLSFailure(handshake: message))")
            return
        }
        #expect(words.isEmpty || reason.contains(words), "\(reason)")
    }
}
