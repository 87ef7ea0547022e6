import Platform
import Testing
import TestSupport
@testable import Database
@testable import Events

@Suite("Outbox")
struct OutboxTests {
    let database: Database
    let rows: OutboxRows

    init() throws {
        database = try Database.inMemory()
        try database.migrate([OutboxRows.schema])
        rows = OutboxRows(database)
    }

    private func event(_ id: Int, _ category: EventCategory = .statistics) -> PlayerEvent {
        PlayerEvent(
            id: "id-\(id)", name: "n\(id)", category: category, group: "g", version: 1, time: 0,
            isTimeEstimated: false, payload: [:], extras: [:])
    }

    private func add(
        _ ids: ClosedRange<Int>, _ category: EventCategory = .statistics, of account: AccountMark = .none,
        limit: Int64 = 1_000_000
    ) throws {
        for id in ids {
            try rows.add(event(id, category), String(repeating: "x", count: 100), of: account, limit: limit)
        }
    }

    private func waiting(_ limit: Int = 100, of account: AccountMark = .none) throws -> [String] {
        try rows.oldest(limit, of: account).map(\.id)
    }

    private static let one = AccountMark(rawValue: 7)
    private static let other = AccountMark(rawValue: -9)

    @Test("events wait in their order, whatever their category")
    func order() throws {
        try add(1...2)
        try add(3...3, .playLog)
        try add(4...4)
        #expect(try waiting() == ["id-1", "id-2", "id-3", "id-4"])
        #expect(try waiting(3) == ["id-1", "id-2", "id-3"])
        #expect(try rows.counts() == OutboxCounts(waiting: 4, bytes: 400))
    }

    @Test("confirmed events are removed once, refused ones are put aside, and both are counted")
    func settle() throws {
        try add(1...4)
        let numbers = try rows.oldest(4).map(\.number)
        try rows.confirm([numbers[0], numbers[1], numbers[0]])
        try rows.putAside([numbers[2], numbers[2]])
        try rows.confirm([numbers[2]])
        #expect(try waiting() == ["id-4"])
        #expect(try rows.counts() == OutboxCounts(waiting: 1, bytes: 200, sent: 2, refused: 1))
    }

    @Test("an event with an id that waits already is not added again")
    func twice() throws {
        try add(1...1)
        try add(1...1)
        #expect(try rows.counts() == OutboxCounts(waiting: 1, bytes: 100))
    }

