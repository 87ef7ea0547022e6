import CLinux
import Foundation
import Testing
import TestSupport
@testable import Platform

@Suite("Files")
struct FileTests {
    let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// Makes a file; gives its path.
    func file(_ name: String, _ bytes: [UInt8] = []) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: folder[name]))
        return folder[name]
    }

    @Test(
        "are read at any offset, short only at the end",
        arguments: [
            (0, 4, [0, 1, 2, 3]), (3, 4, [3, 4, 5, 6]), (8, 4, [8, 9]), (10, 4, []), (1000, 4, []), (5, 0, []),
        ] as [(Int64, Int, [UInt8])])
    func read(offset: Int64, count: Int, expected: [UInt8]) throws {
        let file = try File(reading: file("a", Array(0..<10)))
        var bytes = [UInt8](repeating: 0xFF, count: count)
        let done = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
        #expect(Array(bytes.prefix(done)) == expected)
        #expect(try file.length() == 10)
    }

    @Test(
        "a whole file is read up to a limit, those of /proc as well",
        arguments: [
            0, 1, 16_383, 16_384, 16_385, 100_000,
        ])
    func contents(length: Int) throws {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let path = try file("a", bytes)
        #expect(try File.contents(of: path, limit: length) == bytes)
        if length > 0 {
            #expect(throws: SystemError(code: EFBIG, operation: "read", subject: path)) {
                try File.contents(of: path, limit: length - 1)
            }
        }
        #expect(try !File.contents(of: "/proc/self/stat", limit: 4096).isEmpty)
    }

    @Test("what cannot be read is an error that names it")
    func notReadable() throws {
        let path = folder["missing"]
        #expect(throws: SystemError(code: ENOENT, operation: "open", subject: path)) { _ = try File(reading: path) }
        #expect(throws: SystemError(code: EISDIR, operation: "open", subject: folder.path)) {
            _ = try File(reading: folder.path)
        }
    }

    @Test("a named pipe without a writer does not block")
    func namedPipe() throws {
        mkfifo(folder["pipe"], 0o600)
        let error = #expect(throws: SystemError.self) { try File.contents(of: folder["pipe"], limit: 10) }
        #expect(error?.code == ESPIPE)
        #expect(FileKind(at: folder["pipe"]) == .other)
    }

    @Test("are written in place, and made only where there is nothing")
    func write() throws {
        let path = try file("a", [1, 2, 3])
        #expect(throws: SystemError(code: EEXIST, operation: "open", subject: path)) { _ = try File(creating: path) }
        let updated = try File(updating: path)
        try [9, 9].withUnsafeBytes { try updated.write(UnsafeRawBufferPointer(rebasing: $0[..<1]), at: 1) }
        #expect(try File.contents(of: path, limit: 10) == [1, 9, 3])
    }

    @Test("a folder lists its names by their bytes, with what they stand for")
    func entries() throws {
        for name in ["b", "Z", "ä", "a10", "a2", ".hidden", "..."] { _ = try file(name) }
        try Folder.create(folder["sub"])
        symlink("sub", folder["to sub"])
        symlink("nowhere", folder["to nothing"])
        #expect(
            try Folder.entries(of: folder.path) == [
                .init(name: "...", kind: .file), .init(name: ".hidden", kind: .file), .init(name: "Z", kind: .file),
                .init(name: "a10", kind: .file), .init(name: "a2", kind: .file), .init(name: "b", kind: .file),
                .init(name: "sub", kind: .folder),
                .init(name: "to nothing", kind: nil, mayBeLink: true),
                .init(name: "to sub", kind: .folder, mayBeLink: true), .init(name: "ä", kind: .file),
            ])
    }

    @Test("folders are made with those above them; what is there is no error")
    func create() throws {
        for _ in 0..<2 { try Folder.create(folder["a/b//c/"], mode: 0o700) }
        #expect(FileKind(at: folder["a/b/c"]) == .folder)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder["a/b"])
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        let path = try file("file")
        #expect(throws: SystemError(code: EEXIST, operation: "mkdir", subject: path)) { try Folder.create(path) }
        #expect(throws: SystemError(code: ENOTDIR, operation: "mkdir", subject: "\(path)/a")) {
            try Folder.create("\(path)/a")
        }
    }

    @Test("A file is created on a file system without hard links, unless there is one, or refused with the reason")
    func createWithoutLinks() throws {
        func none(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 { EPERM }
        let path = folder["key"]
        #expect(
            throws: SystemError(code: EOPNOTSUPP, operation: "rename", subject: path)
        ) {
            try FileReplacement.create(
                [1], at: path, mode: 0o600, namings: [("link", none), ("rename", { _, _ in EINVAL })])
        }
        #expect(try Folder.entries(of: folder.path).isEmpty)
        let namings: [(operation: String, run: FileReplacement.Naming)] = [
            ("link", none), ("rename", FileReplacement.renamed),
        ]
        #expect(try FileReplacement.create([1, 2], at: path, mode: 0o600, namings: namings))
        #expect(try !FileReplacement.create([3], at: path, mode: 0o600, namings: namings))
        #expect(try File.contents(of: path, limit: 9) == [1, 2])
        #expect(try Folder.entries(of: folder.path).map { $0.name } == ["key"])
    }

    @Test(
        "the folder of a path",
        arguments: [
            ("a", "."), ("/a", "/."), ("/a/b", "/a"), ("a/b.c", "a"), ("./a", "."),
        ])
    func containing(path: String, expected: String) {
        #expect(Folder.containing(path) == expected)
    }
}

