import Database
import Foundation
import Platform
import TestSupport
import Testing

@testable import Queue
@testable import CutProgram

/// Writes rows that SQL allows and this program never writes, and reads the queue as a start does.
enum DatabaseRows {
    /// Every column that is read at a start.
    static let columns = [
        ("queue_entry", ["id", "type", "product", "source_type", "source_id", "extras"]),
        ("queue_order", ["key", "entry"]), ("queue_shuffled_order", ["key", "entry"]),
        ("queue_state", ["repeat", "shuffled", "current", "history", "next_number", "playing"]),
        ("queue_position", ["entry", "milliseconds"]),
    ]

    static func make() throws -> Database {
        let database = try Database.inMemory()
        try database.migrate(QueueWriter.migrations)
        var queue = try PlayQueue("abcdef", current: "c")
        queue.setShuffled(true, random: SystemRandomSource())
        var image = QueueImage()
        let store = QueueStore(database)
        try store.write(queue, &image, isPlaying: true)
        try store.write(position: 3, of: queue.id("c"))
        return database
    }

    /// Loads the queue, changes it as people do, and writes it back.
    static func load(_ database: Database) throws -> QueueStore.Contents {
        let store = QueueStore(database)
        let found = try store.contents()
        var contents = found
        if let last = contents.queue.playOrder.last { try? contents.queue.move(last, to: 0) }
        _ = try? contents.queue.insert([QueuedProduct(.track, "/x")], at: 1)
        _ = contents.queue.next()
        if let change = contents.image.change(to: contents.queue, isPlaying: false) { try store.write(change) }
        return found
    }
}

@Suite("Rows that SQL allows and the program never writes")
struct AbsurdRowsTests {
    private func loaded(_ statements: String...) throws -> QueueStore.Contents {
        let database = try DatabaseRows.make()
        for statement in statements { try database.execute(script: statement) }
        return try DatabaseRows.load(database)
    }

    @Test(
        "the row is dropped and reported, the others stay",
        arguments: [
            "UPDATE queue_entry SET id = 4294967295 WHERE id = 6", "UPDATE queue_entry SET id = -1 WHERE id = 6",
            "UPDATE queue_entry SET id = 9223372036854775807 WHERE id = 6",
            "UPDATE queue_entry SET id = 0 WHERE id = 6",
            "UPDATE queue_entry SET product = x'41' WHERE id = 6", "UPDATE queue_entry SET product = '' WHERE id = 6",
            "UPDATE queue_entry SET product = printf('%.70000c', 'x') WHERE id = 6",
            "UPDATE queue_entry SET type = 7 WHERE id = 6", "UPDATE queue_entry SET source_id = x'35' WHERE id = 6",
        ])
    func entries(statement: String) throws {
        let contents = try loaded(statement)
        #expect(contents.queue.word == "abcde")
        #expect(contents.queue.currentLetter == "c")
        #expect(contents.loss?.contains("dropped") == true)
    }

