import Foundation
import TestSupport

/// nginx on the loopback interface, for all tests of this process: a port without TLS, and one for each certificate.
final class Nginx: Sendable {
    static let shared = Result { try Nginx() }

    let certificates: TestCertificates
    /// The answer to `/file`.
    let file: [UInt8]
    private let folder: ScratchFolder
    private let ports: [String: Int]

    private static let plain = "plain"
    private static let other = "other"
    private static let names = [plain, other] + TestCertificates.Kind.allCases.map(\.rawValue)

    private init() throws {
        certificates = try TestCertificates()
        folder = try ScratchFolder()
        var generator = SystemRandomNumberGenerator()
        file = (0..<393_216).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } }
        try Data(file).write(to: URL(fileURLWithPath: folder["file"]))
        // Between the choice of the ports and nginx another program may take one.
        for _ in 0..<5 {
            let chosen = Dictionary(uniqueKeysWithValues: zip(Self.names, Loopback.freePorts(Self.names.count)))
            try Data(Self.configuration(chosen, folder, certificates).utf8).write(
                to: URL(fileURLWithPath: folder["conf"]))
            // All tests use it.
            let start = NetworkNamespace.onThreadOfProcess { [folder] in Result { try Self.start(folder) } }
            if try start?.get() ?? false {
                ports = chosen
                try Self.endWithThisProcess(folder)
                return
            }
        }
        throw ServerFailure(reason: (try? String(contentsOfFile: folder["log"], encoding: .utf8)) ?? "no nginx")
    }

    func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(ports[Self.plain]!)\(path)" }

    /// The same server at another port.
    func otherURL(_ path: String) -> String { "http://127.0.0.1:\(ports[Self.other]!)\(path)" }

    func secureURL(_ path: String, _ kind: TestCertificates.Kind = .good, host: String = "localhost") -> String {
        "https://\(host):\(ports[kind.rawValue]!)\(path)"
    }

    /// With `daemon on` the first process ends when the sockets listen.
    private static func start(_ folder: ScratchFolder) throws -> Bool {
        do {
            return try TestProcess(
                "/usr/sbin/nginx", ["-p", folder.path, "-c", "conf", "-e", "log"], output: .null, errors: .null
            ).waitUntilExit() == 0
        } catch is Unexpected {
            throw ServerFailure(reason: "/usr/sbin/nginx cannot be started: run tools/setup")
        }
    }

    private static func endWithThisProcess(_ folder: ScratchFolder) throws {
        let text = try String(contentsOfFile: folder["pid"], encoding: .utf8)
        guard let master = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)) else { return }
        Self.master.withLock { $0 = master }
        atexit {
            let master = Nginx.master.withLock { $0 }
            if master > 1 { kill(master, SIGTERM) }
        }
    }

    private static let master = Locked<Int32>(0)

    private static func configuration(
        _ ports: [String: Int], _ folder: ScratchFolder, _ certificates: TestCertificates
    ) -> String {
        let other = ports[other]!
        let locations = """
            location = /file { alias \(folder["file"]); }
            location = /small { default_type text/plain; return 200 "small"; }
            location = /empty { return 204; }
            location = /missing { return 404 "not here"; }
            location = /connection { return 200 "$connection $connection_requests"; }
            location = /session { return 200 "$ssl_session_reused $ssl_protocol"; }
            location = /fields { return 200 "$http_authorization|$http_accept|$http_x_token|$http_user_agent"; }
            location = /slow { alias \(folder["file"]); limit_rate 65536; }
            location ~ ^/redirect/0$ { return 200 "$request_method there"; }
            location ~ ^/redirect/(?<left>[1-9])$ { return 302 /next/$left; }
            location = /next/1 { return 307 /redirect/0; }
            location ~ ^/next/(?<left>[1-9])$ { return 301 /less/$left; }
            location = /less/2 { return 302 /redirect/1; }
            location = /less/3 { return 302 /redirect/2; }
            location = /loop { return 302 loop; }
            location = /to-plain { return 302 http://127.0.0.1:\(ports[plain]!)/small; }
            location = /to-secure { return 302 https://localhost:\(ports["good"]!)/small; }
            location = /to-other { return 302 http://127.0.0.1:\(other)/fields; }
            location = /to-file { return 302 file:///etc/passwd; }
            location = /see-other { return 303 /redirect/0; }
            location = /not-modified { return 304; }
            """
        let secure = TestCertificates.Kind.allCases.map { kind in
            """
            server {
                listen 127.0.0.1:\(ports[kind.rawValue]!) ssl;
                ssl_certificate \(certificates.path(kind.rawValue)).pem;
                ssl_certificate_key \(certificates.path(kind.rawValue)).key;
                \(locations)
            }
            """
        }
        return """
            user root; pid \(folder["pid"]); worker_processes 1; error_log \(folder["log"]);
            events { worker_connections 256; }
            http {
                access_log off; default_type application/octet-stream; keepalive_requests 1000;
                ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:tests:1m;
                client_body_temp_path \(folder["t1"]); proxy_temp_path \(folder["t2"]);
                fastcgi_temp_path \(folder["t3"]); uwsgi_temp_path \(folder["t4"]); scgi_temp_path \(folder["t5"]);
                server {
                    listen 127.0.0.1:\(ports[plain]!);
                    listen 127.0.0.1:\(other);
                    \(locations)
                }
                \(secure.joined(separator: "\n"))
            }
            """
    }
}
