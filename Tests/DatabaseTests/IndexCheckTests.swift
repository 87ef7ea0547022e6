import Foundation
import Platform
import TestSupport
import Testing

@testable import Database

@Suite("Damaged indexes are noticed and made anew (docs/decisions/one-database.md)")
struct IndexCheckTests {
    private let folder: ScratchFolder
    private let path: String
    private let clock = ManualClock()
    private let time = Locked<Int64>(1_000_000)

    private static let modules = [
        SchemaModule(
            "m",
            [
                Migration(1, KeyValueStore.schema()),
                Migration(
                    2,
                    """
                    CREATE TABLE item (number INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, state INTEGER NOT NULL);
                    CREATE UNIQUE INDEX item_name ON item (name);
                    CREATE TABLE other (number INTEGER PRIMARY KEY NOT NULL)
                    """),
            ])
    ]

    init() throws {
        folder = try ScratchFolder()
        path = folder["state/tonearm.db"]
        let database = try StateDatabase(modules: Self.modules, predecessor: nil).open(path).database
        try database.transaction { () throws(DatabaseError) in
            for number in 0..<500 {
                try database.execute(
                    "INSERT INTO item VALUES (?, ?, 0)", .integer(Int64(number)), .text("name-\(1000 + number)"))
            }
        }
        try database.checkpoint()
    }

    /// Changes a byte of a name, in leaves of the index (0x0A) or of the table (0x0D).
    private func damage(_ name: String, to other: String, inPagesOf kind: UInt8) throws {
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        let size = 4096
        for page in stride(from: 0, to: file.count, by: size) where file[page] == kind {
            guard let place = file.range(of: Data(name.utf8), in: page..<(page + size)) else { continue }
            file.replaceSubrange(place, with: Data(other.utf8))
            return try file.write(to: URL(fileURLWithPath: path))
        }
        throw Unexpected("\(name) is in no such page")
    }

    private func numbers(_ database: Database?, _ name: String) -> [Int64] {
        guard let database, var statement = try? database.prepare("SELECT number FROM item WHERE name = ?") else {
            return [-1]
        }
        try? statement.bind([.text(name)])
        var numbers: [Int64] = []
        while (try? statement.step()) == true { numbers.append(statement.integer(0) ?? -1) }
        return numbers
    }

    @Test("A check at the start does not notice a wrong byte in an index, and the comparison does")
    func notices() throws {
        try damage("name-1250", to: "name-1150", inPagesOf: 0x0A)
        let opened = try StateDatabase(modules: Self.modules, predecessor: nil).open(path)
        #expect(opened.findings.isEmpty)
        #expect(numbers(opened.database, "name-1250") == [])
        #expect(try opened.database.indexDamage(of: "item", unless: { false })?.contains("item_name") == true)
        #expect(try opened.database.indexDamage(of: "other", unless: { false }) == nil)
        try opened.database.reindex("item")
        #expect(numbers(opened.database, "name-1250") == [250])
        #expect(try opened.database.indexDamage(of: "item", unless: { false }) == nil)
    }

