import Foundation
import Platform
import TestSupport
import Testing

@Suite("Changes of a file")
struct FileMonitorTests {
    private let folder: ScratchFolder
    private let loop: EventLoop

    init() throws {
        folder = try ScratchFolder()
        loop = try EventLoop(drivenBy: ManualClock())
    }

    /// Returns the number of reports until now.
    private func reports(_ count: Locked<Int>) -> Int {
        // The loop fetches what is readable before the posted work.
        loop.post {}
        loop.stop()
        loop.run()
        return count.value
    }

    @Test("a file that is written, replaced or removed is reported, and no other one", arguments: ["login", "ü \u{1}"])
    func changes(_ name: String) throws {
        let count = Locked(0)
        let monitor = try FileMonitor(folder[name], loop: loop) { count.withLock { $0 += 1 } }
        try Data("a".utf8).write(to: URL(fileURLWithPath: folder["other"]))
        #expect(reports(count) == 0)
        try Data("a".utf8).write(to: URL(fileURLWithPath: folder[name]))
        #expect(reports(count) == 1)
        try FileReplacement.write(Array("b".utf8), to: folder[name], mode: 0o600)
        #expect(reports(count) == 2)
        try FileManager.default.removeItem(atPath: folder[name])
        #expect(reports(count) == 3)
        try FileManager.default.removeItem(atPath: folder["other"])
        #expect(reports(count) == 3)
        monitor.stop()
        try Data("a".utf8).write(to: URL(fileURLWithPath: folder[name]))
        #expect(reports(count) == 3)
    }

    @Test("a missing folder is an error that names it")
    func missing() throws {
        let path = folder["none/login"]
        let error = #expect(throws: SystemError.self) { try FileMonitor(path, loop: loop) {} }
        #expect(error?.description.contains(folder["none"]) == true)
    }
}
