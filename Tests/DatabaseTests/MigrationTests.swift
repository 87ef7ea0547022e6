import Foundation
import Testing
import TestSupport
@testable import Database

@Suite("Migrations")
struct MigrationTests {
    let folder: ScratchFolder
    let path: String
    private func module(_ migrations: Migration...) -> [SchemaModule] { [SchemaModule("m", migrations)] }
    let first = Migration(1, "CREATE TABLE a (x); INSERT INTO a VALUES (1)")
    let second = Migration(2, "ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 1")
    let broken = Migration(2, "CREATE TABLE b (x); INSERT INTO nowhere VALUES (1)")

    init() throws {
        folder = try ScratchFolder()
        path = folder["player.sqlite"]
    }

    @Test("run once, in order, from wherever the database is", arguments: 0...2)
    func from(version: Int) throws {
        try Database(path: path).migrate([SchemaModule("m", Array([first, second].prefix(version)))])
        let database = try Database(path: path)
        #expect(try database.schemaNumber(of: "m") == version)
        for _ in 0..<2 { try database.migrate(module(first, second)) }
        #expect(try database.schemaNumber(of: "m") == 2)
        #expect(try rows("SELECT x, y FROM a", columns: 2, in: database) == [[1, 2]])
    }

    @Test("one that fails is undone as a whole; those before it stay")
    func failing() throws {
        let database = try Database(path: path)
        #expect(throws: DatabaseError.self) { try database.migrate(module(first, broken)) }
        #expect(try database.schemaNumber(of: "m") == 1)
        #expect(try rows("SELECT name FROM sqlite_schema", in: database) == [["schema_module"], ["a"]])
        try database.migrate(module(first, second))
        #expect(try database.schemaNumber(of: "m") == 2)
    }

    @Test("a database of a newer version is an error that says so, and does not change")
    func newer() throws {
        try Database(path: path).migrate(module(first, second))
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = #expect(throws: DatabaseError.self) { try Database(path: path).migrate(module(first)) }
        #expect(error?.kind == .newerSchema(found: 2, known: 1))
        #expect(error?.description.contains(path) == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }
}
