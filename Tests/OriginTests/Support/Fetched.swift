import Foundation
import Platform
import TestSupport

/// An answer that curl received.
struct Fetched {
    var status: Int
    /// The headers by their names in lower case.
    var headers: [String: String]
    var body: [UInt8]

    /// - Parameter options: of curl.
    init(_ url: String, _ options: String...) throws {
        let folder = try ScratchFolder()
        let result = try TestProcess.run(
            "/usr/bin/curl",
            ["-sS", "--noproxy", "*", "-D", folder["head"], "-o", folder["body"]] + options + [url], output: .null)
        guard result.code == 0 else { throw Unexpected("curl \(options) \(url): exit code \(result.code)") }
        let head = try String(contentsOfFile: folder["head"], encoding: .utf8)
        let lines = head.split(whereSeparator: \.isNewline)
        guard let first = lines.first, let status = Int(first.split(separator: " ")[1]) else {
            throw Unexpected("no status in: \(head)")
        }
        self.status = status
        headers = Dictionary(
            lines.dropFirst().compactMap { line in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                let value = line[line.index(after: colon)...].drop { $0 == " " }
                return (line[..<colon].lowercased(), String(value))
            }
        ) { _, last in last }
        body = (try? Data(contentsOf: URL(fileURLWithPath: folder["body"]))).map(Array.init) ?? []
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    func json() throws -> JSONValue { try JSONValue.parse(text) }

    /// The manifest of a playbackinfo.
    func manifest() throws -> String {
        guard let base64 = try json()["manifest"]?.string, let data = Data(base64Encoded: base64) else {
            throw Unexpected("no manifest in: \(text)")
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// The request to the license server of an encrypted DASH manifest: its address, and the body that asks for the
    /// content's key.
    func licenseRequest() throws -> (address: String, body: String) {
        let manifest = try manifest()
        guard let address = try json()["licenseUrl"]?.string, let id = manifest.range(of: "default_KID=\"") else {
            throw Unexpected("no license in: \(text)")
        }
        let digits = manifest[id.upperBound...].prefix { $0 != "\"" }.filter { $0 != "-" }
        let kid = Data(Hexadecimal.bytes(String(digits)) ?? []).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return (address, "{\"kids\":[\"\(kid)\"],\"type\":\"temporary\"}")
    }

    /// The content key in the answer of a license server.
    func contentKey() throws -> [UInt8] {
        guard let text = try json()["keys"]?[0]?["k"]?.string, let key = Base64.bytes(text.utf8) else {
            throw Unexpected("no key in: \(text)")
        }
        return key
    }
}
