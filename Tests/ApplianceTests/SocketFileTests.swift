import ApplianceTestSupport
import CLinux
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance

@Suite("The control socket's file")
struct SocketFileTests {
    private let folder: ScratchFolder
    private var path: String { folder["run/control"] }

    init() throws { folder = try ScratchFolder() }

    private func file(_ mode: UInt32 = 0o660, group: String? = nil) -> SocketFile {
        SocketFile(path: path, mode: mode, group: group)
    }

    private func failure(_ file: SocketFile) -> SocketFileError? {
        do throws(SocketFileError) { _ = try file.open() } catch { return error }
        return nil
    }

    @Test("Its folder is created, its mode is set, and no temporary file remains", arguments: [0o600, 0o660, 0o666])
    func mode(mode: UInt32) throws {
        let socket = try file(mode).open()
        var found: UInt32 = 0
        #expect(tonearm_mode_of_link(path, &found) == 0 && found & 0o777 == mode)
        #expect(try Folder.entries(of: folder["run"]).map(\.name) == ["control"])
        _ = socket
    }

    @Test("It gets the configured group; a group that does not exist is ignored")
    func group() throws {
        let groups =
            FileManager.default.contents(atPath: "/etc/group").map { String(decoding: $0, as: UTF8.self) } ?? ""
        let line = try #require(groups.split(separator: "\n").last { $0.split(separator: ":").count >= 3 })
        let (name, id) = (String(line.split(separator: ":")[0]), UInt32(line.split(separator: ":")[2]))
        _ = try file(group: name).open()
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        // Only root may give a file to any group.
        if getuid() == 0 { #expect((attributes[.groupOwnerAccountID] as? NSNumber)?.uint32Value == id) }
        #expect(failure(file(group: "no such group")) == nil)
    }

    @Test("The socket that a crash has left is replaced, under either name")
    func stale() throws {
        _ = try file().open()
        _ = try StreamSocket(listeningAt: path + ".new", mode: 0o600)
        let socket = try file().open()
        _ = try StreamSocket(connectingTo: path)
        #expect(try socket.accept() != nil)
    }

    @Test("A socket in use is left alone, and so is a file that is not a socket")
    func taken() throws {
        let socket = try file().open()
        #expect(failure(file()) == .inUse(path: path))
        #expect(try socket.accept() != nil)
        try Folder.removeFile(path)
        try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        #expect(failure(file()) == .notASocket(path: path))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test("A path that cannot be a socket's says why")
    func impossible() throws {
        let long = folder[String(repeating: "x", count: 100)]
        guard case .system(_, let tooLong) = failure(SocketFile(path: long, mode: 0, group: nil)) else {
            Issue.record("opened")
            return
        }
        #expect(tooLong.code == ENAMETOOLONG)
        try Data().write(to: URL(fileURLWithPath: folder["file"]))
        for below in ["file", "file/folder"] {
            let path = folder["\(below)/control"]
            let message =
                "control socket \(path): the folder \(folder[below]) cannot be made: a file is in the way. "
                + "Set another path: [control] socket"
            #expect(failure(SocketFile(path: path, mode: 0, group: nil))?.description == message)
        }
    }

    @Test(
        "An error of the system names the configured path and what to do",
        arguments: [
            (EACCES, "Permission denied. Start it as a user who may write to /run/x, or set another path"),
            (EROFS, "listen at: Read-only file system. Fix that, or set another path"),
        ])
    func refused(code: Int32, message: String) {
        let error = SystemError(code: code, operation: "listen at", subject: "/run/x/control.new")
        #expect(
            SocketFileError.system(path: "/run/x/control", error).description
                == "control socket /run/x/control: \(message): [control] socket")
    }

    @Test(
        "Groups are read as group(5) has them",
        arguments: [
            ("audio", 29), ("tonearm", 998), ("aud", nil), ("", nil), ("broken", nil),
        ])
    func groups(name: String, id: UInt32?) {
        let text = "root:x:0:\naudio:x:29:pulse,me\nbroken:x\ntonearm:x:998:\n"
        #expect(UserGroup.id(named: name, in: Array(text.utf8)) == id)
    }
}
