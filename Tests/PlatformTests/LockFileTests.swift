import CLinux
import Foundation
import TestSupport
import Testing

@testable import Platform

@Suite("A lock file")
struct LockFileTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    @Test("belongs to one owner, whose process it names, and is free afterwards")
    func oneOwner() throws {
        do {
            let lock = try LockFile(folder["lock"])
            #expect(throws: LockFile.Refusal.held(process: Int(getpid()))) { _ = try LockFile(folder["lock"]) }
            _ = consume lock
        }
        _ = try LockFile(folder["lock"])
    }

    @Test("is free at its end although a process that is being started still has a copy of its descriptor")
    func copiedDescriptor() throws {
        let path = folder["lock"]
        var copies: [Int32] = []
        do {
            let lock = try LockFile(path)
            let all = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
            for descriptor in all {
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
                if target == path { copies.append(dup(descriptor)) }
            }
            _ = consume lock
        }
        #expect(!copies.isEmpty)
        _ = try LockFile(path)
        for copy in copies { close(copy) }
    }

    @Test("is given back by the kernel when its owner is killed")
    func killedOwner() throws {
        let owner = Process()
        owner.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        owner.arguments = [folder["lock"], "sh", "-c", "echo held; exec sleep 1000"]
        let output = Foundation.Pipe()
        owner.standardOutput = output
        try owner.run()
        _ = output.fileHandleForReading.readData(ofLength: 5)
        #expect(throws: LockFile.Refusal.held(process: nil)) { _ = try LockFile(folder["lock"]) }
        // Both have the descriptor: flock(1), and the command that it runs.
        let killer = Process()
        killer.executableURL = URL(fileURLWithPath: "/usr/bin/pkill")
        killer.arguments = ["-KILL", "-P", "\(owner.processIdentifier)"]
        try killer.run()
        killer.waitUntilExit()
        owner.waitUntilExit()
        _ = try LockFile(folder["lock"])
    }

    @Test("says why it cannot be made")
    func noFolder() {
        do throws(LockFile.Refusal) {
            _ = try LockFile(folder["none/lock"])
            Issue.record("made")
        } catch {
            guard case .system(let error) = error else { Issue.record("\(error)"); return }
            #expect(error.code == ENOENT)
        }
    }
}
