import CLinux
import Testing
import TestSupport

@testable import Platform

@Suite("Names of files are bytes")
struct FileNameTests {
    private func text(_ bytes: [UInt8]) -> String { bytes.withUnsafeBufferPointer { FileName.text(of: $0) } }
    private func bytes(_ text: String) -> [UInt8] {
        FileName.withBytes(of: text) { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }

    static let names: [([UInt8], String)] = [
        (Array("plain.flac".utf8), "plain.flac"),
        (Array("Größe 東京 🎵".utf8), "Größe 東京 🎵"),
        ([0x63, 0x61, 0x66, 0xE9], "caf\u{EFE9}"),
        ([0xFF], "\u{EFFF}"), ([0x80, 0x2E], "\u{EF80}."),
        // Cut short, overlong, a surrogate, beyond Unicode.
        ([0xC3], "\u{EFC3}"), ([0xC0, 0xAF], "\u{EFC0}\u{EFAF}"), ([0xE2, 0x82, 0x61], "\u{EFE2}\u{EF82}a"),
        ([0xED, 0xA0, 0x80], "\u{EFED}\u{EFA0}\u{EF80}"),
        ([0xF4, 0x90, 0x80, 0x80], "\u{EFF4}\u{EF90}\u{EF80}\u{EF80}"),
        // A name that has one of the scalars that stand for bytes.
        (Array("\u{EF80}".utf8), "\u{EFEE}\u{EFBE}\u{EF80}"), (Array("\u{EFFF}".utf8), "\u{EFEE}\u{EFBF}\u{EFBF}"),
        // Its neighbours are themselves.
        (Array("\u{EF7F}\u{F000}".utf8), "\u{EF7F}\u{F000}"),
    ]

    @Test("what is not UTF-8, and what stands for it, is escaped", arguments: names)
    func table(name: [UInt8], expected: String) {
        #expect(text(name) == expected)
        #expect(bytes(expected) == name)
    }

    @Test("every name leads back to its bytes")
    func reversible() {
        var random = SeededRandom(27)
        for _ in 0..<20_000 {
            // Bytes that matter: ends of ranges, leads, continuations.
            let alphabet: [UInt8] = [
                0x61, 0x7F, 0x80, 0xBE, 0xBF, 0xC2, 0xDF, 0xE0, 0xED, 0xEE, 0xEF, 0xF0, 0xF4, 0xFF,
            ]
            let name = (0..<Int(random.next() % 8)).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
            #expect(bytes(text(name)) == name, "\(name)")
        }
    }

    @Test("files of such names are made, listed, opened, renamed and removed")
    func files() throws {
        let folder = try ScratchFolder()
        let name = "caf\u{EFE9}"
        try Folder.create(folder["\(name)/below"])
        let path = folder["\(name)/a\u{EFFF}.flac"]
        try FileReplacement.write([1, 2, 3], to: path)
        #expect(FileKind(at: path) == .file)
        #expect(try File.contents(of: path, limit: 10) == [1, 2, 3])
        #expect(try Folder.entries(of: folder[name]).map(\.name) == ["a\u{EFFF}.flac", "below"])
        #expect(try Folder.resolved(folder["\(name)/below/../a\u{EFFF}.flac"]).hasSuffix("/\(name)/a\u{EFFF}.flac"))
        let listed = try #require(folder.path.withCString { opendir($0) })
        defer { closedir(listed) }
        var names: [[UInt8]] = []
        var type: Int32 = 0
        while let found = tonearm_next_name(listed, &type) {
            names.append(Array(UnsafeRawBufferPointer(start: found, count: strlen(found))))
        }
        #expect(names.contains([0x63, 0x61, 0x66, 0xE9]), "the kernel has the bytes")
        try Folder.renameFile(path, to: folder["\(name)/b\u{EF80}"])
        try Folder.removeFile(folder["\(name)/b\u{EF80}"])
        #expect(try Folder.entries(of: folder[name]).map(\.name) == ["below"])
    }
}
