import Foundation
import Platform
import TestSupport
import Testing

@testable import Database

@Suite("A damaged state")
struct RecoveryTests {
    let folder: ScratchFolder
    let path: String
    static let modules = [
        SchemaModule("a", [Migration(1, "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)")]),
        SchemaModule("b", [Migration(1, KeyValueStore.schema("setting"))]),
    ]

    init() throws {
        folder = try ScratchFolder()
        path = folder["state.db"]
    }

    private func open() throws -> StateDatabase.Opened {
        try StateDatabase(modules: Self.modules, predecessor: nil).open(path)
    }

    /// 2000 rows of which half were deleted again, so that there are free pages.
    private func make() throws {
        let database = try open().database
        try database.transaction { () throws(DatabaseError) in
            for number in 0..<2000 {
                try database.execute(
                    "INSERT INTO t VALUES (?, ?)", .integer(Int64(number)),
                    .text(String(repeating: "\(number) ", count: 20)))
            }
            try KeyValueStore(database, table: "setting").set(.text("60 %"), for: "maximum")
        }
        try database.execute("DELETE FROM t WHERE k >= 1000")
        try database.checkpoint()
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    private func damage(_ change: (inout Data) -> Void) throws -> Data {
        var bytes = try bytes(path)
        change(&bytes)
        try bytes.write(to: URL(fileURLWithPath: path))
        return bytes
    }

    private func verify(_ opened: StateDatabase.Opened, count: Int64 = 1000) throws {
        #expect(try rows("SELECT count(*) FROM t", in: opened.database) == [[.integer(count)]])
        #expect(try KeyValueStore(opened.database, table: "setting").text("maximum") == "60 %")
        try opened.database.check()
        #expect(try self.open().findings == [], "and is whole from then on")
    }

    @Test("a list of free pages that leads out of the file is found; every row is carried over, and the file is kept")
    func freelist() throws {
        try make()
        for number in 1...2 {
            let damaged = try damage { $0.replaceSubrange(32..<36, with: [0, 0, 0xFF, 0xFF]) }
            let opened = try open()
            #expect(opened.findings.count == 1)
            #expect(opened.findings.first?.aside == "\(path).damaged-\(number)")
            guard case .damaged(_, rows: 1001) = opened.findings.first?.kind else {
                Issue.record("\(opened.findings)")
                return
            }
            #expect(try bytes("\(path).damaged-\(number)") == damaged)
            try verify(opened)
        }
    }

    @Test("a damaged page loses its own rows, not those before and behind it")
    func page() throws {
        try make()
        _ = try damage { bytes in
            // A leaf in the middle of the table.
            let place = bytes.range(of: Data("500 500 500".utf8))!.lowerBound / 4096 * 4096
            bytes.replaceSubrange(place..<(place + 100), with: Data(repeating: 0xA5, count: 100))
        }
        let opened = try open()
        #expect(opened.findings.count == 1)
        let keys = try rows("SELECT count(*), min(k), max(k) FROM t", columns: 3, in: opened.database)[0]
        guard case .integer(let count) = keys[0] else {
            Issue.record("\(keys)")
            return
        }
        #expect(count > 900 && count < 1000 && keys[1] == 0 && keys[2] == 999, "\(keys)")
        #expect(try KeyValueStore(opened.database, table: "setting").text("maximum") == "60 %")
    }

    @Test(
        "a missing table is damage: it is there again, empty, and the others keep their rows",
        arguments: [
            "t", "setting", "schema_module",
        ])
    func missingTable(name: String) throws {
        try make()
        try Database(path: path).execute("DROP TABLE \(name)")
        let opened = try open()
        #expect(opened.findings.count == 1)
        #expect(opened.findings.first?.aside == "\(path).damaged-1")
        let counts = try ["t", "setting"].map {
            try rows("SELECT count(*) FROM \($0)", in: opened.database)[0][0]
        }
        #expect(counts == [name == "t" ? 0 : 1000, name == "setting" ? 0 : 1])
        #expect(try open().findings == [])
    }

    @Test(
        "numbers of the schema that cannot be are damage, and every row is carried over",
        arguments: [
            "PRAGMA user_version=0", "PRAGMA user_version=1", "PRAGMA user_version=-1",
            "UPDATE schema_module SET number = -1", "UPDATE schema_module SET number = -9223372036854775808",
            "UPDATE schema_module SET number = 'x'",
        ])
    func schemaNumbers(change: String) throws {
        try make()
        try Database(path: path).execute(script: change)
        let opened = try open()
        #expect(opened.findings.map(\.aside) == [path + ".damaged-1"])
        try verify(opened)
    }

    private static let steps = SchemaModule(
        "a",
        [
            Migration(1, "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)"),
            Migration(2, "ALTER TABLE t ADD COLUMN w TEXT"), Migration(3, "DELETE FROM t WHERE v = 'unused'"),
            Migration(4, "CREATE TABLE u (k INTEGER PRIMARY KEY); CREATE INDEX i ON t (w)"),
        ])

    private func open(upTo number: Int) throws -> StateDatabase.Opened {
        let module = SchemaModule("a", Array(Self.steps.migrations.prefix(number)))
        return try StateDatabase(modules: [module, Self.modules[1]], predecessor: nil).open(path)
    }

    @Test(
        "any other number of the schema is damage while the tables are those of this version; every row stays",
        arguments: [
            "PRAGMA user_version = 3", "PRAGMA user_version = 66", "PRAGMA user_version = 16777218",
            "UPDATE schema_module SET module = 'c' WHERE module = 'a'", "DELETE FROM schema_module",
        ]
            + [0, 1, 2, 3, 5, 6, 12, 20, 36, 68, 132, 9_000_000_000].map {
                "UPDATE schema_module SET number = \($0) WHERE module = 'a'"
            })
    func damagedNumber(change: String) throws {
        for _ in 0..<2 {
            let database = try open(upTo: 4).database
            try database.execute("INSERT OR REPLACE INTO t VALUES (1, 'one', 'two')")
            try database.execute("INSERT OR REPLACE INTO u VALUES (5)")
            try KeyValueStore(database, table: "setting").set(.text("60 %"), for: "maximum")
            try database.checkpoint()
        }
        try Database(path: path).execute(change)
        let opened = try open(upTo: 4)
        guard case .damaged(_, rows: 3) = opened.findings.first?.kind else {
            Issue.record("\(opened.findings)")
            return
        }
        #expect(try rows("SELECT k, v, w FROM t", columns: 3, in: opened.database) == [[1, "one", "two"]])
        #expect(try rows("SELECT k FROM u", in: opened.database) == [[5]])
        #expect(try KeyValueStore(opened.database, table: "setting").text("maximum") == "60 %")
        #expect(try opened.database.schemaNumber(of: "a") == 4)
        #expect(try open(upTo: 4).findings == [], "and is whole from then on")
    }

    @Test("a file of an older version has its own tables, and is no damage; a number in it that is too high is")
    func older() throws {
        for number in 1...3 {
            try? FileManager.default.removeItem(atPath: path)
            do {
                let database = try open(upTo: number).database
                try database.execute("INSERT INTO t (k, v) VALUES (7, 'seven')")
                try database.checkpoint()
            }
            let copy = try bytes(path)
            do {
                let opened = try open(upTo: 4)
                #expect(opened.findings == [])
                #expect(try rows("SELECT k FROM t", in: opened.database) == [[7]])
            }
            // The log of the newer file does not belong to the older one.
            for ending in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + ending) }
            try copy.write(to: URL(fileURLWithPath: path))
            try Database(path: path).execute("UPDATE schema_module SET number = 4 WHERE module = 'a'")
            let recovered = try open(upTo: 4)
            #expect(recovered.findings.count == 1)
            #expect(try rows("SELECT k, v FROM t", columns: 2, in: recovered.database) == [[7, "seven"]])
        }
    }

    @Test("one wrong bit in the log loses nothing; SQLite alone would drop every transaction behind it")
    func wrongBitInLog() throws {
        let source = folder["source.db"]
        let (image, log) = try makeLog(source, transactions: 8)
        for bit in stride(from: 8 * 40, to: 8 * log.count, by: 8 * log.count / 9) {
            var damaged = log
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            let copy = folder["copy-\(bit).db"]
            try image.write(to: URL(fileURLWithPath: copy))
            try damaged.write(to: URL(fileURLWithPath: copy + "-wal"))
            let modules = [
                SchemaModule("a", [Migration(1, "CREATE TABLE IF NOT EXISTS t (k INTEGER PRIMARY KEY, v TEXT)")])
            ]
            let opened = try StateDatabase(modules: modules, predecessor: nil).open(copy)
            #expect(opened.findings.first?.aside == copy + ".damaged-1")
            #expect(try rows("SELECT count(*) FROM t", in: opened.database) == [[24]], "bit \(bit)")
            #expect(try bytes(copy + ".damaged-1-wal") == damaged)
        }
    }

    @Test("a file that is no database is put aside, and an empty one begins")
    func noise() throws {
        let noise = Data((0..<9000).map { UInt8(truncatingIfNeeded: $0 * 31 + 7) })
        try noise.write(to: URL(fileURLWithPath: path))
        let opened = try open()
        #expect(opened.findings.map(\.aside) == [path + ".damaged-1"])
        #expect(try bytes(path + ".damaged-1") == noise)
        #expect(try rows("SELECT count(*) FROM t", in: opened.database) == [[0]])
    }

    @Test(
        "a file of a newer version is refused and not touched",
        arguments: [
            "ALTER TABLE schema_module ADD COLUMN time; PRAGMA user_version = 3",
            "CREATE TABLE w (k); PRAGMA user_version = 3",
            "CREATE TABLE w (k); UPDATE schema_module SET number = 2 WHERE module = 'b'",
            "CREATE INDEX w ON t (v); UPDATE schema_module SET number = 2 WHERE module = 'a'",
            "ALTER TABLE t ADD COLUMN w; UPDATE schema_module SET number = 2 WHERE module = 'a'",
        ])
    func newer(change: String) throws {
        try make()
        try Database(path: path).execute(script: change)
        let before = try bytes(path)
        let error = #expect(throws: DatabaseError.self) { _ = try open() }
        guard case .newerSchema = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try bytes(path) == before)
        #expect(try Folder.entries(of: folder.path).filter { $0.name.contains("damaged") }.isEmpty)
    }

    @Test("a cut between putting the damaged file aside and renaming the new one is completed by the next start")
    func cutInSwap() throws {
        try make()
        try FileManager.default.moveItem(atPath: path, toPath: path + ".recovered")
        // The damaged file was moved aside, its log was not.
        try Data("old".utf8).write(to: URL(fileURLWithPath: path + ".damaged-1"))
        try Data("log".utf8).write(to: URL(fileURLWithPath: path + "-wal"))
        try verify(try open())
        #expect(try bytes(path + ".damaged-1-wal") == Data("log".utf8))
    }
}
