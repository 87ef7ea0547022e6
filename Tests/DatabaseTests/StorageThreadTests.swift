import Foundation
import Platform
import TestSupport
import Testing

@testable import Database

@Suite("The storage thread")
struct StorageThreadTests {
    let folder: ScratchFolder
    let path: String
    let clock = ManualClock()
    let loop: EventLoop
    let thread: StorageThread

    init() throws {
        folder = try ScratchFolder()
        path = folder["state/tonearm.db"]
        loop = try EventLoop(drivenBy: clock)
        thread = try StorageThread(path, modules: Self.modules, loop: loop, clock: clock)
        endRunUnlessInTime("the end of a thread") { thread.join() }
    }

    private static let modules = [SchemaModule("m", [Migration(1, KeyValueStore.schema("v"))])]

    /// Writes a value; `answers` gets its key and whether it is on the medium.
    private func write(
        _ key: String, _ urgency: StorageThread.Urgency = .now, to answers: Recorder<String>, fails: Bool = false
    ) {
        thread.write(urgency: urgency, answerOn: nil) { (database) throws(DatabaseError) in
            try KeyValueStore(database, table: "v").set(.text(key), for: key)
            if fails { try database.execute("INSERT INTO v VALUES (NULL, NULL)") }
        } answer: {
            answers.record($0 == nil ? key : "-\(key)")
        }
    }

    private func settle() {
        let done = DispatchSemaphore(value: 0)
        loop.post { done.signal() }
        done.waitOrEndRun("the loop or the storage thread")
    }