@Suite("Replacing a file")
struct FileReplacementTests {
    let folder: ScratchFolder
    var path: String { folder["state"] }

    init() throws {
        folder = try ScratchFolder()
        try FileReplacement.write(Array("old".utf8), to: path)
    }

    func names() throws -> [String] { try Folder.entries(of: folder.path).map(\.name) }
    func contents() throws -> String { String(decoding: try File.contents(of: path, limit: 1 << 20), as: UTF8.self) }
    func append(_ text: String, to replacement: inout FileReplacement) throws {
        var text = text
        try text.withUTF8 { try replacement.append(UnsafeRawBufferPointer($0)) }
    }

    @Test("readers find the old contents until the commit, then the new ones")
    func commit() throws {
        let reader = try File(reading: path)
        var replacement = try FileReplacement(of: path, mode: 0o600)
        try append("new, ", to: &replacement)
        try append("and longer", to: &replacement)
        #expect(try contents() == "old")
        try replacement.commit()
        #expect(try contents() == "new, and longer")
        #expect(try names() == ["state"])
        #expect(try reader.length() == 3)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("the bytes are on the medium before the name leads to them, and the name is when the commit returns")
    func order() throws {
        let target = folder["target"]
        let run = try WriterProcess.run("state", "replace", target, "text")
        #expect(run.code == 0)
        let calls = run.errors.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
        #expect(calls.map { $0[0] } == ["open", "pwrite", "fsync", "rename", "fsync"])
        #expect(calls[0..<3].allSatisfy { $0[1] == calls[0][1] } && calls[0][1] != target, "the new file")
        #expect(calls[3][1] == target)
        #expect(calls[4][1] == folder.path)
    }

    @Test("without a commit nothing has happened")
    func abandon() throws {
        do {
            var replacement = try FileReplacement(of: path)
            try append("new", to: &replacement)
            #expect(try names().count == 2)
        }
        #expect(try contents() == "old")
        #expect(try names() == ["state"])
    }

    @Test("a commit that fails leaves the old one and no trace")
    func failing() throws {
        try Folder.create(folder["folder/inside"])
        let error = #expect(throws: SystemError.self) { try FileReplacement.write([1], to: folder["folder"]) }
        #expect(error?.operation == "rename")
        #expect(try names() == ["folder", "state"])
        #expect(throws: SystemError.self) { try FileReplacement.write([1], to: folder["missing/state"]) }
    }

    @Test("what was cut short is removed at start-up, and nothing else")
    func leftovers() throws {
        // As after a power cut: the temporary file is there, its process is not.
        let temporary = try {
            let replacement = try FileReplacement(of: path)
            let name = try #require(try names().first { $0 != "state" })
            _ = consume replacement
            return name
        }()
        let others = [".tonearm-1.new", "\(temporary).txt", "a\(temporary)", ".hidden"]
        for name in others + [temporary] { _ = try File(creating: folder[name]) }
        #expect(try FileReplacement.removeLeftovers(in: folder.path) == 1)
        #expect(try Set(names()) == Set(others + ["state"]))
        #expect(try FileReplacement.removeLeftovers(in: folder.path) == 0)
    }
}
