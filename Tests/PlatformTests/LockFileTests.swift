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
        let owner = try TestProcess("/usr/bin/flock", [folder["lock"], "sh", "-c", "echo held; exec sleep 1000"])
        #expect(try owner.nextLine() == "held")
        #expect(throws: LockFile.Refusal.held(process: nil)) { _ = try LockFile(folder["lock"]) }
        // Both have the descriptor: flock(1), and the command that it runs, which is reaped by another process.
        owner.kill()
        try waitUntil("the end of the owner's command") { (try? LockFile(folder["lock"])) != nil }
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