    @Test("waiting work shares a transaction; work that fails does not affect the rest")
    func batch() throws {
        let answers = Recorder<String>()
        let held = DispatchSemaphore(value: 0)
        loop.post { held.waitInTime() }
        for key in ["a", "b"] { write(key, to: answers) }
        write("c", to: answers, fails: true)
        write("d", to: answers)
        held.signal()
        thread.leave()
        #expect(answers.elements == ["a", "b", "-c", "d"])
        #expect(
            try rows("SELECT key FROM v", in: try Database(path: path)) == [["a"], ["b"], ["d"]])
    }

    @Test("writes that can wait stay within the budget; one that cannot takes them along at once")
    func budget() throws {
        let answers = Recorder<String>()
        for number in 0..<40 {
            write("\(number)", .canWait, to: answers)
            settle()
        }
        #expect(answers.elements.count == 12)
        clock.advance(by: 5_000_000_000)
        loop.clockAdvanced()
        settle()
        // All that waited in one transaction.
        #expect(answers.elements.count == 40)
        write("later", .canWait, to: answers)
        settle()
        #expect(answers.elements.count == 40)
        write("now", to: answers)
        settle()
        #expect(answers.elements.suffix(2) == ["later", "now"])
        write("waits", .canWait, to: answers)
        thread.hurry()
        settle()
        #expect(answers.elements.last == "waits")
        thread.leave()
    }

    @Test("a write that waits for the next one runs with it, with a second one of its kind, or at the end")
    func withNext() throws {
        let answers = Recorder<String>()
        write("a", .withNext, to: answers)
        settle()
        #expect(answers.elements.isEmpty)
        write("b", .canWait, to: answers)
        settle()
        #expect(answers.elements == ["a", "b"])
        for key in ["c", "d"] { write(key, .withNext, to: answers) }
        settle()
        #expect(answers.elements.suffix(2) == ["c", "d"])
        write("e", .withNext, to: answers)
        thread.endWaitForNext()
        settle()
        #expect(answers.elements.last == "e")
        write("f", .withNext, to: answers)
        thread.leave()
        #expect(answers.elements == ["a", "b", "c", "d", "e", "f"])
    }

    @Test("after the last user has left, the one file is everything: a copy of it is a backup")
    func backup() throws {
        let answers = Recorder<String>()
        endRunUnlessInTime("the end of a thread") { thread.join() }
        write("a", to: answers)
        thread.leave()
        write("b", .canWait, to: answers)
        thread.leave()
        #expect(answers.elements == ["a", "b"])
        #expect(FileKind(at: path + "-wal") == nil)
        try FileManager.default.copyItem(atPath: path, toPath: folder["backup.db"])
        #expect(try rows("SELECT key FROM v", in: try Database(path: folder["backup.db"])) == [["a"], ["b"]])
    }

    @Test("a folder is for one process that does not share it")
    func held() throws {
        do throws(StorageThread.Refusal) {
            _ = try StorageThread(path, modules: Self.modules)
            Issue.record("two of them")
        } catch {
            #expect(error == .held(process: Int(getpid())))
        }
        let shared = try StorageThread(path, modules: Self.modules, isShared: true)
        #expect(shared.problem == nil)
        thread.leave()
    }

    @Test("a file that cannot be opened is opened by a later write; unread contents are kept")
    func late() throws {
        try FileManager.default.createDirectory(atPath: folder["late.db"], withIntermediateDirectories: true)
        let late = try StorageThread(folder["late.db/x/tonearm.db"], modules: Self.modules)
        endRunUnlessInTime("the end of a thread") { late.join() }
        #expect(late.problem == nil)
        late.leave()
        try Data().write(to: URL(fileURLWithPath: folder["file"]))
        let blocked = try StorageThread(folder["file/tonearm.db"], modules: Self.modules)
        endRunUnlessInTime("the end of a thread") { blocked.join() }
        #expect(blocked.problem?.kind == .notAccessible)
        let answers = Recorder<DatabaseError?>()
        let done = DispatchSemaphore(value: 0)
        func write() {
            blocked.write(answerOn: nil) { (database) throws(DatabaseError) in
                try KeyValueStore(database, table: "v").set(.text("1"), for: "1")
            } answer: {
                answers.record($0)
                done.signal()
            }
            done.waitOrEndRun("the loop or the storage thread")
        }
        write()
        #expect(answers.elements.last??.kind == .notAccessible)
        try FileManager.default.removeItem(atPath: folder["file"])
        write()
        #expect(answers.elements.last == .some(nil))
        blocked.leave()
        #expect(try rows("SELECT key FROM v", in: try Database(path: folder["file/tonearm.db"])) == [["1"]])
    }

    @Test("what was read before can be read while the medium refuses to be written, and is written again afterwards")
    func readsOn() throws {
        let answers = Recorder<String>()
        write("a", to: answers)
        settle()
        let failure = DatabaseError(kind: .inputOutput, message: "disk I/O error", path: path)
        thread.write(answerOn: nil) { (_) throws(DatabaseError) in
            throw failure
        } answer: {
            answers.record($0 == failure ? "-b" : "b")
        }
        settle()
        #expect(answers.elements == ["a", "-b"])
        #expect(keys() == [["a"]])
        // It cannot be opened either.
        let aside = folder["aside"]
        try FileManager.default.moveItem(atPath: folder["state"], toPath: aside)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        write("c", to: answers)
        settle()
        #expect(answers.elements == ["a", "-b", "-c"])
        #expect(keys() == [["a"]])
        try FileManager.default.removeItem(atPath: folder["state"])
        try FileManager.default.moveItem(atPath: aside, toPath: folder["state"])
        write("d", to: answers)
        settle()
        #expect(answers.elements == ["a", "-b", "-c", "d"])
        #expect(keys() == [["a"], ["d"]])
    }

    /// The keys that a reader gets now; nil when nothing can be read.
    private func keys() -> [[DatabaseValue]]? {
        let found = Recorder<[[DatabaseValue]]?>()
        thread.query { database in
            found.record(database.flatMap { try? rows("SELECT key FROM v", in: $0) })
        }
        settle()
        return found.elements[0]
    }

    /// Writes a value and waits for it.
    @discardableResult
    private func write(_ key: String, by thread: StorageThread) -> DatabaseError? {
        let answers = Recorder<DatabaseError?>()
        let done = DispatchSemaphore(value: 0)
        thread.write(answerOn: nil) { (database) throws(DatabaseError) in
            try KeyValueStore(database, table: "v").set(.text("1"), for: key)
        } answer: {
            answers.record($0)
            done.signal()
        }
        done.waitOrEndRun("the loop or the storage thread")
        return answers.elements[0]
    }

    @Test("a file that is not seen at the start and turns up later is put aside, and not overwritten")
    func turnsUp() throws {
        let path = folder["mount/tonearm.db"]
        do {
            let first = try StorageThread(path, modules: Self.modules)
            endRunUnlessInTime("the end of a thread") { first.join() }
            write("old", by: first)
            first.leave()
        }
        // The medium is not mounted yet, and nothing can be created at its path.
        try FileManager.default.moveItem(atPath: folder["mount"], toPath: folder["medium"])
        try Data().write(to: URL(fileURLWithPath: folder["mount"]))
        let second = try StorageThread(path, modules: Self.modules)
        endRunUnlessInTime("the end of a thread") { second.join() }
        #expect(write("new", by: second)?.kind == .notAccessible)
        try FileManager.default.removeItem(atPath: folder["mount"])
        try FileManager.default.moveItem(atPath: folder["medium"], toPath: folder["mount"])
        #expect(write("new", by: second) == nil)
        #expect(write("newer", by: second) == nil)
        second.leave()
        #expect(try rows("SELECT key FROM v", in: try Database(path: path)) == [["new"], ["newer"]])
        #expect(try rows("SELECT key FROM v", in: try Database(path: path + ".unread-1")) == [["old"]])
    }

    @Test("what could not be read at the start is put aside before the first write")
    func unread() throws {
        let path = folder["state.db"]
        let first = try StorageThread(path, modules: Self.modules)
        endRunUnlessInTime("the end of a thread") { first.join() }
        #expect(write("old", by: first) == nil)
        first.leave()

        let second = try StorageThread(path, modules: Self.modules)
        endRunUnlessInTime("the end of a thread") { second.join() }
        let failure = DatabaseError(kind: .inputOutput, message: "disk I/O error", path: path)
        #expect(throws: failure) { try second.read { (_) throws(DatabaseError) in throw failure } }
        #expect(write("new", by: second) == nil)
        second.leave()
        #expect(try rows("SELECT key FROM v", in: try Database(path: path)) == [["new"]])
        #expect(try rows("SELECT key FROM v", in: try Database(path: path + ".unread-1")) == [["old"]])
    }
}
