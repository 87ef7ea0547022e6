import Foundation
import Testing
import TestSupport
@testable import Database
@testable import CutProgram

@Suite("Acknowledged changes are not lost")
struct DurabilityTests {
    let folder: ScratchFolder
    let path: String

    init() throws {
        folder = try ScratchFolder()
        path = folder["player.sqlite"]
    }

    /// Returns how many items are there. Checks that each is whole, and so is the database.
    func verifiedCount(at path: String) throws -> Int64 {
        let database = try Database(path: path)
        #expect(try rows("PRAGMA integrity_check", in: database) == [["ok"]])
        try database.migrate(KeyValueWriter.migrations)
        let store = KeyValueStore(database)
        let count = try store.integer("count") ?? 0
        for number in 1..<(count + 1) {
            #expect(try store.text("item \(number)") == KeyValueWriter.payload(number))
            #expect(try store.text("item \(-number)") == (number % 2 == 0 ? KeyValueWriter.payload(-number) : nil))
        }
        #expect(
            try rows("SELECT count(*) FROM configuration", in: database)
                == [[.integer(count == 0 ? 0 : count + count / 2 + 1)]])
        return count
    }

    @Test("when the process is killed again and again, at its start, in transactions and in checkpoints")
    func killed() throws {
        var acknowledged: Int64 = 0
        for round in 0..<30 {
            let writer = try WriterProcess("key-values", path)
            for _ in 0..<(round * 7 % 12) { acknowledged = Int64(try #require(try writer.nextLine())) ?? -1 }
            writer.kill()
            // The output of the process after the last line that was read here.
            while let line = try writer.nextLine() { acknowledged = Int64(line) ?? -1 }
            let count = try verifiedCount(at: path)
            #expect(count == acknowledged || count == acknowledged + 1)
            acknowledged = count
        }
        #expect(acknowledged >= (0..<30).reduce(0) { $0 + $1 * 7 % 12 })
    }

    @Test("when the log is cut short at any place, only transactions that were cut are missing")
    func tornLog() throws {
        let (image, log) = try databaseWithLog(items: 6)
        var last: Int64 = 0
        // Each byte as a cut would take long; each frame of 4120 bytes is cut at several.
        for length in stride(from: 0, through: log.count, by: 1373) {
            let count = try verifiedCount(of: image, log: log.prefix(length))
            #expect(count >= last, "a longer log has more in it")
            last = count
        }
        #expect(try verifiedCount(of: image, log: log) == 6)
    }

    @Test("when a byte of the log is wrong, everything before that transaction is there")
    func damagedLog() throws {
        let (image, log) = try databaseWithLog(items: 6)
        for place in stride(from: 0, to: log.count, by: 2749) {
            let whole = try verifiedCount(of: image, log: log.prefix(place))
            var damaged = log
            damaged[place] ^= 0x55
            let count = try verifiedCount(of: image, log: damaged)
            // Bytes that the log does not use may be wrong without harm.
            #expect(count >= whole)
        }
    }

    @Test("when the log is not a log at all, checkpointed changes are there")
    func garbageLog() throws {
        let (image, _) = try databaseWithLog(items: 6, writtenBack: 4)
        let noise = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 31) })
        for garbage in [Data(), Data("not a log".utf8), noise] {
            #expect(try verifiedCount(of: image, log: garbage) == 4)
        }
    }

    @Test("when the database is full")
    func full() throws {
        let database = try Database(path: path)
        try database.migrate(KeyValueWriter.migrations)
        let store = KeyValueStore(database)
        try store.set(.text("kept"), for: "before")
        try database.execute("PRAGMA max_page_count=20")
        let error = #expect(throws: DatabaseError.self) {
            for number in 0..<1000 {
                try store.set(.bytes([UInt8](repeating: 1, count: 3000)), for: "\(number)")
            }
        }
        #expect(error?.kind == .full)
        #expect(error?.path == path)
        #expect(try store.text("before") == "kept")
        #expect(try rows("PRAGMA integrity_check", in: database) == [["ok"]])
        try database.execute("DELETE FROM configuration WHERE key <> 'before'")
        try store.set(.text("goes on"), for: "after")
        #expect(try store.text("after") == "goes on")
    }

    @Test("when the system refuses to write", arguments: [70_000, 100_000, 150_000])
    func refusedWrite(limit: Int) throws {
        let writer = try WriterProcess("key-values", path, "\(limit)")
        var lines: [String] = []
        while let line = try writer.nextLine() { lines.append(line) }
        try writer.waitUntilExit()
        #expect(lines.last == "inputOutput" || lines.last == "full")
        #expect(lines.count > 1)
        #expect(try verifiedCount(at: path) == Int64(lines.count - 1))
    }

    @Test("a file that is no database, or a damaged one, is named, kept and not touched")
    func corrupt() throws {
        let contents = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 * 31 + 7) })
        try contents.write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: DatabaseError.self) { _ = try Database(path: path) }
        #expect(error?.kind == .corrupt)
        #expect(error?.description.contains(path) == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == contents)
    }

    // MARK: Images of a database

    /// The files as a power cut would find them: the last items are in the log only.
    private func databaseWithLog(items: Int64, writtenBack: Int64 = 0) throws -> (image: Data, log: Data) {
        let database = try Database(path: path)
        try database.migrate(KeyValueWriter.migrations)
        let store = KeyValueStore(database)
        func checkpoint() throws { try database.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        if writtenBack == 0 { try checkpoint() }
        for number in 1...items {
            try database.transaction { () throws(DatabaseError) in
                try store.set(.text(KeyValueWriter.payload(number)), for: "item \(number)")
                if number % 2 == 0 { try store.set(.text(KeyValueWriter.payload(-number)), for: "item \(-number)") }
                try store.set(.integer(number), for: "count")
            }
            if number == writtenBack { try checkpoint() }
        }
        return (
            try Data(contentsOf: URL(fileURLWithPath: path)), try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        )
    }

    private func verifiedCount(of image: Data, log: Data) throws -> Int64 {
        let copy = folder[UUID().uuidString]
        try image.write(to: URL(fileURLWithPath: copy))
        try log.write(to: URL(fileURLWithPath: copy + "-wal"))
        return try verifiedCount(at: copy)
    }
}
