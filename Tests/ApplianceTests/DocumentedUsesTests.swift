import ApplianceTestSupport
import Foundation
import Testing

@Suite("The code in the doc comments of the main types")
struct DocumentedUsesTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The bodies of the functions in DocumentedUses.swift, with the files that they belong to.
    private static func uses() throws -> [(file: String, code: [String])] {
        let text = try String(
            contentsOf: root.appending(path: "Tests/ApplianceTests/DocumentedUses.swift"), encoding: .utf8)
        var uses: [(file: String, code: [String])] = []
        var isBody = false
        for line in text.components(separatedBy: "\n") {
            if line.hasPrefix("    // "), line.hasSuffix(".swift") {
                uses.append((String(line.dropFirst(7)), []))
                isBody = true
            } else if line == "}" {
                isBody = false
            } else if isBody {
                uses[uses.count - 1].code.append(String(line.dropFirst(4)))
            }
        }
        return uses
    }

    /// The blocks of code in the doc comments of a file.
    private static func blocks(in file: String) throws -> [[String]] {
        let text = try String(contentsOf: root.appending(path: "Sources/\(file)"), encoding: .utf8)
        var blocks: [[String]] = []
        var isCode = false
        for line in text.components(separatedBy: "\n") {
            let isPart = line.hasPrefix("///     ") || isCode && line == "///"
            if isPart {
                if !isCode { blocks.append([]) }
                blocks[blocks.count - 1].append(String(line.dropFirst(8)))
            }
            isCode = isPart
        }
        return blocks.map { $0.last == "" ? $0.dropLast() : $0 }
    }

    @Test("is the code that is compiled with the tests")
    func compiled() throws {
        let uses = try Self.uses()
        #expect(uses.count == 9)
        for use in uses {
            // A function may end by returning the result.
            let code = use.code.filter { $0 != "return decoder" }
            #expect(try Self.blocks(in: use.file).contains(code), "the doc comment of \(use.file)")
            #expect((1...17).contains(code.count), "\(use.file) has \(code.count) lines")
        }
    }
}