    @Test("a full outbox drops what was refused, then the oldest statistics, and the play log last")
    func full() throws {
        try add(1...2, .playLog)
        try add(3...6)
        try rows.putAside([try #require(try rows.oldest(6).last).number])
        try add(7...7, limit: 600)
        #expect(try waiting() == ["id-1", "id-2", "id-3", "id-4", "id-5", "id-7"])
        #expect(try rows.counts() == OutboxCounts(waiting: 6, bytes: 600, refused: 1))
        try add(8...8, .playLog, limit: 400)
        #expect(try waiting() == ["id-1", "id-2", "id-7", "id-8"])
        try add(9...9, .playLog, limit: 300)
        #expect(try waiting() == ["id-2", "id-8", "id-9"])
        #expect(try rows.counts() == OutboxCounts(waiting: 3, bytes: 300, refused: 1, dropped: 5))
    }

    @Test("a login gets its own events and those without a mark, in their order, and the others wait")
    func accounts() throws {
        try add(1...1, of: Self.one)
        try add(2...2, .playLog)
        try add(3...4, of: Self.other)
        try add(5...5, .playLog, of: Self.one)
        #expect(try waiting() == ["id-2"])
        #expect(try waiting(of: Self.one) == ["id-1", "id-2", "id-5"])
        #expect(try waiting(2, of: Self.other) == ["id-2", "id-3"])
        #expect(try rows.deliverable(for: .none) == 1)
        #expect(try rows.deliverable(for: Self.one) == 3)
        #expect(try rows.deliverable(for: AccountMark(rawValue: 1)) == 1)
        #expect(try rows.counts() == OutboxCounts(waiting: 5, bytes: 500))
        let numbers = try rows.oldest(10, of: Self.other).map(\.number)
        try rows.confirm([numbers[0], numbers[1]])
        try rows.putAside([numbers[2]])
        #expect(try rows.deliverable(for: Self.other) == 0)
        try rows.forget(.playLog)
        #expect(try waiting(of: Self.one) == ["id-1"])
        #expect(try rows.counts() == OutboxCounts(waiting: 1, bytes: 200, sent: 2, refused: 1))
    }

    @Test("a full outbox drops statistics before plays, and in each the events of other accounts first")
    func fullOfOthers() throws {
        try add(1...2, of: Self.one)
        try add(3...3)
        try add(4...4, .playLog, of: Self.other)
        try add(5...6, of: Self.other)
        try add(7...7, of: Self.one, limit: 600)
        #expect(try waiting(of: Self.other) == ["id-3", "id-4", "id-6"])
        try add(8...9, of: Self.one, limit: 600)
        #expect(try waiting(of: Self.other) == ["id-3", "id-4"])
        try add(10...10, of: Self.one, limit: 600)
        #expect(try waiting(of: Self.other) == ["id-3", "id-4"])
        #expect(try waiting(of: Self.one) == ["id-3", "id-7", "id-8", "id-9", "id-10"])
        #expect(try rows.counts() == OutboxCounts(waiting: 6, bytes: 600, dropped: 4))
    }

    @Test("the migration keeps what waits, in its order and without a mark")
    func migration() throws {
        let old = try Database.inMemory()
        try old.migrate([SchemaModule("events", Array(OutboxRows.schema.migrations.prefix(1)))])
        for id in 1...3 {
            try old.execute(
                "INSERT INTO event_outbox (state, category, id, name, body) VALUES (?, ?, ?, 'n', 'xx')",
                .integer(id == 2 ? 1 : 0), .integer(Int64(id % 2)), .text("id-\(id)"))
        }
        for (name, value) in [(0, 2), (1, 6), (2, 40), (3, 1)] {
            try old.execute("INSERT INTO event_count VALUES (?, ?)", .integer(Int64(name)), .integer(Int64(value)))
        }
        try old.migrate([OutboxRows.schema])
        let rows = OutboxRows(old)
        #expect(try rows.oldest(10, of: Self.one).map(\.id) == ["id-1", "id-3"])
        #expect(try rows.counts() == OutboxCounts(waiting: 2, bytes: 6, sent: 40, refused: 1))
        try rows.add(event(4), "x", of: Self.one, limit: 7)
        #expect(try rows.oldest(10, of: Self.one).map(\.id) == ["id-1", "id-3", "id-4"])
        #expect(try rows.counts() == OutboxCounts(waiting: 3, bytes: 7, sent: 40, refused: 1))
        // An outbox in which nothing has ever waited.
        let empty = try Database.inMemory()
        try empty.migrate([SchemaModule("events", Array(OutboxRows.schema.migrations.prefix(1)))])
        try empty.migrate([OutboxRows.schema])
        #expect(try OutboxRows(empty).counts() == OutboxCounts())
    }

    @Test("No migration uses ALTER TABLE, which the shipped SQLite does not have")
    func alterations() {
        for migration in OutboxRows.schema.migrations { #expect(!migration.script.contains("ALTER")) }
    }

    @Test("an event of more than 20 KiB is dropped and counted")
    func oversized() throws {
        try rows.add(event(1), String(repeating: "x", count: 20_480), limit: 1_000_000)
        try rows.add(event(2), String(repeating: "x", count: 20_481), limit: 1_000_000)
        #expect(try rows.counts() == OutboxCounts(waiting: 1, bytes: 20_480, oversized: 1))
    }

    @Test("the oldest events of 100,000 are found without reading the others")
    func many() throws {
        try database.transaction { () throws(DatabaseError) in
            for id in 1...2_000 { try rows.add(event(id, id % 2 == 0 ? .playLog : .statistics), "x", limit: 1_000_000) }
        }
        // The number of rows decides the plan: every lookup must name the index and nothing may be sorted but the
        // batch.
        for query in OutboxRows.lookups {
            var statement = try database.prepare("EXPLAIN QUERY PLAN " + query)
            var plan: [String] = []
            while try statement.step() { plan.append(statement.text(3) ?? "") }
            #expect(!plan.contains { $0.hasPrefix("SCAN event_outbox") }, "\(plan)")
        }
    }

    @Test("sessions keep their facts in order, and the position that was reached once")
    func facts() throws {
        let session = ToldSession().playing()
        try rows.begin(session.start)
        try rows.begin(session.start)
        for fact in session.facts { try rows.append(fact, to: "session") }
        for position in [5.0, 9.0] {
            try rows.append(SessionFact(.at(position), .reached(position: position)), to: "session")
        }
        try rows.append(SessionFact(.at(20), .stopped(position: 17, .pause)), to: "session")
        try rows.append(SessionFact(.at(20), .requested), to: "another")
        let open = try rows.openSessions()
        #expect(open.map(\.start) == [session.start])
        #expect(
            open.first?.facts == session.facts + [
                SessionFact(.at(20), .stopped(position: 17, .pause)), SessionFact(.at(9), .reached(position: 9)),
            ])
        try rows.append(SessionFact(.at(30), .ended(position: 17, .other)), to: "session")
        #expect(try rows.openSessions().isEmpty)
    }
}
