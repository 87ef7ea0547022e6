import CLinux
import Platform

/// The servers of tools/lib/tls-server.sh.
struct Servers {
    /// The folder of their certificates.
    private let folder: String
    private let ports: [String: String]

    /// - Returns: nil without the file of their ports.
    init?(in folder: String) {
        self.folder = folder
        guard let text = Self.text(of: "\(folder)/ports") else { return nil }
        var ports: [String: String] = [:]
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "))
            guard words.count == 2 else { continue }
            ports[String(decoding: words[0], as: UTF8.self)] = String(decoding: words[1], as: UTF8.self)
        }
        self.ports = ports
    }

    func authority(_ name: String) -> String { "\(folder)/\(name).pem" }

    /// SHA-256 of the server's public key, in base64.
    func pin(of server: String) -> String {
        let text = Self.text(of: "\(folder)/\(server).pin") ?? ""
        return String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    func url(_ path: String, of server: String, scheme: String = "https") -> String {
        "\(scheme)://localhost:\(ports[server] ?? "0")\(path)"
    }

    /// The answer of all servers to `/file`.
    var file: [UInt8]? { try? File.contents(of: "\(folder)/file", limit: 1 << 24) }

    private static func text(of path: String) -> String? {
        (try? File.contents(of: path, limit: 65_536)).map { String(decoding: $0, as: UTF8.self) }
    }
}
