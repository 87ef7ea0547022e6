import ApplianceTestSupport
import Foundation
import Testing

@testable import Appliance

@Suite("The files of the table that the engine and the firmware image share")
struct ConfigurationTableTests {
    private struct File {
        var title: String
        var bytes: [UInt8] = []
        var contents: [String] = []
    }

    private static func files() throws -> [File] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let table = try String(contentsOf: tests.appending(path: "Support/configuration-files.txt"), encoding: .utf8)
        var files: [File] = []
        for line in table.components(separatedBy: "\n") {
            if line.hasPrefix("= ") {
                files.append(File(title: String(line.dropFirst(2))))
            } else if line.hasPrefix("< |") {
                files[files.count - 1].bytes = unescaped(line.dropFirst(3).dropLast())
            } else if line.hasPrefix("> ") {
                files[files.count - 1].contents.append(String(line.dropFirst(2)))
            }
        }
        return files
    }

    private static func unescaped(_ text: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let sign = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            switch sign {
            case UInt8(ascii: "n"): bytes.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "r"): bytes.append(UInt8(ascii: "\r"))
            case UInt8(ascii: "t"): bytes.append(UInt8(ascii: "\t"))
            case UInt8(ascii: "x"):
                bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
                rest = rest.dropFirst(2)
            default: bytes.append(sign)
            }
        }
        return bytes
    }

    /// Returns the contents of a file in the form of the table.
    private static func contents(of bytes: [UInt8]) -> [String] {
        let text = ConfigurationText(bytes, file: "")
        var lines: [(line: Int, order: Int, text: String)] = []
        lines += text.problems.map { ($0.line, 0, "\($0.line)! \($0.message)") }
        lines += text.notes.map { ($0.line, 1, "\($0.line)? \($0.message)") }
        lines += text.sections.map { ($0.line, 2, "\($0.line) [\($0.name)]") }
        lines += text.assignments.map {
            ($0.line, 2, "\($0.line) [\($0.section)] \($0.key) = |\($0.value)|" + ($0.isCut ? " (cut)" : ""))
        }
        return lines.sorted { ($0.line, $0.order) < ($1.line, $1.order) }
            .map { $0.text.replacingOccurrences(of: "\t", with: "\\t") }
    }

    @Test("The engine reads what the table says")
    func table() throws {
        let files = try Self.files()
        #expect(files.count >= 60)
        for file in files { #expect(Self.contents(of: file.bytes) == file.contents, "\(file.title)") }
    }
}
