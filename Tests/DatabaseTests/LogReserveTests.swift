import Foundation
import TestSupport
import Testing

@testable import Database

@Suite("The log of the state")
struct LogReserveTests {
    let folder: ScratchFolder
    let path: String
    static let schema = [SchemaModule("t", [Migration(1, "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)")])]

    init() throws {
        folder = try ScratchFolder()
        path = folder["state.db"]
    }

    private func length(_ name: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: name)[.size] as? Int ?? 0
    }

    @Test("no commit makes a file longer, however often the log begins anew")
    func growth() throws {
        let opening = StateDatabase(modules: Self.schema, predecessor: nil)
        let file = try StateFile(path, opening, StateFindings(), isShared: false)
        func write(_ sql: String) {
            let error = file.write { (database) throws(DatabaseError) in try database.execute(sql) }
            #expect(error == nil)
        }
        write("INSERT INTO t VALUES (1, 'a')")
        let before = try length(path + "-wal")
        for number in 0..<1000 {
            write("UPDATE t SET v = \(number)")
            #expect(try length(path + "-wal") == before, "after \(number) commits")
        }
        #expect(before < 400_000)
    }

    @Test("a power cut behind any commit loses nothing of it", arguments: [0, 1, 2, 63, 64, 65, 66, 200])
    func powerCut(commits: Int) throws {
        let module = StateDatabase(modules: Self.schema, predecessor: nil)
        let database = try module.open(path).database
        try database.reserveLog()
        for number in 0..<commits { try database.execute("INSERT INTO t VALUES (?, 'a')", .integer(Int64(number))) }
        let copy = folder["copy.db"]
        for ending in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + ending, toPath: copy + ending) }
        #expect(try WriteAheadLog(copy + "-wal").damage == nil)
        let opened = try module.open(copy)
        #expect(opened.findings.isEmpty)
        #expect(try rows("SELECT count(*) FROM t", in: opened.database) == [[.integer(Int64(commits))]])
    }

    @Test("room is reserved again in a log that is shorter, and what it has stays")
    func again() throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (a)")
        let short = try length(path + "-wal")
        try database.reserveLog()
        let long = try length(path + "-wal")
        #expect(short < long)
        try database.execute("INSERT INTO t VALUES (1)")
        try database.reserveLog()
        #expect(try length(path + "-wal") == long)
        #expect(try rows("SELECT a FROM t", in: try Database(path: path)) == [[1]])
    }
}
