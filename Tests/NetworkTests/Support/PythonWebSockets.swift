import Foundation
import Platform
import TestSupport

/// A server of Python's websockets: a port without TLS, and one for each certificate. The path says what it does.
final class PythonWebSockets {
    private let process: TestProcess
    private let ports: [String: Int]

    /// Whether Python has the package.
    static let isAvailable: Bool =
        (try? TestProcess.run("/usr/bin/python3", ["-c", "import websockets"]).code) == 0

    init() throws {
        let certificates = try Nginx.shared.get().certificates
        let kinds = TestCertificates.Kind.allCases.map(\.rawValue)
        process = try TestProcess(
            "/usr/bin/python3", ["-c", Self.script] + kinds, in: Folder.containing(certificates.authority))
        let words = try process.line("the ports") { $0.hasPrefix("ports ") }.split(separator: " ")
        ports = Dictionary(
            uniqueKeysWithValues: words.dropFirst().map {
                let pair = $0.split(separator: "=")
                return (String(pair[0]), Int(pair[1])!)
            })
    }

    func url(_ path: String) -> String { "ws://127.0.0.1:\(ports["plain"]!)\(path)" }

    func secureURL(_ path: String, _ kind: TestCertificates.Kind = .good) -> String {
        "wss://localhost:\(ports[kind.rawValue]!)\(path)"
    }

    /// The next line about a connection: how it was closed, and with which extensions.
    func line() throws -> String { try process.line("a connection") { $0.hasPrefix("closed ") } }

    private static let script = """
        import asyncio, http, ssl, sys, websockets
        async def serve(ws, path):
            try:
                if path == "/fragments":
                    await ws.send([c for c in "größer"])
                    await ws.ping()
                    await ws.send("end")
                elif path == "/ping":
                    await (await ws.ping(b"x" * 125))
                    await ws.send("pong")
                elif path == "/close":
                    await ws.close(4001, "enough")
                elif path == "/binary":
                    await ws.send(b"bytes")
                elif path == "/large":
                    await ws.send("x" * 65537)
                elif path == "/drop":
                    ws.transport.abort()
                elif path == "/headers":
                    await ws.send(ws.request_headers["X-Test"] + " " + ws.request_headers["Host"].split(":")[0])
                async for message in ws:
                    await ws.send(message)
            except websockets.ConnectionClosed:
                pass
            await ws.wait_closed()
            print("closed", ws.close_code, ws.extensions, flush=True)
        async def refuse(path, headers):
            if path == "/refuse":
                return http.HTTPStatus.SERVICE_UNAVAILABLE, [("Retry-After", "7")], b"later"
        async def main():
            servers = []
            for name in ["plain"] + sys.argv[1:]:
                context = None
                if name != "plain":
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                    context.load_cert_chain(name + ".pem", name + ".key")
                server = await websockets.serve(serve, "127.0.0.1", 0, ssl=context, process_request=refuse)
                servers.append((name, server))
            ports = [f"{n}={s.sockets[0].getsockname()[1]}" for n, s in servers]
            print("ports", *ports, flush=True)
            await asyncio.Future()
        asyncio.run(main())
        """
}
