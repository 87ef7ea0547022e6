import Foundation
import TestSupport
import Testing

@Suite("What the origin's server refuses", .timeLimit(.minutes(5)))
struct ServerLimitsTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
    }

    @Test("TLS before 1.2")
    func oldTLS() throws {
        try run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-keyout", folder["key"], "-out", folder["certificate"],
            ])
        let origin = try RunningOrigin(
            folder["music"], state: folder["state"], "--tls-certificate", folder["certificate"], "--tls-key",
            folder["key"])
        let port = origin.address.split(separator: ":").last ?? ""
        for (version, isSpoken) in [("1_1", false), ("1_2", true), ("1_3", true)] {
            let result = try TestProcess.run(
                "/usr/bin/openssl",
                ["s_client", "-connect", "127.0.0.1:\(port)", "-tls\(version)", "-cipher", "DEFAULT@SECLEVEL=0"])
            #expect((result.code == 0) == isSpoken, "TLS \(version): \(result.errors.prefix(300))")
        }
    }

    @Test("One address does not take the places of all")
    func connections() throws {
        let origin = try RunningOrigin(folder["music"], state: folder["state"])
        let port = origin.address.split(separator: ":").last ?? ""
        let script = """
            import signal, socket
            held = [socket.create_connection(("127.0.0.1", \(port))) for _ in range(600)]
            print("held", flush=True)
            signal.pause()
            """
        let holder = try TestProcess("/usr/bin/python3", ["-c", script])
        defer { holder.kill() }
        _ = try holder.line("the connections") { $0 == "held" }
        let answer = try Fetched("\(origin.address)/v1/tracks", "--interface", "127.0.0.2", "--max-time", "60")
        #expect(answer.status == 200)
    }
}