    @Test("A comparison ends when other work waits, and changes nothing")
    func interrupted() throws {
        let database = try StateDatabase(modules: Self.modules, predecessor: nil).open(path).database
        try database.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
                + "INSERT INTO item SELECT i, 'more-' || i, 0 FROM n")
        var asked = 0
        #expect {
            try database.indexDamage(of: "item") {
                asked += 1
                return asked == 3
            }
        } throws: { ($0 as? DatabaseError)?.kind == .interrupted }
        #expect(asked == 3)
        // No statement is left open.
        #expect(try database.indexDamage(of: "item", unless: { false }) == nil)
        #expect(numbers(database, "name-1250") == [250])
    }

    // MARK: On the storage thread

    private func thread() throws -> (StorageThread, EventLoop) {
        let loop = try EventLoop(drivenBy: clock)
        let thread = try StorageThread(path, modules: Self.modules, loop: loop, clock: clock)
        endRunUnlessInTime("the end of a thread") { thread.join() }
        thread.checkIndexes(seconds: { [time] in time.value })
        return (thread, loop)
    }

    private func pass(_ loop: EventLoop, seconds: Int64, step: Int64 = 10) {
        for _ in 0..<(seconds / step) {
            clock.advance(by: step * 1_000_000_000)
            loop.clockAdvanced()
            let done = DispatchSemaphore(value: 0)
            loop.post { done.signal() }
            done.waitOrEndRun("the storage thread")
        }
        time.withLock { $0 += seconds }
    }

    private func found(_ thread: StorageThread, _ name: String) -> [Int64] {
        let answer = AwaitedValue<[Int64]>()
        thread.query { answer.set(numbers($0, name)) }
        return answer.wait()
    }

    @Test("A damaged index is made anew in the background, and that is reported")
    func background() throws {
        try damage("name-1250", to: "name-1150", inPagesOf: 0x0A)
        let (thread, loop) = try thread()
        let repairs = Recorder<String>()
        thread.observeRepairs { repairs.record("repaired") }
        #expect(found(thread, "name-1250") == [])
        pass(loop, seconds: 590)
        #expect(repairs.elements.isEmpty && found(thread, "name-1250") == [])
        pass(loop, seconds: 120)
        #expect(repairs.elements == ["repaired"] && found(thread, "name-1250") == [250])
        thread.leave()
        #expect(thread.findings.isEmpty, "nothing was lost")
    }

    @Test("It is done once a day, also over restarts, and not while the storage has work")
    func daily() throws {
        /// Whether damage is found.
        func checks(_ seconds: Int64, isBusy: Bool = false) throws -> Bool {
            try damage("name-1250", to: "name-1150", inPagesOf: 0x0A)
            let (thread, loop) = try thread()
            if isBusy {
                for _ in 0..<seconds {
                    pass(loop, seconds: 1, step: 1)
                    _ = found(thread, "name-1000")
                }
            } else {
                pass(loop, seconds: seconds)
            }
            let isFound = found(thread, "name-1250") == [250]
            thread.leave()
            if !isFound { try damage("name-1150", to: "name-1250", inPagesOf: 0x0A) }
            return isFound
        }
        #expect(try !checks(700, isBusy: true))
        #expect(try checks(700))
        #expect(try !checks(6000))
        time.withLock { $0 += 86_400 }
        #expect(try checks(700))
        #expect(try !checks(700))
        // The clock was set back.
        time.withLock { $0 -= 864_000 }
        #expect(try checks(700))
    }

    @Test("Where new indexes do not help, the file is recovered like any other damaged one")
    func recovered() throws {
        // Two rows have the same name, and a unique index cannot be made of them.
        try damage("name-1250", to: "name-1251", inPagesOf: 0x0D)
        let (thread, loop) = try thread()
        let (repairs, findings) = (Recorder<String>(), Recorder<StateFinding>())
        thread.observeRepairs { repairs.record("repaired") }
        thread.observe { findings.record($0) }
        pass(loop, seconds: 720)
        #expect(repairs.elements == ["repaired"])
        let finding = try #require(findings.elements.first)
        #expect(findings.elements.count == 1 && finding.aside != nil)
        guard case .damaged(_, let rows) = finding.kind else { throw Unexpected("\(finding)") }
        #expect(rows >= 499)
        #expect(found(thread, "name-1249") == [249] && found(thread, "name-1251").count == 1)
        thread.leave()
    }

    @Test("A write that meets a damaged index has it made anew, and is carried out")
    func write() throws {
        try damage("name-1250", to: "name-1150", inPagesOf: 0x0A)
        let (thread, _) = try thread()
        let answer = AwaitedValue<DatabaseError?>()
        let runs = Locked(0)
        thread.write(answerOn: nil) { (database) throws(DatabaseError) in
            runs.withLock { $0 += 1 }
            try database.execute("DELETE FROM item WHERE number = 250")
        } answer: {
            answer.set($0)
        }
        #expect(answer.wait() == nil)
        #expect(runs.value == 2, "SQLite notices that the entry is missing")
        #expect(found(thread, "name-1250") == [])
        thread.leave()
        #expect(try Database(path: path).indexDamage(of: "item", unless: { false }) == nil)
    }
}
