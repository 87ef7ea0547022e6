import Crypto
import Foundation
import Platform
import TestSupport

@testable import HTTPServer

/// A server with TLS at a port of 127.0.0.1, and its clients.
final class TLSFixture {
    let server: HTTPServer
    let loop: EventLoop
    let port: Int
    let files: ServerCertificate
    let folder: ScratchFolder

    /// - Parameter clock: drives the deadlines of the front; nil for the real one.
    init(
        kind: ServerCertificate.Kind = .p256, at address: String = "127.0.0.1", limits: HTTPServer.Limits = .init(),
        plainAddress: (@Sendable () -> String?)? = nil, clock: ManualClock? = nil, _ service: HTTPService
    ) throws {
        folder = try ScratchFolder()
        files = try ServerCertificate.of(kind)
        let identity = try TLSIdentity(
            certificate: ServerCertificate.bytes(files.chain),
            key: SecretBytes(copying: try ServerCertificate.bytes(files.key)))
        loop = if let clock { try EventLoop(drivenBy: clock) } else { try EventLoop() }
        let socket = try ListeningSocket(address: address, port: 0)
        port = socket.port
        server = try HTTPServer(
            on: socket, tls: identity, limits: limits, plainAddress: plainAddress, loop: loop, service)
    }

    /// The result of a closure on the front's thread.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (TLSFront) -> Value) -> Value {
        let answer = DispatchSemaphore(value: 0)
        let value = Locked<Value?>(nil)
        // Safe: the closure runs on the front's thread, as the front's own code does.
        nonisolated(unsafe) let front = server.front!
        loop.post {
            value.set(body(front))
            answer.signal()
        }
        answer.waitOrEndRun("an answer of the front's thread")
        return value.value!
    }

    /// How many clients have a connection.
    var clientCount: Int { onLoop { $0.clients.count } }

    /// Runs curl, which verifies the certificate. Its exit code, the head and the body of the answer.
    func fetch(_ path: String, _ options: String..., scheme: String = "https", host: String = "127.0.0.1") throws -> (
        code: Int32, head: String, body: Data
    ) {
        for name in ["head", "body"] { try? FileManager.default.removeItem(atPath: folder[name]) }
        let result = try TestProcess.run(
            "/usr/bin/curl",
            [
                "-sS", "--noproxy", "*", "--max-time", "60", "--cacert", files.authority, "-D", folder["head"], "-o",
                folder["body"],
            ] + options + ["\(scheme)://\(host):\(port)\(path)"])
        let head = (try? String(contentsOfFile: folder["head"], encoding: .utf8)) ?? ""
        let body = try? Data(contentsOf: URL(fileURLWithPath: folder["body"]))
        return (result.code, head, body ?? Data())
    }

    /// Starts a Python program that has `connect()`, which returns a socket with TLS, and `plain()`, one without.
    func python(_ script: String) throws -> TestProcess {
        let start = """
            import socket, ssl, sys, time
            context = ssl.create_default_context(cafile="\(files.authority)")
            def plain():
                return socket.create_connection(("127.0.0.1", \(port)), timeout=60)
            def connect():
                return context.wrap_socket(plain(), server_hostname="localhost", suppress_ragged_eofs=False)
            def receive(tls):
                received = b""
                while part := tls.recv(65536):
                    received += part
                return received
            GET = b"GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"
            LAST = b"GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n"

            """
        return try TestProcess("/usr/bin/python3", ["-c", ServerCertificate.halfClosedClient + start + script])
    }
}
