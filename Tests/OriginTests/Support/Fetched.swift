import Foundation
import Platform
import TestSupport

/// What curl got.
struct Fetched {
    var status: Int
    /// By names in lower case.
    var headers: [String: String]
    var body: [UInt8]

    /// - Parameter options: of curl.
    init(_ url: String, _ options: String...) throws {
        let folder = try ScratchFolder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        process.arguments = ["-sS", "--noproxy", "*", "-D", folder["head"], "-o", folder["body"]] + options + [url]
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Unexpected("curl \(options) \(url): exit code \(process.terminationStatus)")
        }
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
}
