import CLinux
import Foundation
import Platform
import Testing
import TestSupport
@testable import Database

@Suite("Database")
struct DatabaseTests {
    let folder: ScratchFolder
    let path: String

    init() throws {
        folder = try ScratchFolder()
        path = folder["player.sqlite"]
    }

    @Test(
        "is opened durable, strict and small",
        arguments: [
            ("journal_mode", DatabaseValue.text("wal")), ("synchronous", 2), ("foreign_keys", 1), ("trusted_schema", 0),
            ("temp_store", 2), ("cache_size", -256), ("mmap_size", 0),
        ])
    func settings(pragma: String, value: DatabaseValue) throws {
        #expect(try rows("PRAGMA \(pragma)", in: try Database(path: path)) == [[value]])
    }

    @Test("is readable for its owner only, the files beside it as well")
    func mode() throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (a)")
        for file in [path, path + "-wal", path + "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
        }
    }

    @Test(
        "returns the bound values, of every type",
        arguments: [
            DatabaseValue.null, 0, .integer(.min), .integer(.max), 0.1, .real(-.infinity), "", "Größe \u{0} \u{1F3B5}",
            .bytes([]), .bytes([0, 255, 0]),
        ])
    func values(value: DatabaseValue) throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (a)")
        try database.execute("INSERT INTO t VALUES (?)", value)
        #expect(try rows("SELECT a FROM t", in: database) == [[value]])
    }

    @Test("a reusable statement begins anew each time, also beside itself, and after an end in the middle of its rows")
    func reusable() throws {
        let database = try Database(path: path)
        try database.execute(script: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
        let text = StatementText("SELECT a FROM t WHERE a >= ? ORDER BY a")
        func first(_ least: Int64) throws -> Int64? {
            var statement = try database.reusable(text)
            try statement.bind([.integer(least)])
            guard try statement.step() else { return nil }
            let isEmpty = try least == 2 && first(4) == nil
            #expect(isEmpty == (least == 2), "the inner one has no rows")
            return statement.integer(0)
        }
        for least in [1, 2, 3, 2, 1] as [Int64] { #expect(try first(least) == least) }
        // The values of the last use are gone.
        var statement = try database.reusable(text)
        #expect(try !statement.step())
        // It does not hold a transaction open.
        try database.execute("DROP TABLE t")
        #expect(throws: DatabaseError.self) { try first(1) }
        try database.execute(script: "CREATE TABLE t (a); INSERT INTO t VALUES (7)")
        #expect(try first(5) == 7)
    }

    @Test("many reusable statements: the database finalizes those that were not used for long, and all at its end")
    func manyReusable() throws {
        var database: Database? = try Database(path: path)
        let texts = (0..<40).map { StatementText("SELECT \($0)") }
        for _ in 0..<2 {
            for (number, text) in texts.enumerated() {
                guard var statement = try database?.reusable(text) else { continue }
                #expect(try statement.step())
                #expect(statement.integer(0) == Int64(number))
            }
        }
        // SQLite removes these files with the last connection, if no statement holds it open.
        database = nil
        #expect(FileKind(at: path + "-wal") == nil)
    }

    @Test("a column is read as its own type, and as no other")
    func columns() throws {
        let database = try Database(path: path)
        var statement = try database.prepare("SELECT 1, 2.5, 'three', x'04', NULL")
        #expect(try statement.step())
        #expect((0..<5).map { statement.integer($0) } == [1, nil, nil, nil, nil])
        #expect((0..<5).map { statement.real($0) } == [1, 2.5, nil, nil, nil])
        #expect((0..<5).map { statement.text($0) } == [nil, nil, "three", nil, nil])
        #expect((0..<5).map { statement.bytes($0) } == [nil, nil, nil, [4], nil])
        #expect(try !statement.step())
    }

    @Test("a statement can be bound and run again")
    func again() throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (a)")
        var insert = try database.prepare("INSERT INTO t VALUES (?)")
        for number: Int64 in 1...3 {
            try insert.bind([.integer(number)])
            #expect(try !insert.step())
        }
        #expect(try rows("SELECT a FROM t ORDER BY a", in: database) == [[1], [2], [3]])
        #expect(database.lastInsertedRow == 3)
        try database.execute("UPDATE t SET a = 0 WHERE a > 1")
        #expect(database.changedRowCount == 2)
    }

    @Test("a transaction that throws leaves nothing, one that returns leaves all")
    func transaction() throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (a UNIQUE)")
        let error = #expect(throws: DatabaseError.self) {
            try database.transaction { () throws(DatabaseError) in
                try database.execute("INSERT INTO t VALUES (1)")
                try database.execute("INSERT INTO t VALUES (1)")
            }
        }
        #expect(error?.kind == .constraint)
        #expect(error?.sql == "INSERT INTO t VALUES (1)")
        #expect(try rows("SELECT a FROM t", in: database) == [])
        let result = try database.transaction { () throws(DatabaseError) in
            try database.execute("INSERT INTO t VALUES (1)")
            return 7
        }
        #expect(result == 7)
        #expect(try rows("SELECT a FROM t", in: try Database(path: path)) == [[1]])
    }

    @Test("another's lock is reported as busy, and nothing has changed")
    func busy() throws {
        let other = try Database(path: path)
        try other.execute("CREATE TABLE t (a)")
        let database = try Database(path: path, busyTimeout: 0)
        try other.transaction { () throws(DatabaseError) in
            let error = #expect(throws: DatabaseError.self) {
                try database.transaction { () throws(DatabaseError) in
                    try database.execute("INSERT INTO t VALUES (1)")
                }
            }
            #expect(error?.kind == .busy)
        }
        try database.transaction { () throws(DatabaseError) in try database.execute("INSERT INTO t VALUES (2)") }
        #expect(try rows("SELECT a FROM t", in: other) == [[2]])
    }

    @Test("mistakes in SQL name the statement", arguments: ["SELEC 1", "SELECT a FROM nowhere", ""])
    func misuse(sql: String) throws {
        let database = try Database(path: path)
        let error = #expect(throws: DatabaseError.self) { try database.execute(sql) }
        #expect(error?.kind == .misuse)
        #expect(error?.sql == sql)
        let unbound = #expect(throws: DatabaseError.self) { try database.execute("SELECT ?") }
        #expect(unbound?.kind == .misuse)
    }

    @Test("a path that cannot be used is an error that names it", arguments: ["missing/player.sqlite", "."])
    func notAccessible(name: String) throws {
        let error = #expect(throws: DatabaseError.self) { _ = try Database(path: folder[name]) }
        #expect(error?.kind == .notAccessible)
        #expect(error?.description.contains(folder[name]) == true)
    }
}

/// All rows of a query.
func rows(_ sql: String, columns: Int = 1, in database: Database) throws -> [[DatabaseValue]] {
    var statement = try database.prepare(sql)
    var rows: [[DatabaseValue]] = []
    while try statement.step() { rows.append((0..<columns).map { statement.value($0) }) }
    return rows
}