    @Test("a position that is not valid is reported once", arguments: ["0.5", "-1", "x'00'", "9223372036854775807"])
    func position(milliseconds: String) throws {
        let database = try DatabaseRows.make()
        try database.execute("UPDATE queue_position SET milliseconds = \(milliseconds)")
        let store = QueueStore(database)
        var contents = try store.contents()
        #expect(contents.position == 0)
        #expect(contents.loss?.contains("dropped") == true)
        let change = contents.image.change(to: contents.queue, isPlaying: false)
        try store.write(#require(change))
        #expect(try store.contents().loss == nil)
    }

    @Test("a position that is not valid is reported also where no entry is current")
    func positionOfNoEntry() throws {
        let database = try DatabaseRows.make()
        try database.execute(
            script: "UPDATE queue_state SET current = NULL; UPDATE queue_position SET milliseconds = 'x'")
        #expect(try DatabaseRows.load(database).loss?.contains("dropped") == true)
        #expect(try QueueStore(database).contents().loss == nil)
    }

    @Test("an id that is the last but one is taken, and then no entry fits")
    func lastID() throws {
        let database = try DatabaseRows.make()
        try database.execute("UPDATE queue_entry SET id = 4294967294 WHERE id = 6")
        var queue = try DatabaseRows.load(database).queue
        #expect(queue.count == 6)
        #expect(throws: PlayQueueError.full(limit: PlayQueue.capacity)) { try queue.add([QueuedProduct(.track, "/x")]) }
        #expect(try QueueStore(database).contents().loss == nil)
    }

    @Test(
        "keys as far apart as numbers can be are an order like any other",
        arguments: [
            "UPDATE queue_order SET key = -9223372036854775808 WHERE entry = 1",
            "UPDATE queue_order SET key = 9223372036854775807 WHERE entry = 6",
            """
            UPDATE queue_order SET key = -9223372036854775808 WHERE entry = 1;
            UPDATE queue_order SET key = 9223372036854775807 WHERE entry = 2
            """,
        ])
    func keys(script: String) throws {
        let database = try DatabaseRows.make()
        try database.execute(script: "UPDATE queue_state SET shuffled = 0; \(script)")
        let store = QueueStore(database)
        for _ in 0..<50 {
            var contents = try store.contents()
            let place = contents.queue.count / 2
            try contents.queue.insert([QueuedProduct(.track, "/x")], at: 1)
            if let last = contents.queue.playOrder.last { try contents.queue.move(last, to: place) }
            try contents.queue.insert([QueuedProduct(.track, "/y")], at: 0)
            let change = contents.image.change(to: contents.queue, isPlaying: false)
            try store.write(#require(change))
            #expect(try QueueState(store.contents().queue) == QueueState(contents.queue))
        }
    }

    @Test("random absurd values in every column: never a trap, and later writes can be read")
    func random() throws {
        let values = [
            "NULL", "-1", "0", "2", "4294967294", "4294967295", "4294967296", "-9223372036854775808",
            "9223372036854775807", "2147483648", "1e308", "-1e308", "0.5", "''", "'x'", "x''", "x'00'",
            "x'0100000002'", "zeroblob(70000)", "printf('%.70000c', 'x')", "'{\"a\":1}'", "char(0)", "x'FFFE'", "9e999",
        ]
        var random = SeededRandom(1)
        func pick<Element>(_ elements: [Element]) -> Element { elements[Int(random.next() % UInt64(elements.count))] }
        for round in 0..<1000 {
            let database = try DatabaseRows.make()
            for _ in 0..<(1 + round % 6) {
                let (table, columns) = pick(DatabaseRows.columns)
                let row = "rowid = (SELECT rowid FROM \(table) ORDER BY rowid LIMIT 1 OFFSET \(random.next() % 6))"
                // Rows that violate the table's own rules are not written.
                try? database.execute("UPDATE OR IGNORE \(table) SET \(pick(columns)) = \(pick(values)) WHERE \(row)")
            }
            _ = try DatabaseRows.load(database)
            let again = try QueueStore(database).contents()
            #expect(again.loss == nil, "what was read and written back is whole (round \(round))")
        }
    }
}

@Suite("Keys of an order")
struct SparseOrderTests {
    @Test("without a free key between two neighbours the order is rewritten, with unique keys")
    func noRoom() {
        let ids = (1...4).map { EntryID(UInt32($0)) }
        var order = SparseOrder([.init(key: 7, id: ids[0]), .init(key: 8, id: ids[1])])
        let change = order.update(to: [ids[0], ids[2], ids[1]], isNew: { $0 == ids[2] }, isGone: { _ in false })
        #expect(change.isRewrite)
        #expect(Set(change.insertedRows.map(\.key)).count == 3)
        #expect(change.insertedRows.map(\.id) == [ids[0], ids[2], ids[1]])
    }

    @Test("with room for one but not for two, one is a row and two are a rewrite")
    func littleRoom() {
        let ids = (1...4).map { EntryID(UInt32($0)) }
        for count in 1...2 {
            var order = SparseOrder([.init(key: 7, id: ids[0]), .init(key: 9, id: ids[1])])
            let added = Array(ids[2..<(2 + count)])
            let change = order.update(
                to: [ids[0]] + added + [ids[1]], isNew: { added.contains($0) }, isGone: { _ in false })
            #expect(change.isRewrite == (count == 2))
            if count == 1 { #expect(change.insertedRows == [.init(key: 8, id: ids[2])]) }
        }
    }
}
